//! The use of broken rings.

/// The use of a ring with one dead cable on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    /// FoldedRing: in one direction, and for the dead cable back over all the others.
    Folded,
    /// OpenRing: as the line it is, every message along its only path.
    Open,
}

/// The use of broken rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    pub remains: Remains,
    /// Whether they work in the normal phases.
    pub normal: bool,
    pub acceleration: Acceleration,
}

/// The acceleration phases that follow each normal phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceleration {
    None,
    /// One, for all broken rings.
    Shared,
    /// One for each broken ring; rings of one dimension whose routings share no link have one together.
    Each,
}
