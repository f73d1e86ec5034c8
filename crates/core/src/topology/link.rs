//! A directed link.

use super::{Direction, RankId};

/// One directed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The rank that sends on it.
    pub from: RankId,
    /// The rank that receives from it.
    pub to: RankId,
    /// How many chunks it carries in a step of width 1; at least 1.
    pub capacity: u32,
    /// Its direction on a torus; `None` on an explicit graph.
    pub direction: Option<Direction>,
    /// False if the link itself, or the rank at either end, failed.
    pub alive: bool,
}
