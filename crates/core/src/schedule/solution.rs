//! What a schedule file holds.

use super::Schedule;
use crate::certificate::Bounds;
use crate::problem::Problem;

/// A problem, a schedule that claims to solve it, lower bounds claimed for it, and where it came from.
/// Nothing in it is trusted before the verifier has looked at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// What is to be done.
    pub problem: Problem,
    /// How.
    pub schedule: Schedule,
    /// How well it can be done at best.
    pub bounds: Bounds,
    /// Who says so.
    pub origin: Option<Origin>,
}

/// Where a schedule came from. For people; nothing depends on it.
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
