//! Questions to the solver, and their answers so far.

use collsynth_smt::{Answer, Backend, InstanceError, Limits, Question, solve};

use super::options::{Smt, SmtBackend};
use super::translation::Translation;
use crate::model::account::{Refutation, StopReason};
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::sharper::SharperBounds;
use crate::model::task::Task;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::Pattern;
use collsynth_core::schedule::Schedule;

/// Conflicts of a quick try, and of one that may take seconds.
const QUICK: u32 = 4_000;
const SECONDS: u32 = 10_000;

/// How much work an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    Quick,
    Seconds,
    Full,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub(super) enum Known {
    Found(Schedule),
    Refuted,
    Unknown,
}

/// A task with the questions asked so far.
pub(super) struct Asking<'a> {
    pub(super) smt: &'a Smt,
    pub(super) task: &'a Task<'a>,
    pub(super) control: &'a Control,
    translation: Translation,
    backend: Backend,
    /// Bounds on the total width and the steps.
    pub(super) least_width: u32,
    pub(super) least_steps: u32,
    /// Refuted by the solver.
    pub(super) refuted: Vec<Refutation>,
    /// There is a schedule already: a question that is too large stays open, and proves nothing.
    pub(super) has_schedule: bool,
    /// A question was left open since it was too large.
    pub(super) has_open: bool,
}

impl<'a> Asking<'a> {
    pub(super) fn new(smt: &'a Smt, task: &'a Task<'a>, control: &'a Control) -> Result<Self, PlanError> {
        let known = task.sharper.map_or(task.bounds, |sharper| sharper.sharp());
        let least_width = known.least_width(task.problem.parts());
        Ok(Self {
            smt,
            task,
            control,
            translation: Translation::new(task),
            backend: backend(smt.backend)?,
            least_width,
            least_steps: task.bounds.least_steps(),
            refuted: Vec::new(),
            has_schedule: false,
            has_open: false,
        })
    }

    pub(super) fn known_bounds(&self) -> &Bounds {
        self.task.sharper.map_or(self.task.bounds, SharperBounds::known)
    }

    /// Is there a schedule of these steps and at most this total width?
    pub(super) fn ask(&mut self, steps: u32, width: u32, effort: Effort) -> Result<Known, PlanError> {
        if width < self.least_width.max(steps) || steps < self.least_steps.max(1) || self.is_refuted(steps, width) {
            return Ok(Known::Refuted);
        }
        if self.control.stop().is_some() {
            return Ok(Known::Unknown);
        }
        let attempt = &format!("{steps} steps, width {width}");
        self.control.report(Progress { planner: "smt", attempt, round: self.refuted.len() as u64, remaining: 1 });
        let stop = || self.control.stop().is_some();
        let conflicts = match effort {
            Effort::Quick => Some(QUICK),
            Effort::Seconds => Some(SECONDS),
            Effort::Full => None,
        };
        let question = Question { steps, width };
        match solve(&self.translation.instance, question, self.backend, &Limits { stop: &stop, conflicts }) {
            Ok(Answer::Found(found)) => {
                let schedule = self.translation.schedule(self.task.problem, &found);
                Ok(Known::Found(self.task.in_stated_steps(schedule)))
            }
            Ok(Answer::Refuted(formula)) => {
                let formula = (formula.variables.unsigned_abs(), formula.clauses);
                self.refuted.push(Refutation { steps, width, formula });
                Ok(Known::Refuted)
            }
            Ok(Answer::Unknown) => Ok(Known::Unknown),
            Err(InstanceError::TooLarge { .. }) if self.has_schedule => {
                self.has_open = true;
                Ok(Known::Unknown)
            }
            Err(error @ (InstanceError::TooLarge { .. } | InstanceError::Malformed(_))) => {
                Err(PlanError::NotApplicable { planner: "smt", reason: error.to_string() })
            }
        }
    }

    /// Does an earlier refutation cover this? It covers less width in the same steps and, if chunks only move, fewer
    /// steps, since a step wider than 1 can be split in two.
    fn is_refuted(&self, steps: u32, width: u32) -> bool {
        let moves = self.task.problem.collective().kind.pattern() != Pattern::EveryToEvery;
        self.refuted.iter().any(|known| width <= known.width && (known.steps == steps || moves && steps <= known.steps))
    }

    /// The largest useful total width in this number of steps.
    pub(super) fn widest(&self, steps: u32) -> u32 {
        let widest = self.translation.widest_step().saturating_mul(steps).max(self.least_width);
        self.smt.width.map_or(widest, |most| most.min(widest))
    }

    pub(super) fn stopped(&self) -> StopReason {
        self.control.stop().unwrap_or(StopReason::Finished)
    }
}

fn backend(wanted: SmtBackend) -> Result<Backend, PlanError> {
    match wanted {
        SmtBackend::Cadical => Ok(Backend::Cadical),
        #[cfg(feature = "z3")]
        SmtBackend::Z3 => Ok(Backend::Z3),
        #[cfg(not(feature = "z3"))]
        SmtBackend::Z3 => Err(PlanError::NotApplicable {
            planner: "smt",
            reason: "this build is without z3: build with the cargo feature `z3`, or let cadical solve".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::outcome;
    use super::*;
    use crate::model::account::Account;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::Topology;

    #[test]
    fn a_question_that_is_too_large_is_refused_or_leaves_a_schedule_unproven() {
        let problem = Problem::new(Topology::torus(&[4, 4]).unwrap(), Collective::new(Kind::AllToAll)).unwrap();
        let (smt, control) = (Smt::new(), Control::unlimited());
        let bounds = control.bounds(&problem).unwrap();
        let task = Task::new(&problem, &bounds);
        let mut asking = Asking::new(&smt, &task, &control).unwrap();
        assert!(matches!(asking.ask(20_000, 20_000, Effort::Full), Err(PlanError::NotApplicable { .. })));
        let is_proven = |asking: &mut Asking<'_>| match outcome(asking, Schedule::default(), true).account {
            Account::Search { proven, .. } => proven,
            _ => false,
        };
        assert!(is_proven(&mut asking));
        asking.has_schedule = true;
        assert!(matches!(asking.ask(20_000, 20_000, Effort::Full), Ok(Known::Unknown)));
        assert!(!is_proven(&mut asking));
    }
}
