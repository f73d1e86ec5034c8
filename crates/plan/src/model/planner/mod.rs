//! The interface of a planner: its trait and its answer.

pub mod best;
pub mod scope;

use std::fmt;

use crate::model::account::{Account, StopReason};
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::phase::Phase;
use crate::model::task::Task;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use scope::Scope;

/// When planning without a stated planner tries this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoUse {
    /// Whenever it applies.
    Always,
    /// Only by name: it is slow, or another of ours is never worse.
    Never,
}

/// An algorithm that makes schedules.
pub trait Planner: Sync {
    /// The name on the command line and in `origin`.
    fn name(&self) -> &'static str;

    /// One line for people: what it does and when it applies.
    fn summary(&self) -> &'static str;

    /// Does it follow a published scheme, for comparison?
    fn is_baseline(&self) -> bool {
        false
    }

    /// When planning without a stated planner tries this one.
    fn auto_use(&self) -> AutoUse {
        AutoUse::Always
    }

    /// What it plans, as far as the kind, the groups and the sort of machine decide it.
    fn scope(&self) -> Scope;

    /// Whether it can plan a problem of its scope: what extents, sizes and single links decide.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] with the reason.
    fn fits(&self, _problem: &Problem) -> Result<(), PlanError> {
        Ok(())
    }

    /// Whether it can plan this problem at all.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] with the reason.
    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        self.scope().check(self.name(), problem)?;
        self.fits(problem)
    }

    /// The number of parts at which it reaches its best volume, if a closed form gives it: there its shares are whole.
    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        None
    }

    /// Does it take no more than about a second for such a problem, or some seconds where others take minutes?
    fn is_quick(&self, _problem: &Problem) -> bool {
        true
    }

    /// Plans. Polls `control` between pieces of work and, when stopped, returns early with the best schedule so far.
    ///
    /// # Errors
    ///
    /// A [`PlanError`] if it does not apply, if the task cannot be met, or if it was stopped before it had a schedule.
    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError>;
}

/// Chunks, counted at every live rank: the size by which planners of trees tell how long they take.
pub(crate) fn arrivals(problem: &Problem) -> u64 {
    u64::from(problem.chunk_count()) * problem.topology().live_rank_count() as u64
}

/// True where a move for every pair of ranks, or a step for every rank, takes seconds to write.
pub(crate) fn has_many_ranks(problem: &Problem) -> bool {
    const MANY: usize = 1400;
    problem.topology().live_rank_count() > MANY
}

impl fmt::Debug for dyn Planner + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A planner's answer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The schedule, not yet verified.
    pub schedule: Schedule,
    /// Why the planner stopped.
    pub stopped: StopReason,
    /// What it reports besides the schedule.
    pub account: Account,
}

impl Outcome {
    /// A schedule without an account.
    pub fn new(schedule: Schedule, stopped: StopReason) -> Self {
        Self { schedule, stopped, account: Account::None }
    }

    /// The same with the phases of the algorithm.
    pub fn with_phases(self, phases: Vec<Phase>) -> Self {
        Self { account: Account::Phases(phases), ..self }
    }
}
