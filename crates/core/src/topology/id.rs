//! The numbers of ranks and links.

use std::fmt;

/// The largest number of ranks a topology may have.
pub const MAX_RANKS: u64 = 1 << 20;

/// The number of a rank, `0..N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankId(pub u32);

impl RankId {
    /// The rank as an index into an array with one entry per rank.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for RankId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a directed link, `0..links().len()`, ascending in (from, to, direction).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// The link as an index into an array with one entry per link.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
