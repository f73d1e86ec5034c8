//! What a schedule file holds.

use super::{CompactSchedule, Schedule};
use crate::certificate::Bounds;
use crate::problem::{Problem, ProblemError};
use crate::topology::Topology;

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

impl Solution {
    /// The same schedule on another machine of as many ranks, where none of its bounds is known to hold.
    ///
    /// # Errors
    ///
    /// As [`Problem::on`].
    pub fn on(self, machine: Topology) -> Result<Self, ProblemError> {
        Ok(Self { problem: self.problem.on(machine)?, bounds: Bounds::default(), ..self })
    }
}

impl Solution<CompactSchedule> {
    /// The same schedule on a machine of the same shape: with other failures, say. None of its bounds is known to hold
    /// there.
    ///
    /// # Errors
    ///
    /// As [`Problem::on`], and if the shapes differ.
    pub fn on(self, machine: Topology) -> Result<Self, ProblemError> {
        if self.problem.machine().spec().shape != machine.spec().shape {
            return Err(ProblemError::OtherShape);
        }
        Ok(Self { problem: self.problem.on(machine)?, bounds: Bounds::default(), ..self })
    }
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
