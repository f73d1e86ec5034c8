//! Time limits, interruption and progress of a running planner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_lp::Limit;

/// Why a planner stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It ran to its end.
    Finished,
    /// The time limit came first.
    TimeLimit,
    /// It was interrupted.
    Interrupted,
}

impl StopReason {
    /// The reason as JSON answers state it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TimeLimit => "time limit",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A planner's progress report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The planner.
    pub planner: &'a str,
    /// What it is trying: "6 steps, width 34".
    pub attempt: &'a str,
    /// Rounds done in this attempt.
    pub round: u64,
    /// Conflicts left in this attempt (overfull slots, say); 0 means done.
    pub remaining: u64,
}

/// The best schedule so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incumbent<'a> {
    /// Who found it.
    pub planner: &'a str,
    /// Parts of a message.
    pub parts: u32,
    /// Its steps.
    pub steps: usize,
    /// Its volume.
    pub volume: Rational,
    /// The bound on the volume of any schedule, if one is known.
    pub bound: Option<Rational>,
}

type Listener = dyn Fn(Progress<'_>) + Send + Sync;
type IncumbentListener = dyn Fn(Incumbent<'_>) + Send + Sync;

/// Tells a planner when to stop and where to report progress.
#[derive(Clone, Default)]
pub struct Control {
    deadline: Option<Instant>,
    interrupted: Arc<AtomicBool>,
    listener: Option<Arc<Listener>>,
    incumbents: Option<Arc<IncumbentListener>>,
}

impl Control {
    /// No limit and no listener.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Stops at this time.
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Stops when this becomes true (a Ctrl-C handler sets it).
    pub fn with_interrupt(self, interrupted: Arc<AtomicBool>) -> Self {
        Self { interrupted, ..self }
    }

    /// Reports progress to this function, from any thread.
    pub fn with_listener(self, listener: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Reports every schedule that is better than those before it to this function, from any thread.
    pub fn with_incumbents(self, listener: impl Fn(Incumbent<'_>) + Send + Sync + 'static) -> Self {
        Self { incumbents: Some(Arc::new(listener)), ..self }
    }

    /// The reason to stop now, if any. Cheap; polled between pieces of work.
    pub fn stop(&self) -> Option<StopReason> {
        if self.interrupted.load(Ordering::Relaxed) {
            Some(StopReason::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(StopReason::TimeLimit)
        } else {
            None
        }
    }

    /// The same as a limit for solvers of linear programs.
    pub fn limit(&self) -> Limit {
        let flag = Arc::clone(&self.interrupted);
        let limit = Limit::NONE.unless(move || flag.load(Ordering::Relaxed));
        match self.deadline {
            Some(deadline) => limit.until(deadline),
            None => limit,
        }
    }

    /// Notifies the listener, if there is one.
    pub fn report(&self, progress: Progress<'_>) {
        if let Some(listener) = &self.listener {
            listener(progress);
        }
    }

    /// Notifies the listener of incumbents, if there is one, that a planner's schedule is the best so far.
    pub fn found(&self, planner: &str, problem: &Problem, bounds: &Bounds, schedule: &Schedule) {
        if let Some(listener) = &self.incumbents {
            let (parts, bound) = (problem.parts(), bounds.volume.as_ref().map(|bound| bound.at_least));
            let volume = Rational::new(schedule.total_width().into(), parts.into());
            listener(Incumbent { planner, parts, steps: schedule.step_count(), volume, bound });
        }
    }
}
