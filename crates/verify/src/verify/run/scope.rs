//! Which chunks are executed: a range of them, all of a schedule in a job, or, of a schedule in the compact form, those
//! that do not simply follow the pattern.

use std::ops::Range;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Schedule, Step};

/// The chunks that are executed, and what stands for the others.
pub(in crate::verify) enum Scope<'a> {
    /// These; the schedule has all its transfers.
    Range(Range<u32>),
    /// All; others share the steps of the schedule.
    OfJob(Range<u32>),
    /// These, ascending; the schedule moves no other.
    Chunks(&'a [ChunkId]),
    /// Those listed; the schedule is a part of the one that is judged.
    Part(&'a Part),
}

/// What the part of a schedule that is executed leaves out.
#[derive(Default)]
pub(in crate::verify) struct Part {
    /// The chunks that are executed, ascending.
    pub chunks: Vec<ChunkId>,
    /// Of each transfer of the part: its place in its step, and how many chunks it carries, those left out included.
    pub transfers: Vec<(usize, u64)>,
    /// Of each step: has it any transfer?
    pub is_used: Vec<bool>,
}

impl Scope<'_> {
    pub fn contains(&self, chunk: ChunkId) -> bool {
        match self {
            Self::Range(chunks) | Self::OfJob(chunks) => chunks.contains(&chunk.0),
            Self::Chunks(_) | Self::Part(_) => true,
        }
    }

    pub fn chunks(&self) -> Box<dyn Iterator<Item = ChunkId> + '_> {
        match self {
            Self::Range(chunks) | Self::OfJob(chunks) => Box::new(chunks.clone().map(ChunkId)),
            Self::Chunks(chunks) => Box::new(chunks.iter().copied()),
            Self::Part(part) => Box::new(part.chunks.iter().copied()),
        }
    }

    /// Does the run show what every chunk does?
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Range(_) | Self::OfJob(_))
    }

    pub fn moves_nothing(&self, schedule: &Schedule) -> bool {
        match self {
            Self::Range(_) | Self::OfJob(_) | Self::Chunks(_) => schedule.move_count() == 0,
            Self::Part(part) => !part.is_used.contains(&true),
        }
    }

    pub fn is_idle(&self, step: &Step<'_>) -> bool {
        match self {
            Self::Range(_) | Self::Chunks(_) => step.transfers.is_empty(),
            Self::OfJob(_) => false,
            Self::Part(part) => !part.is_used[step.number as usize - 1],
        }
    }

    /// The place of a transfer in the step that is judged.
    pub fn number(&self, step: &Step<'_>, index: usize) -> usize {
        match self {
            Self::Range(_) | Self::OfJob(_) | Self::Chunks(_) => index,
            Self::Part(part) => part.transfers[step.first_transfer + index].0,
        }
    }

    /// How many chunks a transfer carries.
    pub fn carried(&self, schedule: &Schedule, step: &Step<'_>, index: usize) -> u64 {
        match self {
            Self::Range(_) | Self::OfJob(_) | Self::Chunks(_) => schedule.chunks(&step.transfers[index]).len() as u64,
            Self::Part(part) => part.transfers[step.first_transfer + index].1,
        }
    }
}
