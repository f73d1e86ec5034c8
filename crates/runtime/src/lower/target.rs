//! The options and errors of lowering.

use thiserror::Error;

use collsynth_core::program::Barriers;
use collsynth_core::topology::RankId;
use collsynth_verify::limits::{EXPANDED, MEMORY_WORD};

/// The options of lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// What keeps steps apart.
    pub barriers: Barriers,
    /// Input and output share memory.
    pub in_place: bool,
    /// The slots of every channel; `None`: as many as its busiest step has packets.
    pub slots: Option<u32>,
    /// The most bytes that lowering may take, as estimated: a few words can ask for the slots of a hundred million
    /// chunks. For files: [`Limits::made`](collsynth_verify::limits::Limits::made).
    pub memory: u64,
}

impl Default for Target {
    fn default() -> Self {
        Self { barriers: Barriers::default(), in_place: false, slots: None, memory: EXPANDED }
    }
}

/// Why a schedule cannot be lowered to a target.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum LowerError {
    #[error("{kind} cannot be lowered in place: arrivals would overwrite data still to be sent")]
    NotInPlace { kind: &'static str },
    #[error(
        "lowered, this schedule takes about {needed} MiB, more than the {most} MiB allowed: {MEMORY_WORD} allows more"
    )]
    TooLarge { needed: u64, most: u64 },
    #[error("a neighbor barrier needs links in both directions, but rank {to} has no link back to rank {from}")]
    OneWay { from: RankId, to: RankId },
    #[error("a global barrier needs every rank to reach every other, but in the live network some cannot")]
    NotConnected,
}
