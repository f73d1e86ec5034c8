//! Rank programs: what each rank does when no clock counts steps.
//!
//! A rank has *workers* (thread blocks, streams, queues), each of which executes its operations in sequence. Operations
//! read and write *slots*, places for one chunk each, in the rank's input, output and scratch. *Channels* join ranks:
//! their packets carry slots, arrive in the order sent, and are limited in number while in flight. Explicit waits order
//! the workers of a rank.
//!
//! Like a schedule, a program is plain data in flat arrays and may be wrong in any respect; `audit` decides whether it
//! does what its collective asks in every interleaving.

mod builder;

use crate::exact::narrow;
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
    /// The most packets in flight at a time.
    pub slots: u32,
}

/// What a worker does. Each slot named is the first of `count` consecutive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sends a packet; waits until the channel has room. A packet without slots carries only order.
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
        /// Where the result is kept, if at all.
        dst: Option<Slot>,
        /// The channel to which the result is forwarded. Nothing happens before both packet and room are there.
        forward: Option<u32>,
        /// How many slots.
        count: u32,
    },
    /// Copies `src` to `dst`.
    Copy {
        /// The source.
        src: Slot,
        /// The destination.
        dst: Slot,
        /// How many slots.
        count: u32,
    },
    /// Adds `src` to `dst`.
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

/// What keeps apart the steps of the schedule that a program was lowered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Barriers {
    /// Data dependencies only.
    #[default]
    None,
    /// A rank begins a step when it and every rank it is joined to have finished the previous one.
    Neighbor,
    /// A rank begins a step when every rank has finished the previous one.
    Global,
}

/// The operations of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The collective and the machine; without [`Program::has_links`], a machine without links stands in.
    pub problem: Problem,
    /// The machine's links are known: channels must lie on them.
    pub has_links: bool,
    /// Input and output share memory; see [`Layout`].
    pub in_place: bool,
    /// The barriers the program was made with; a label on which nothing depends.
    pub barriers: Barriers,
    /// Claims that no two transfers are on a link at the same time; the audit checks it.
    pub contention_free: bool,
    /// Per channel, the number of packets with slots in each of its transfers, in order. Empty: one each.
    pub transfers: Vec<Vec<u32>>,
    /// Slots of scratch per rank.
    pub scratch: Vec<u32>,
    /// The channels, by number.
    pub channels: Vec<Channel>,
    /// Provenance.
    pub origin: Option<Origin>,
    /// Where each rank's workers begin, then their number.
    first_worker: Vec<u32>,
    /// Where each worker's operations begin, then their number.
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
    /// If the rank is out of range; likewise the methods below.
    pub fn workers(&self, rank: RankId) -> Range<usize> {
        self.first_worker[rank.index()] as usize..self.first_worker[rank.index() + 1] as usize
    }

    /// The number of workers of all ranks.
    pub fn worker_count(&self) -> usize {
        self.first_operation.len() - 1
    }

    /// The operations of a worker among all operations.
    pub fn range(&self, worker: usize) -> Range<usize> {
        self.first_operation[worker] as usize..self.first_operation[worker + 1] as usize
    }

    /// The operations of all workers of all ranks.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Per channel, the operations that send packets with slots on it, in order. O(operations).
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

    /// The number of packets up to the end of each transfer of a channel that has `packets` packets with slots.
    pub fn transfer_ends(&self, channel: usize, packets: usize) -> Vec<usize> {
        let add = |end: &mut usize, &count: &u32| {
            *end = end.saturating_add(count as usize);
            Some(*end)
        };
        match self.transfers.get(channel) {
            Some(stated) if !stated.is_empty() => stated.iter().filter(|&&count| count > 0).scan(0, add).collect(),
            _ => (1..=packets).collect(),
        }
    }

    /// The rank a worker belongs to. O(log ranks).
    pub fn rank_of(&self, worker: usize) -> RankId {
        RankId(narrow(self.first_worker.partition_point(|&first| first as usize <= worker)) - 1)
    }

    /// The worker an operation belongs to. O(log workers).
    pub fn worker_of(&self, operation: usize) -> usize {
        self.first_operation.partition_point(|&first| first as usize <= operation) - 1
    }

    /// The layout of a rank's buffers.
    pub fn layout(&self, rank: RankId) -> Layout<'_> {
        Layout::of_program(&self.problem, self.in_place, rank, self.scratch[rank.index()])
    }

    /// The most slots of scratch of any rank.
    pub fn peak_scratch(&self) -> u32 {
        self.scratch.iter().copied().max().unwrap_or(0)
    }
}

impl Barriers {
    /// All barriers, the weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Neighbor, Self::Global];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Neighbor => "neighbour",
            Self::Global => "global",
        }
    }
}

impl Operation {
    /// The ranges of slots it reads: the first slot and the count of each.
    pub fn reads(&self) -> impl Iterator<Item = (Slot, u32)> {
        let (one, other, count) = match *self {
            Self::Send { src, count, .. } | Self::Copy { src, count, .. } => (Some(src), None, count),
            Self::Receive { add, count, .. } => (add, None, count),
            Self::Reduce { src, dst, count } => (Some(src), Some(dst), count),
            Self::Wait { .. } => (None, None, 0),
        };
        one.into_iter().chain(other).map(move |slot| (slot, count))
    }

    /// The range of slots it writes: the first slot and the count.
    pub fn writes(&self) -> Option<(Slot, u32)> {
        match *self {
            Self::Receive { dst, count, .. } => dst.map(|dst| (dst, count)),
            Self::Copy { dst, count, .. } | Self::Reduce { dst, count, .. } => Some((dst, count)),
            Self::Send { .. } | Self::Wait { .. } => None,
        }
    }
}
