//! A schedule with everything known about it.

use crate::model::account::{Account, StopReason};
use crate::model::control::{Control, Progress};
use collsynth_bound as bound;
use collsynth_bound::FlowLimit;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Schedule, Solution, Timetable};

/// A schedule with the problem it was made for.
#[derive(Clone, Debug)]
pub struct Plan<S = Schedule> {
    /// The problem, with the number of parts chosen.
    pub problem: Problem,
    /// The schedule, not yet verified.
    pub schedule: S,
    /// The name of the planner.
    pub planner: &'static str,
    /// Lower bounds that no schedule can beat.
    pub bounds: Bounds,
    /// Why planning stopped.
    pub stopped: StopReason,
    /// What the planner reports besides the schedule.
    pub account: Account,
}

impl<S: Timetable> Plan<S> {
    /// Looks for joint bounds on steps and volume where the separate bounds leave a gap. Solves linear programs of at
    /// most [`FlowLimit::UNASKED`] variables: seconds, or until `control` stops it.
    pub fn prove_jointly(&mut self, control: &Control) {
        let (steps, width) = (self.schedule.step_count(), self.schedule.total_width());
        control.report(Progress { planner: self.planner, attempt: "joint bounds", round: 0, remaining: 0 });
        prove_jointly(&self.problem, &mut self.bounds, steps, width, control);
    }
}

/// Looks for the joint bounds of a schedule of this many steps and this total width: see [`Plan::prove_jointly`].
pub fn prove_jointly(problem: &Problem, bounds: &mut Bounds, steps: usize, width: u64, control: &Control) {
    let (Ok(steps), Ok(width)) = (u32::try_from(steps), u32::try_from(width)) else { return };
    // Where ranks are named, four programs of a quarter of the size.
    let share = if problem.collective().kind.pattern() == Pattern::OneToOne { 1 } else { 4 };
    let limit = FlowLimit { variables: FlowLimit::UNASKED / share, solver: control.limit() };
    bounds.joint = bound::joint_bounds(problem, bounds, steps, width, &limit);
}

/// For the verifier; drops the name of the planner.
impl<S> From<Plan<S>> for Solution<S> {
    fn from(plan: Plan<S>) -> Self {
        Self { problem: plan.problem, schedule: plan.schedule, bounds: plan.bounds, origin: None }
    }
}
