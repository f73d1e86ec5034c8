//! Rank programs: what each rank does when no clock counts steps.
//!
//! A rank has *workers* (a thread block, a stream, a queue), each of which carries out its operations one after the
//! other. Operations read and write *slots*, places for one chunk each, in the rank's input, output and scratch. Ranks
//! are joined by *channels*: packets of some slots arrive in the order in which they were sent, and at most so many
//! are on their way at a time. A worker waits for another of its rank where it is told to.
//!
//! As a schedule is, a program is plain data in flat arrays and may be wrong in any way; `audit` says whether it does
//! what its collective asks, however the workers' operations fall in time.

mod builder;

use std::ops::Range;

use crate::problem::Problem;
use crate::schedule::Origin;
use crate::topology::{Direction, RankId};

pub use crate::layout::{Alias, Block, Buffer, Layout, Slot};
pub use builder::ProgramBuilder;

/// A one-way connection between two ranks, first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The sender.
    pub from: RankId,
    /// The receiver.
    pub to: RankId,
    /// The direction of its link, where two links join the ranks.
    pub via: Option<Direction>,
    /// The most packets on their way at a time.
    pub slots: u32,
}

/// What a worker does. `count` slots follow one another from the slot that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A packet of what stands at `src`. Waits until the channel has room. Of no slots, it carries only order.
    Send {
        /// The channel it goes to.
        channel: u32,
        /// What is sent.
        src: Slot,
        /// How many slots.
        count: u32,
    },
    /// Takes the next packet of a channel; waits for it.
    Receive {
        /// The channel it comes from.
        channel: u32,
        /// What is added to it, if anything.
        add: Option<Slot>,
        /// Where the result goes, if it is to stay.
        dst: Option<Slot>,
        /// The channel on which the result is sent on. Packet and room are waited for before anything happens.
        forward: Option<u32>,
        /// How many slots.
        count: u32,
    },
    /// `dst` becomes what `src` is.
    Copy {
        /// What is copied.
        src: Slot,
        /// Where to.
        dst: Slot,
        /// How many slots.
        count: u32,
    },
    /// `src` is added to `dst`.
    Reduce {
        /// What is added.
        src: Slot,
        /// What it is added to.
        dst: Slot,
        /// How many slots.
        count: u32,
    },
    /// Waits until another worker of the rank has finished one of its operations.
    Wait {
        /// The worker, from 0 in its rank.
        worker: u32,
        /// Its operation, from 0.
        operation: u32,
    },
}

/// What keeps the steps of the schedule apart that a program was lowered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Barriers {
    /// Nothing but the dependencies of the data.
    #[default]
    None,
    /// A rank begins a step when it and every rank it is joined to have finished the one before.
    Neighbour,
    /// A rank begins a step when every rank has finished the one before.
    Global,
}

/// The operations of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The collective, and the machine. Without [`Program::has_links`], a machine without links stands in.
    pub problem: Problem,
    /// The machine's links are known: channels lie on them.
    pub has_links: bool,
    /// Input and output share their room, see [`Layout`].
    pub in_place: bool,
    /// What kept the steps apart, as whoever made the program says; nobody depends on it.
    pub barriers: Barriers,
    /// It is claimed that no two transfers are on one link at the same time; the audit holds it to that.
    pub contention_free: bool,
    /// For each channel, how many of its packets with slots are one transfer, in order; empty: each is one alone.
    pub transfers: Vec<Vec<u32>>,
    /// The slots of scratch each rank has.
    pub scratch: Vec<u32>,
    /// The channels, by number.
    pub channels: Vec<Channel>,
    /// Who says so.
    pub origin: Option<Origin>,
    /// For each rank, where its workers begin; at the end, how many there are.
    first_worker: Vec<u32>,
    /// For each worker, where its operations begin; at the end, how many there are.
    first_operation: Vec<u32>,
    operations: Vec<Operation>,
}

impl Program {
    /// The number of ranks, failed ones included.
    pub fn rank_count(&self) -> usize {
        self.first_worker.len() - 1
    }

    /// The workers of a rank among all workers.
    ///
    /// # Panics
    ///
    /// If the rank is out of range, as all of these.
    pub fn workers(&self, rank: RankId) -> Range<usize> {
        self.first_worker[rank.index()] as usize..self.first_worker[rank.index() + 1] as usize
    }

    /// The number of workers of all ranks.
    pub fn worker_count(&self) -> usize {
        self.first_operation.len() - 1
    }

    /// Where the operations of a worker stand among all operations.
    pub fn range(&self, worker: usize) -> Range<usize> {
        self.first_operation[worker] as usize..self.first_operation[worker + 1] as usize
    }

    /// The operations of all workers of all ranks.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// For each channel, the operations that send packets with slots on it, in order. O(operations).
    pub fn sends(&self) -> Vec<Vec<usize>> {
        let mut sends = vec![Vec::new(); self.channels.len()];
        for (number, operation) in self.operations.iter().enumerate() {
            if let Operation::Send { channel, count: 1.., .. }
            | Operation::Receive { forward: Some(channel), count: 1.., .. } = *operation
                && let Some(sends) = sends.get_mut(channel as usize)
            {
                sends.push(number);
            }
        }
        sends
    }

    /// Where the transfers of a channel end among so many packets with slots: how many there are up to the end of each.
    pub fn transfer_ends(&self, channel: usize, packets: usize) -> Vec<usize> {
        let stated = self.transfers.get(channel).map_or(&[][..], Vec::as_slice);
        if stated.is_empty() {
            return (1..=packets).collect();
        }
        let add = |end: &mut usize, &count: &u32| {
            *end = end.saturating_add(count as usize);
            Some(*end)
        };
        stated.iter().filter(|&&count| count > 0).scan(0, add).collect()
    }

    /// The rank a worker belongs to. O(log ranks).
    pub fn rank_of(&self, worker: usize) -> RankId {
        RankId(self.first_worker.partition_point(|&first| first as usize <= worker) as u32 - 1)
    }

    /// The worker an operation belongs to. O(log workers).
    pub fn worker_of(&self, operation: usize) -> usize {
        self.first_operation.partition_point(|&first| first as usize <= operation) - 1
    }

    /// The layout of a rank's buffers.
    pub fn layout(&self, rank: RankId) -> Layout<'_> {
        Layout::of_program(&self.problem, self.in_place, rank, self.scratch[rank.index()])
    }

    /// The most slots of scratch that a rank has.
    pub fn peak_scratch(&self) -> u32 {
        self.scratch.iter().copied().max().unwrap_or(0)
    }
}

impl Barriers {
    /// All of them, the weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Neighbour, Self::Global];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Neighbour => "neighbour",
            Self::Global => "global",
        }
    }
}

impl Operation {
    /// The slots it reads: where they begin, and how many each.
    pub fn reads(&self) -> impl Iterator<Item = (Slot, u32)> {
        let (one, other, count) = match *self {
            Self::Send { src, count, .. } | Self::Copy { src, count, .. } => (Some(src), None, count),
            Self::Receive { add, count, .. } => (add, None, count),
            Self::Reduce { src, dst, count } => (Some(src), Some(dst), count),
            Self::Wait { .. } => (None, None, 0),
        };
        one.into_iter().chain(other).map(move |slot| (slot, count))
    }

    /// The slots it writes: where they begin, and how many.
    pub fn writes(&self) -> Option<(Slot, u32)> {
        match *self {
            Self::Receive { dst, count, .. } => dst.map(|dst| (dst, count)),
            Self::Copy { dst, count, .. } | Self::Reduce { dst, count, .. } => Some((dst, count)),
            Self::Send { .. } | Self::Wait { .. } => None,
        }
    }
}
