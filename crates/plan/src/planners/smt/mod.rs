//! The SMT planner: schedules proven optimal, on small machines.
//!
//! # Idea
//!
//! "There is a schedule of `S` steps and total width `R`" is a formula of propositional logic (see `collsynth_smt`). A
//! SAT solver either finds a model, which is such a schedule, or proves that there is none. The planner asks about one
//! pair after another, until the next better pair is refuted.
//!
//! ```text
//!     R |  x x x .          x  refuted, by the solver or below a bound
//!       |  x x o .          o  found: no schedule is narrower, and none as narrow has fewer steps
//!       |  x x x x          .  irrelevant by now
//!       +---------- S
//! ```
//!
//! Moved chunks are encoded directly; `reduce` and `reduce_scatter` as broadcasts and all-gathers over reversed links,
//! backward in time, which loses nothing: the contributions that reach a root form a reversed tree of moves. An
//! `all_reduce` is encoded as sets of contributions, which covers every form of schedule. A `barrier` is flooded, which
//! always meets its bound.
//!
//! # Applies
//!
//! All collectives on any topology of at most 64 live ranks, with any failures.
//!
//! # Steps and volume
//!
//! Optimal for the given parts, if it finishes. It finishes soon if a bound is met, since bounds then refute everything
//! better, and on most machines of up to nine ranks.
//!
//! # Complexity
//!
//! Exponential at worst; a formula has about `chunks * links * S` variables.
//!
//! # Reference
//!
//! Cai et al., "Synthesizing Optimal Collective Algorithms" (SCCL), PPoPP 2021, who ask z3 the same question with fixed
//! widths. New here: order-encoded arrival times for a SAT solver, widths as variables, detours limited by the slack of
//! the volume bound, a first search among schedules that keep the symmetries of the damaged torus, and exact sets for
//! all_reduce.

mod ask;
mod last_units;
mod options;
mod polish;
mod proof;
mod search;
mod translation;

pub use collsynth_smt::{Proof, ProofForm};
pub(crate) use last_units::{LastUnits, last_units};
pub use options::{Minimize, Smt, SmtBackend};

use crate::model::account::{Account, StopReason};
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::planner::scope::Scope;
use crate::model::planner::{AutoUse, Outcome, Planner};
use crate::model::task::Task;
use crate::planners::flood::Flood;
use ask::Asking;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

pub(crate) const NAME: &str = "smt";

const MOST_RANKS: usize = 64;

/// Optimal without asking a solver.
const PROVEN: Account = Account::Search { refuted: Vec::new(), proven: true };

/// The kinds planned: all. From [`NOT_IN_GROUPS`] on, not in groups.
const KINDS: [&str; 11] = [
    "all_to_all",
    "all_gather",
    "reduce_scatter",
    "broadcast",
    "reduce",
    "scatter",
    "gather",
    "barrier",
    "all_reduce_gathered",
    "all_to_allv",
    "all_reduce",
];
const NOT_IN_GROUPS: usize = 9;

impl Planner for Smt {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "every collective on small networks with any failures: proven optimal by a SAT solver"
    }

    /// It is slow, and its proofs are rarely needed.
    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn is_quick(&self, _problem: &Problem) -> bool {
        false
    }

    fn scope(&self) -> Scope {
        Scope::of(&KINDS).in_groups(KINDS.split_at(NOT_IN_GROUPS).0)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        let ranks = problem.topology().live_rank_count();
        if ranks > MOST_RANKS {
            let reason = format!("there are {ranks} live ranks; at most {MOST_RANKS} are tried");
            return Err(PlanError::NotApplicable { planner: self.name(), reason });
        }
        Ok(())
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        if !task.problem.collective().kind.has_volume() {
            return Flood.plan(task, control).map(|outcome| Outcome { account: PROVEN, ..outcome });
        }
        task.steps_or(0)?;
        task.problem.check_connected()?;
        if task.problem.is_trivial() {
            let (schedule, stopped) = (Schedule::default(), StopReason::Finished);
            return Ok(Outcome { schedule, stopped, account: PROVEN });
        }
        search::search(&mut Asking::new(self, task, control)?)
    }
}
