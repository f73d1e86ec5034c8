//! A violation or warning as reported: data and a sentence.

use std::fmt;

use crate::verify::facts::code::Code;
use collsynth_core::collective::ChunkId;
use collsynth_core::topology::RankId;

/// One violation or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub code: Code,
    /// The step, from 1, if it happens in one.
    pub step: Option<u32>,
    /// The transfer, counted from 0 within its step.
    pub transfer: Option<usize>,
    /// The chunk's index within the transfer, from 0; `None` if the schedule is in the compact form.
    pub chunk_index: Option<usize>,
    /// The sender.
    pub from: Option<RankId>,
    /// The receiver; for what is missing at the end, the rank that misses it.
    pub to: Option<RankId>,
    /// The chunk.
    pub chunk: Option<ChunkId>,
    /// A complete sentence, with coordinates and the cause.
    pub message: String,
    /// The number of later moves that carry what this violation spoiled, plus the ranks that end with it, or without
    /// what they need because of it. They are not reported separately.
    pub consequences: u64,
    /// For D001 and D002: where the chunk is instead.
    pub trace: Option<Trace>,
}

/// The code and the sentence, and on a line of its own how far a missing chunk got.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.trace {
            Some(trace) => write!(f, "\n    {}", trace.text),
            None => Ok(()),
        }
    }
}

/// The path of a chunk that a rank lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The whole story in one sentence, without its period.
    pub text: String,
    /// The transfers that carried the chunk, from its origin on.
    pub path: Vec<Hop>,
}

/// A transfer that carried a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The step, from 1.
    pub step: u32,
    /// The transfer, counted from 0 within its step.
    pub transfer: usize,
    /// The sender.
    pub from: RankId,
    /// The receiver.
    pub to: RankId,
}
