//! What a schedule file holds.

use super::Schedule;
use crate::certificate::Bounds;
use crate::problem::Problem;

/// A problem, a schedule that claims to solve it, claimed lower bounds, and provenance. Nothing in it is trusted before
/// it is verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<S = Schedule> {
    /// What to do.
    pub problem: Problem,
    /// How: step by step, or in the [compact form](super::CompactSchedule).
    pub schedule: S,
    /// How well it can be done at best.
    pub bounds: Bounds,
    /// Provenance.
    pub origin: Option<Origin>,
}

/// The provenance of a schedule or program. For people; nothing depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// The program and its version.
    pub tool: Option<String>,
    /// The planner's name.
    pub planner: Option<String>,
    /// The command line.
    pub command: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
}
