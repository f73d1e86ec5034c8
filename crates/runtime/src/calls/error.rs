//! Errors of running a schedule.

use thiserror::Error;

use crate::transports::transport::TransportError;
use collsynth_core::topology::RankId;
use collsynth_verify::limits::MEMORY_WORD;

/// Why a collective was not carried out on this rank.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum RunError {
    #[error("the schedule or program is for {expected} ranks, the transport has {found}")]
    Size { expected: usize, found: usize },
    #[error("rank {rank} has failed or does not exist: it takes no part in the collective")]
    NotLive { rank: RankId },
    #[error("rank {peer} has another schedule or program: start every rank with the same file")]
    OtherSchedule { peer: RankId },
    #[error("rank {peer} does not make the same call: its {what} differs")]
    OtherCall { peer: RankId, what: &'static str },
    #[error("before the first step: {source}")]
    Start { source: TransportError },
    #[error("the schedule is for {scheduled}, not for {called}")]
    OtherKind { scheduled: &'static str, called: &'static str },
    #[error("the {buffer} has {found} elements; {rule}")]
    Length { buffer: &'static str, found: usize, rule: String },
    #[error(
        "even with one group of elements each, {chunks} compressed chunks take {needed} bytes; the limit is {limit}"
    )]
    Memory { chunks: usize, needed: u64, limit: u64 },
    #[error("to run it takes about {needed} MiB, more than the {most} MiB allowed: {MEMORY_WORD} allows more")]
    TooLarge { needed: u64, most: u64 },
    #[error("{ranks} ranks take as many threads; a process has at most {most}: run them as a group")]
    TooManyThreads { ranks: usize, most: usize },
    #[error("{ranks} ranks take as many threads, and one cannot be started ({source}): run them as a group")]
    Threads { ranks: usize, source: std::io::Error },
    #[error("step {step}: {source}; the output is undefined")]
    Step { step: u32, source: TransportError },
    #[error("an earlier call failed and ended the connections: make a new communicator")]
    Ended,
    #[error("rank {rank}: {source}")]
    OfRank { rank: RankId, source: Box<RunError> },
    #[error("all_reduce_gathered is not run in groups of ranks: run an all_reduce, or one for all ranks together")]
    GatheredInGroups,
    #[error("rank {rank} is in no group: it has no buffers, and calls `relay`")]
    Relay { rank: RankId },
    #[error("rank {rank} takes part in the collective: it does not call `relay`")]
    Member { rank: RankId },
    #[error("a group has no calls for {kind}: give each rank a communicator")]
    NoGroup { kind: &'static str },
    #[error("rank {rank} did not arrive at the barrier, though the schedule delivered its arrival")]
    NotArrived { rank: RankId },
}

impl RunError {
    /// Whether the output may have been written to; otherwise it is unchanged.
    pub fn output_is_undefined(&self) -> bool {
        match self {
            Self::Step { .. } => true,
            Self::OfRank { source, .. } => source.output_is_undefined(),
            _ => false,
        }
    }

    /// Whether it only reports that another rank closed a connection, so that the cause lies there.
    pub fn is_consequence(&self) -> bool {
        match self {
            Self::Step { source, .. } | Self::Start { source } => {
                matches!(source, TransportError::Closed { .. } | TransportError::Broken { .. })
            }
            _ => false,
        }
    }
}
