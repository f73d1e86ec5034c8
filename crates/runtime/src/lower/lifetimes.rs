//! When chunks are read for the last time: one pass over the schedule from its end.

use std::collections::HashSet;

use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::RankId;

/// Chunk moves are numbered in the order of steps, transfers and chunks.
pub(super) struct Lifetimes {
    /// The value that the move sends is not read at the sender after the step.
    pub(super) last_read: Vec<bool>,
    /// The value that the move brings is read at the receiver: sent on, or added to.
    pub(super) read_later: Vec<bool>,
    /// Chunks that a rank needs and receives.
    pub(super) arrives: HashSet<(RankId, ChunkId)>,
}

impl Lifetimes {
    /// O(chunk moves).
    pub(super) fn new(problem: &Problem, schedule: &Schedule) -> Self {
        let count = schedule.move_count();
        let mut lifetimes =
            Self { last_read: vec![false; count], read_later: vec![false; count], arrives: HashSet::new() };
        // Values that a rank holds at this point and will read.
        let mut live: HashSet<(RankId, ChunkId)> = HashSet::new();
        let mut end = count;
        let steps: Vec<_> = schedule.steps().collect();
        for step in steps.iter().rev() {
            let start = end - step.transfers.iter().map(|transfer| schedule.chunks(transfer).len()).sum::<usize>();
            let mut number = end;
            for transfer in step.transfers.iter().rev() {
                for &chunk in schedule.chunks(transfer).iter().rev() {
                    number -= 1;
                    let key = (transfer.to, chunk);
                    lifetimes.read_later[number] = live.contains(&key);
                    match transfer.op {
                        Op::Copy => live.remove(&key),
                        Op::Reduce => live.insert(key),
                    };
                    if problem.is_holder(problem.rule(chunk).after, transfer.to) {
                        lifetimes.arrives.insert(key);
                    }
                }
            }
            number = end;
            for transfer in step.transfers.iter().rev() {
                for &chunk in schedule.chunks(transfer).iter().rev() {
                    number -= 1;
                    lifetimes.last_read[number] = live.insert((transfer.from, chunk));
                }
            }
            end = start;
        }
        lifetimes
    }
}
