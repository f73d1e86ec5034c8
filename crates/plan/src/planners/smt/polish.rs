//! From a schedule to a better one: a step less, or a unit of width less, until neither exists.

use super::ask::{Asking, Effort, Known};
use super::options::Smt;
use super::search::outcome;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use collsynth_core::schedule::Schedule;

impl Smt {
    /// Asks for one step less at the same total width, then for one unit of width less in the same steps, repeatedly.
    /// If it finishes, neither figure can improve unless the other gets worse.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] if the planner does not apply, or to a barrier.
    pub fn polish(&self, task: &Task<'_>, schedule: Schedule, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        if !task.problem.collective().kind.has_volume() {
            let reason = "a barrier is flooded, which is optimal: plan it anew".to_owned();
            return Err(PlanError::NotApplicable { planner: self.name(), reason });
        }
        let mut asking = Asking::new(self, task, control)?;
        let mut best = schedule;
        'polishing: while best.step_count() > 0 {
            let steps = best.step_count() as u32;
            let width = u32::try_from(best.total_width()).unwrap_or(u32::MAX);
            for (steps, width) in [(steps - 1, width), (steps, width - 1)] {
                if let Known::Found(better) = asking.ask(steps, width, Effort::Full)? {
                    best = better;
                    asking.has_schedule = true;
                    continue 'polishing;
                }
            }
            break;
        }
        Ok(outcome(&mut asking, best, true))
    }
}
