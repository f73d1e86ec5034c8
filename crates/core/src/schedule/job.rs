//! Several collectives on one machine, at work at once.

use thiserror::Error;

use super::{Origin, Solution};
use crate::certificate::JobBound;
use crate::problem::{Problem, ProblemError};
use crate::topology::Topology;

/// Schedules that run together, step by step: each solves a problem of its own, and they share the links. A chunk of
/// one is as large as a chunk of any other.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    solutions: Vec<Solution>,
    /// How narrow the steps can be at best.
    pub bound: Option<JobBound>,
    /// Provenance.
    pub origin: Option<Origin>,
}

/// Why schedules make no job.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum JobError {
    #[error("a job has at least one schedule")]
    Empty,
    #[error("schedule {index} is for another machine than schedule 0")]
    OtherMachine { index: usize },
}

impl Job {
    /// A job of these schedules.
    ///
    /// # Errors
    ///
    /// If there is none, or they are for different machines.
    pub fn new(solutions: Vec<Solution>, bound: Option<JobBound>, origin: Option<Origin>) -> Result<Self, JobError> {
        let first = solutions.first().ok_or(JobError::Empty)?;
        let other = solutions.iter().position(|solution| solution.problem.machine() != first.problem.machine());
        match other {
            Some(index) => Err(JobError::OtherMachine { index }),
            None => Ok(Self { solutions, bound, origin }),
        }
    }

    /// The same schedules on another machine of as many ranks. There, none of their bounds is known to hold; on its own
    /// machine, they stay.
    ///
    /// # Errors
    ///
    /// As [`Problem::on`].
    pub fn on(&self, machine: &Topology) -> Result<Self, ProblemError> {
        if self.machine() == machine {
            return Ok(self.clone());
        }
        let moved = self.solutions.iter().map(|solution| solution.clone().on(machine.clone()));
        Ok(Self { solutions: moved.collect::<Result<_, _>>()?, bound: None, origin: self.origin.clone() })
    }

    /// The schedules, each with its problem and its own bounds.
    pub fn solutions(&self) -> &[Solution] {
        &self.solutions
    }

    /// The schedules alone.
    pub fn into_solutions(self) -> Vec<Solution> {
        self.solutions
    }

    /// The problems, in the order of the schedules.
    pub fn problems(&self) -> Vec<&Problem> {
        self.solutions.iter().map(|solution| &solution.problem).collect()
    }

    /// The machine.
    pub fn machine(&self) -> &Topology {
        self.solutions[0].problem.machine()
    }

    /// The width of each step: the widest that a schedule states.
    pub fn widths(&self) -> Vec<u32> {
        let mut widths = Vec::new();
        for solution in &self.solutions {
            for (step, width) in solution.schedule.widths().enumerate() {
                widths.resize(widths.len().max(step + 1), 0);
                widths[step] = widths[step].max(width);
            }
        }
        widths
    }

    /// The sum of the widths.
    pub fn total_width(&self) -> u64 {
        self.widths().into_iter().map(u64::from).sum()
    }

    /// The least number of steps that the bounds of the collectives allow.
    pub fn least_steps(&self) -> u32 {
        self.solutions.iter().map(|solution| solution.bounds.least_steps()).max().unwrap_or(0)
    }
}
