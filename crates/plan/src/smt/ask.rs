//! One question after the other, and what is known of them.

use std::fmt;
use std::str::FromStr;

use collsynth_smt::{Answer, Backend, InstanceError, Limits, Question, solve};

use super::translation::Translation;
use crate::{Control, PlanError, Progress, SharperBounds, StopReason, Task};
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::Pattern;
use collsynth_core::schedule::Schedule;

/// Conflicts of a quick try, and of one that may take some seconds.
const QUICK: u32 = 4_000;
const SECONDS: u32 = 10_000;

/// Who solves the formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtBackend {
    /// CaDiCaL, a SAT solver that is part of the program.
    #[default]
    Cadical,
    /// z3.
    Z3,
}

/// A question whose answer is no: nothing of so many steps has this total width, or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refuted {
    /// Exactly so many steps.
    pub steps: u32,
    /// The total width.
    pub width: u32,
    /// The size of the formula that has no model: variables and clauses.
    pub formula: (u32, usize),
}

/// How much work an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// So much that easy questions are answered.
    Quick,
    /// A few seconds' work.
    Seconds,
    /// Until it is known.
    Full,
}

/// What is known of a question.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// There is a schedule.
    Found(Schedule),
    /// There is none.
    Refuted,
    /// Not found out.
    Unknown,
}

/// A task with the questions asked so far.
pub(super) struct Asking<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) control: &'a Control,
    translation: Translation,
    backend: Backend,
    /// Bounds on the total width and the steps.
    pub(super) least_width: u32,
    pub(super) least_steps: u32,
    /// Found refuted by the solver.
    pub(super) refuted: Vec<Refuted>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(task: &'a Task<'a>, control: &'a Control) -> Result<Self, PlanError> {
        let known = task.sharper.map_or(task.bounds, |sharper| sharper.sharp());
        let least_width = known.least_width(task.problem.parts());
        Ok(Self {
            task,
            control,
            translation: Translation::new(task),
            backend: backend(task.smt.backend)?,
            least_width,
            least_steps: task.bounds.least_steps(),
            refuted: Vec::new(),
        })
    }

    /// The best bounds there are.
    pub(super) fn known_bounds(&self) -> &Bounds {
        self.task.sharper.map_or(self.task.bounds, SharperBounds::known)
    }

    /// Is there a schedule of so many steps and of at most this total width?
    pub(super) fn ask(&mut self, steps: u32, width: u32, effort: Effort) -> Result<Known, PlanError> {
        if width < self.least_width.max(steps) || steps < self.least_steps.max(1) || self.is_refuted(steps, width) {
            return Ok(Known::Refuted);
        }
        if self.control.stop().is_some() {
            return Ok(Known::Unknown);
        }
        let attempt = format!("{steps} steps, width {width}");
        self.control.report(Progress {
            planner: "smt",
            attempt: &attempt,
            round: self.refuted.len() as u64,
            remaining: 1,
        });
        let stop = || self.control.stop().is_some();
        let conflicts = match effort {
            Effort::Quick => Some(QUICK),
            Effort::Seconds => Some(SECONDS),
            Effort::Full => None,
        };
        let question = Question { steps, width };
        match solve(&self.translation.instance, question, self.backend, &Limits { stop: &stop, conflicts }) {
            Ok(Answer::Found(found)) => Ok(Known::Found(self.translation.schedule(self.task.problem, &found))),
            Ok(Answer::Refuted(formula)) => {
                let formula = (formula.variables.unsigned_abs(), formula.clauses);
                self.refuted.push(Refuted { steps, width, formula });
                Ok(Known::Refuted)
            }
            Ok(Answer::Unknown) => Ok(Known::Unknown),
            Err(error @ (InstanceError::TooLarge { .. } | InstanceError::Malformed(_))) => {
                Err(PlanError::NotApplicable { planner: "smt", reason: error.to_string() })
            }
        }
    }

    /// Follows from what was refuted before: less width in as many steps; and, where chunks only move, fewer steps, for
    /// a step of width 2 and more can be carried out as two.
    fn is_refuted(&self, steps: u32, width: u32) -> bool {
        let moves = self.task.problem.collective().kind.pattern() != Pattern::EveryToEvery;
        self.refuted.iter().any(|known| width <= known.width && (known.steps == steps || moves && steps <= known.steps))
    }

    /// More total width than this is of no use in so many steps.
    pub(super) fn widest(&self, steps: u32) -> u32 {
        let widest = self.translation.widest_step().saturating_mul(steps).max(self.least_width);
        self.task.smt.width.map_or(widest, |most| most.min(widest))
    }

    /// Why it ends now.
    pub(super) fn stopped(&self) -> StopReason {
        self.control.stop().unwrap_or(StopReason::Finished)
    }
}

impl fmt::Display for Refuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.steps == 1 { "" } else { "s" };
        write!(f, "{} step{plural} of total width {}", self.steps, self.width)
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

impl SmtBackend {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cadical => "cadical",
            Self::Z3 => "z3",
        }
    }
}

impl fmt::Display for SmtBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SmtBackend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cadical" => Ok(Self::Cadical),
            "z3" => Ok(Self::Z3),
            _ => Err("write cadical or z3".to_owned()),
        }
    }
}
