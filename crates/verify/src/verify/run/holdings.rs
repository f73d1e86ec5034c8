//! How many chunks each rank holds at a time.
//!
//! A rank holds a value from the step of its arrival to the last step in which it is used there (sent or added to), or
//! to the end, if the rank must end with it. It holds what it begins with from the start, unless that is useless. In a
//! step, everything held counts: earlier values and every arrival, separately even if it is added to something.
//!
//! ```text
//!   step        1     2     3     4
//!   own input   [-----------]             sent in step 3, for the last time
//!   passed on         [-----------]       arrives in step 2, is sent in step 4
//!   for itself              [-------->    arrives in step 3, stays
//!   held        1     2     3     2
//! ```
//!
//! A rank's count changes only in steps it takes part in, so only these have entries: memory is O(ranks + transfers),
//! for any number of steps.

use super::routes::{Passage, Route};
use crate::verify::facts::report::Peak;
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// The entries `since..until` in which a rank holds a value.
#[derive(Clone, Copy, Debug)]
pub(in crate::verify) struct Stay {
    since: u32,
    until: u32,
}

impl Stay {
    pub(in crate::verify) const NONE: Self = Self { since: 0, until: 0 };
}

/// The counts of all ranks.
pub(in crate::verify) struct Holdings {
    /// Where each rank's entries begin, then their number. A rank's first entry is for the start.
    first: Vec<u32>,
    /// The step of each entry, 0 for the start.
    steps: Vec<u32>,
    /// How many more values are held than in the entry before.
    change: Vec<i64>,
    /// The entries of sender and receiver per transfer that gets through.
    ends: Vec<[u32; 2]>,
}

impl Holdings {
    /// No rank holds anything. O(ranks + transfers).
    pub(in crate::verify) fn new(ranks: usize, routes: &[Route]) -> Self {
        let open = || routes.iter().enumerate().filter(|(_, route)| route.passage == Passage::Open);
        let mut last_step = vec![0; ranks];
        let mut first = vec![1; ranks + 1];
        for (_, route) in open() {
            for rank in [route.from, route.to].map(RankId::index) {
                first[rank] += u32::from(last_step[rank] != route.step);
                last_step[rank] = route.step;
            }
        }
        first[ranks] = 0;
        let mut total = 0;
        for entry in &mut first {
            total += std::mem::replace(entry, total);
        }
        let mut steps = vec![0; total as usize];
        let mut ends = vec![[0; 2]; routes.len()];
        let mut latest: Vec<u32> = first[..ranks].to_vec();
        for (index, route) in open() {
            ends[index] = [route.from, route.to].map(|rank| {
                let entry = &mut latest[rank.index()];
                *entry += u32::from(steps[*entry as usize] != route.step);
                steps[*entry as usize] = route.step;
                *entry
            });
        }
        Self { first, steps, change: vec![0; total as usize + 1], ends }
    }

    /// A rank begins with a value.
    pub(in crate::verify) fn begin(&self, rank: RankId) -> Stay {
        let start = self.first[rank.index()];
        Stay { since: start, until: start }
    }

    /// The sender of a transfer sends a value.
    pub(in crate::verify) fn send(&self, stay: &mut Stay, transfer: usize) {
        stay.until = self.ends[transfer][0] + 1;
    }

    /// A value arrives: it is combined with the one there, or replaces it.
    pub(in crate::verify) fn arrive(&mut self, stay: &mut Stay, transfer: usize, combined: bool) {
        let [_, now] = self.ends[transfer];
        let arrival = Stay { since: now, until: now + 1 };
        if combined {
            self.count(arrival);
            stay.until = arrival.until;
        } else {
            self.count(std::mem::replace(stay, arrival));
        }
    }

    /// After the last step.
    pub(in crate::verify) fn end(&mut self, mut stay: Stay, rank: RankId, needed: bool) {
        if needed {
            stay.until = self.first[rank.index() + 1];
        }
        self.count(stay);
    }

    fn count(&mut self, stay: Stay) {
        if stay.since < stay.until {
            self.change[stay.since as usize] += 1;
            self.change[stay.until as usize] -= 1;
        }
    }

    /// The most that any live rank holds at a time. O(ranks + transfers).
    pub(in crate::verify) fn peak(&self, problem: &Problem) -> Option<Peak> {
        let mut best: Option<Peak> = None;
        let mut held = 0;
        for rank in (0..narrow(problem.topology().rank_count())).map(RankId) {
            for entry in self.first[rank.index()] as usize..self.first[rank.index() + 1] as usize {
                held += self.change[entry];
                let chunks = held.unsigned_abs();
                let more = best.is_none_or(|best| chunks > best.chunks);
                if more && problem.topology().is_alive(rank) {
                    best = Some(Peak { chunks, rank, step: Some(self.steps[entry]).filter(|&step| step > 0) });
                }
            }
        }
        best
    }
}
