//! The answer: steps of given widths, each a list of transfers over links.
//!
//! A [`Schedule`] is plain data in three flat arrays (steps, transfers, chunks) and may be wrong in any respect: only
//! the verifier decides whether it solves a problem. A [`CompactSchedule`] states a pattern instead of every move;
//! an [`AnySchedule`] is one or the other, as files have it. A [`Solution`] is what a file holds: a problem, a schedule
//! for it, claimed bounds and provenance; a [`Job`], several solutions that run together.

mod any;
mod builder;
mod compact;
mod job;
mod mirror;
mod slot;
mod solution;
mod statistics;
mod translation;

use crate::exact::narrow;
use std::ops::Range;

use crate::collective::ChunkId;
use crate::topology::{Direction, RankId};

pub use any::{AnySchedule, Stated, View};
pub use builder::ScheduleBuilder;
pub use compact::{CompactError, CompactSchedule, Exceptions, Repeated};
pub use job::{Job, JobError};
pub use slot::{Choice, Slot};
pub use solution::{AnySolution, Origin, Solution};
pub use statistics::{Statistics, StepLoads, StepTotals, Timetable};
pub use translation::Translation;

/// What happens to a chunk when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// It replaces the receiver's value.
    Copy,
    /// It is combined with the receiver's value.
    Reduce,
}

/// Chunks sent over one link in one step, all with the same operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The sender.
    pub from: RankId,
    /// The receiver.
    pub to: RankId,
    /// The direction, where stated; needed only where two links join the same ranks.
    pub via: Option<Direction>,
    /// What happens on arrival.
    pub op: Op,
    chunks: Range<usize>,
}

impl Transfer {
    /// A transfer without chunks, of no schedule.
    pub fn over(from: RankId, to: RankId, via: Option<Direction>, op: Op) -> Self {
        Self { from, to, via, op, chunks: 0..0 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct StepRecord {
    width: u32,
    transfers: Range<usize>,
}

/// Steps of transfers, in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Schedule {
    steps: Vec<StepRecord>,
    transfers: Vec<Transfer>,
    chunks: Vec<ChunkId>,
}

/// One step of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Its number, from 1.
    pub number: u32,
    /// Chunks a link of capacity 1 may carry in it.
    pub width: u32,
    /// Its transfers.
    pub transfers: &'a [Transfer],
    /// The index of the first of them among the transfers of the schedule.
    pub first_transfer: usize,
}

impl Schedule {
    /// The number of steps S.
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// The steps in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = Step<'_>> + DoubleEndedIterator {
        (1..self.steps.len() + 1).map(|number| self.step(narrow(number)))
    }

    /// A step by its number.
    fn step(&self, number: u32) -> Step<'_> {
        let StepRecord { width, transfers } = &self.steps[number as usize - 1];
        let first_transfer = transfers.start;
        Step { number, width: *width, transfers: &self.transfers[transfers.clone()], first_transfer }
    }

    /// The transfers of all steps, in order.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// The chunks a transfer carries.
    ///
    /// # Panics
    ///
    /// If the transfer is of another schedule.
    pub fn chunks(&self, transfer: &Transfer) -> &[ChunkId] {
        &self.chunks[transfer.chunks.clone()]
    }

    /// The width of each step.
    pub fn widths(&self) -> impl ExactSizeIterator<Item = u32> {
        self.steps.iter().map(|step| step.width)
    }

    /// The number of chunk moves: the chunks of all transfers.
    pub fn move_count(&self) -> usize {
        self.chunks.len()
    }

    /// The sum of the widths; divided by the parts per message, the volume V.
    pub fn total_width(&self) -> u64 {
        self.steps.iter().map(|step| u64::from(step.width)).sum()
    }
}

#[cfg(test)]
mod tests;
