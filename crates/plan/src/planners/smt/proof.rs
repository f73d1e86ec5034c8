//! Refutations as files for other programs to check.

use collsynth_smt::{Limits, Proof, ProofForm, Question};

use super::options::Smt;
use super::translation::Translation;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::task::Task;

impl Smt {
    /// The formula "there is a schedule of the task's steps and this planner's width", and CaDiCaL's proof that it has
    /// no model; `None` if it has one, or if CaDiCaL was stopped.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] if steps or width are not stated, if the formula would be too large, or if there is
    /// no room for a temporary file.
    pub fn prove(&self, task: &Task<'_>, form: ProofForm, control: &Control) -> Result<Option<Proof>, PlanError> {
        let refuse = |reason: String| PlanError::NotApplicable { planner: "smt", reason };
        let (Some(steps), Some(width)) = (task.steps, self.width) else {
            return Err(refuse("a proof is about a number of steps and a total width".to_owned()));
        };
        if width < steps {
            return Err(refuse("every step is at least 1 wide".to_owned()));
        }
        let stop = || control.stop().is_some();
        let limits = Limits { stop: &stop, conflicts: None };
        let translation = Translation::new(task);
        collsynth_smt::prove(&translation.instance, Question { steps, width }, form, &limits)
            .map_err(|error| refuse(format!("no proof can be written: {error}")))
    }
}
