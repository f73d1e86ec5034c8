//! The SMT planner: schedules that are proven to be as short and as narrow as there are, on small machines.
//!
//! Is there a schedule of `S` steps whose widths sum up to `R`? That is a formula of propositional logic
//! (`collsynth_smt` says how it is written), and a SAT solver answers it: with a schedule, or with the proof that there
//! is none. The planner asks for one pair after the other and stops where the next better pair is refuted.
//!
//! ```text
//!     R |  x x x .          x  refuted, by the solver or below a bound
//!       |  x x o .          o  found: no schedule is narrower, and none as narrow has fewer steps
//!       |  x x x x          .  of no interest any more
//!       +---------- S
//! ```
//!
//! * **Applies** to every kind of collective on any topology of at most 64 live ranks, whole or broken. Chunks that are
//!   moved are asked for directly; `reduce` and `reduce_scatter` as broadcasts and all-gathers on the reversed links
//!   and in reversed time, which loses nothing: what becomes of the contributions that reach the root is a tree of
//!   moves, turned round. An `all_reduce` is asked for as sets of contributions, so that no form of schedule is left
//!   out. A `barrier` is flooded: its bound on the steps is always met.
//! * **Steps and volume**: optimal, for the parts given, wherever it finishes. It finishes soon where a bound is met
//!   (all that must be refuted then lies below bounds), and on most machines of up to nine ranks.
//! * **Complexity**: exponential at worst; a formula has about `chunks * links * S` variables.
//!
//! Sources: Cai et al., "Synthesizing Optimal Collective Algorithms" (SCCL), PPoPP 2021, who ask the same question of
//! z3 and fix the width of every step. What is ours: arrival times in order encoding under a solver for propositions,
//! widths as variables, detours cut off by what the volume bound leaves over, searching first among schedules that keep
//! the symmetries of the damaged torus, and exact sets for all_reduce.

mod ask;
mod last_units;
mod options;
mod polish;
mod proof;
mod search;
mod translation;

pub use collsynth_smt::{Proof, ProofForm};
pub(super) use last_units::{LastUnits, last_units};
pub use options::{Minimize, Smt, SmtBackend};

use crate::{Account, AutoUse, Control, Flood, Outcome, PlanError, Planner, StopReason, Task};
use ask::Asking;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::Distances;

/// The name of the planner.
pub(super) const NAME: &str = "smt";

/// The most live ranks that are tried.
const MOST_RANKS: usize = 64;

/// Optimal without a question to a solver.
const PROVEN: Account = Account::Search { refuted: Vec::new(), proven: true };

impl Planner for Smt {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "every collective on small networks with any failures: proven optimal by a SAT solver"
    }

    /// It takes its time, and proves what nobody may have asked for.
    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
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
        task.problem.check_connected(&Distances::new(task.problem.topology()))?;
        if task.problem.is_trivial() {
            let nothing = Outcome::new(Schedule::default(), StopReason::Finished);
            return Ok(Outcome { account: PROVEN, ..nothing });
        }
        search::search(&mut Asking::new(self, task, control)?)
    }
}
