//! What a program is to be like, and why there may be none.

use thiserror::Error;

use collsynth_core::program::Barriers;
use collsynth_core::topology::RankId;

/// What a program is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Target {
    /// What keeps steps apart.
    pub barriers: Barriers,
    /// Input and output share their room.
    pub in_place: bool,
    /// The slots of every channel; left out: as many as its busiest step has packets.
    pub slots: Option<u32>,
}

/// Why there is no such program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum LowerError {
    #[error("{kind} is not lowered in place: arrivals would overwrite what is still to be sent")]
    NotInPlace { kind: &'static str },
    #[error("a neighbour barrier needs links in both directions, but rank {to} has no link back to rank {from}")]
    OneWay { from: RankId, to: RankId },
    #[error("a global barrier needs every rank to reach every other, but the live network is not connected so")]
    NotConnected,
}
