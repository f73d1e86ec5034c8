//! What comes of running a schedule.

use std::collections::BTreeSet;

use crate::naive::evidence::certificate::Claim;
use crate::naive::opinion::Opinion;

/// What a rank holds of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Whose contributions it has.
    pub of: BTreeSet<usize>,
    /// The order in which they were added, as text in which the two sides of an addition are sorted.
    pub order: String,
    /// It follows from a violation.
    pub spoiled: bool,
}

/// What each rank holds of each chunk.
pub type State = Vec<Vec<Option<Held>>>;

/// A schedule that was judged.
pub struct Judged {
    /// The verdict; the figures and claims of what holds are not in it.
    pub opinion: Opinion,
    /// What is held at the beginning and after each step.
    pub states: Vec<State>,
    /// The bounds.
    pub bounds: Vec<Claim>,
}
