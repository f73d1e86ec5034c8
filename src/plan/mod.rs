//! From a problem to a schedule: the planners, their registry, and how one is chosen.
//!
//! Every planner is a [`Planner`]: one file (or folder) named as its algorithm, and one line in the registry. A planner
//! is given a [`Task`] and answers with a schedule that it believes in; nobody else needs to, since the verifier judges
//! every schedule before it is used.

mod control;
mod error;

pub use control::{Control, Progress};
pub use error::PlanError;

use crate::certificate::Bounds;
use crate::problem::Problem;
use crate::schedule::Schedule;

/// What a planner is asked for.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The problem; its parts are fixed.
    pub problem: &'a Problem,
    /// Lower bounds already proven for it, as targets.
    pub bounds: &'a Bounds,
    /// Exactly this many steps, if stated.
    pub steps: Option<u32>,
    /// At most this many steps, if stated.
    pub max_steps: Option<u32>,
    /// Breaks ties and drives random choices: same task and seed, same schedule.
    pub seed: u64,
}

/// A way to plan.
pub trait Planner: Sync {
    /// The name on the command line and in `origin`.
    fn name(&self) -> &'static str;

    /// One line for people: what it does and when it applies.
    fn summary(&self) -> &'static str;

    /// Whether it can plan this problem at all.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] with the reason.
    fn applies(&self, problem: &Problem) -> Result<(), PlanError>;

    /// Plans. Calls `control` between pieces of work and returns early, with the best schedule so far, when told to.
    ///
    /// # Errors
    ///
    /// A [`PlanError`] if it does not apply, if the wish cannot be met, or if it was stopped before it had a schedule.
    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError>;
}

/// Why a planner stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It did all it knows to do.
    Finished,
    /// The time limit came first.
    TimeLimit,
    /// It was interrupted.
    Interrupted,
}

/// A planner's answer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The schedule, not yet verified.
    pub schedule: Schedule,
    /// Why the planner stopped.
    pub stopped: StopReason,
}
