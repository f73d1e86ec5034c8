//! A timetable: the step in which each hop goes.

use super::hops::Hops;

/// Units of time before the end in which a link counts as among the last.
const NEARLY_LAST: u32 = 1;

/// The step of each hop up and down.
pub(super) type Times = [Vec<u32>; 2];

/// Steps of hops, and the widths of the steps.
pub(super) struct Timetable {
    pub times: Times,
    pub widths: Vec<u32>,
}

impl Timetable {
    pub fn width(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// Total width and steps.
    pub fn figures(&self) -> (u32, usize) {
        (self.width(), self.widths.len())
    }

    /// For each link, by its id, the time that it is idle between hops, if that is why it finishes last.
    pub fn idle(&self, hops: &Hops, capacity: &[u32]) -> Vec<u32> {
        let mut before = vec![0];
        self.widths.iter().for_each(|width| before.push(before[before.len() - 1] + width));
        let all = self.width();
        let mut spans = vec![(all, 0_u32); capacity.len()];
        let mut load = vec![0_u32; capacity.len()];
        for (hop, way) in hops.iter() {
            let (link, step) = (hops.link[way][hop] as usize, self.times[way][hop] as usize);
            let (first, last) = spans[link];
            spans[link] = (first.min(before[step]), last.max(before[step + 1]));
            load[link] += 1;
        }
        let idle = |((&(first, last), load), &capacity): ((&(u32, u32), &u32), &u32)| {
            let span = last.min(all - first);
            let needed = load.div_ceil(capacity.max(1));
            if span + NEARLY_LAST >= all { span.saturating_sub(needed) } else { 0 }
        };
        spans.iter().zip(&load).zip(capacity).map(idle).collect()
    }

    pub fn reversed(mut self) -> Self {
        let last = self.widths.len() as u32 - 1;
        self.times.iter_mut().flatten().for_each(|time| *time = last.saturating_sub(*time));
        self.widths.reverse();
        self
    }
}
