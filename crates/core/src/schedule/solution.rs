//! What a schedule file holds.

use super::{AnySchedule, Schedule, Stated};
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

/// A solution whose schedule is in either form.
pub type AnySolution = Solution<AnySchedule>;

impl<S> Solution<S> {
    /// The same with another schedule, made of this one.
    pub fn map<T>(self, schedule: impl FnOnce(S) -> T) -> Solution<T> {
        Solution { problem: self.problem, schedule: schedule(self.schedule), bounds: self.bounds, origin: self.origin }
    }
}

impl<S: Stated> Solution<S> {
    /// The same schedule on another machine of as many ranks, in the compact form also of the same shape. There, none
    /// of its bounds is known to hold; on its own machine, they stay.
    ///
    /// # Errors
    ///
    /// As [`Problem::on`], and if the shapes differ where they may not.
    pub fn on(self, machine: Topology) -> Result<Self, ProblemError> {
        if !self.schedule.is_explicit() && self.problem.machine().spec().shape != machine.spec().shape {
            return Err(ProblemError::OtherShape);
        }
        if self.problem.machine() == &machine {
            return Ok(self);
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
