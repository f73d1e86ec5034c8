//! The options and errors of lowering.

use thiserror::Error;

use collsynth_core::program::Barriers;
use collsynth_core::topology::RankId;

/// The options of lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Target {
    /// What keeps steps apart.
    pub barriers: Barriers,
    /// Input and output share memory.
    pub in_place: bool,
    /// The slots of every channel; `None`: as many as its busiest step has packets.
    pub slots: Option<u32>,
}

/// Why a schedule cannot be lowered to a target.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum LowerError {
    #[error("{kind} cannot be lowered in place: arrivals would overwrite data still to be sent")]
    NotInPlace { kind: &'static str },
    #[error("a neighbor barrier needs links in both directions, but rank {to} has no link back to rank {from}")]
    OneWay { from: RankId, to: RankId },
    #[error("a global barrier needs every rank to reach every other, but in the live network some cannot")]
    NotConnected,
}
