//! What broken rings do.

/// How a ring with one dead cable is used on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    /// FoldedRing: one way round, and for the dead cable back over all the others.
    Folded,
    /// As the line it is: every message the one way there is.
    Open,
}

/// What broken rings do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    /// How they are used on their own.
    pub remains: Remains,
    /// Whether they work in the normal phases.
    pub normal: bool,
    /// The acceleration phases that follow each normal phase.
    pub acceleration: Acceleration,
}

/// The acceleration phases that follow each normal phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceleration {
    /// None: there are only normal phases.
    None,
    /// One, for all broken rings.
    Shared,
    /// One for each broken ring; rings of one dimension whose ways share no link have one together.
    Each,
}
