//! The trade-off between steps and volume: all the schedules found that no other beats in both.
//!
//! A schedule of `S` steps and volume `V` takes `alpha * S + V * bytes / bandwidth`, so the message size decides which
//! one is fastest. Those worth having form a curve that falls from few steps and much volume to many steps and little:
//!
//! ```text
//!   V |  x                   x  on the front: nothing has fewer steps and no more volume,
//!     |      . x             .  dominated       nor less volume in no more steps
//!     |          .  x
//!     +---------------- S
//! ```
//!
//! For each number of parts, planning without stated steps gives the least volume it finds. Fewer steps are then tried
//! down to the distance bound, and more steps as long as they pay. A goal that would not reach the front even at its
//! volume bound is not planned at all.

use std::ops::RangeInclusive;

use crate::engine::front::Front;
use crate::engine::planned::Plan;
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::model::account::StopReason;
use crate::model::addition::addition_depth;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// Failures in a row to save volume after which no more steps are tried.
const VAIN_TRIES: u32 = 2;

/// Plans the curve of a collective on a topology for these numbers of parts, the fewest first. Hands every schedule
/// that is on the front when it is found to `found`, with the goal that makes [`synthesize`](crate::synthesize) return
/// the very same schedule; later ones may dominate it. Of `goal`, the planner, the seed and the most steps count; its
/// steps, parts and price do not.
///
/// # Errors
///
/// A [`PlanError`] if there is no schedule at all.
pub fn trace(
    topology: &Topology,
    kind: &Kind,
    goal: &Goal<'_>,
    parts: &[u32],
    control: &Control,
    found: impl FnMut(&Goal<'_>, Plan),
) -> Result<StopReason, PlanError> {
    let mut findings = OnFront { front: Front::default(), found };
    let mut failure = None;
    let mut parts = parts.to_vec();
    parts.sort_unstable();
    parts.dedup();
    for parts in parts {
        if control.stop().is_some() && !findings.front.is_empty() {
            break;
        }
        let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts })?;
        let bounds = control.bounds(&problem);
        let traced =
            bounds.and_then(|bounds| trace_bounded(&problem, &bounds, goal, Effort::default(), control, &mut findings));
        if let Err(error) = traced {
            failure.get_or_insert(error);
        }
    }
    match failure {
        Some(error) if findings.front.is_empty() => Err(error),
        _ => Ok(control.stop().unwrap_or(StopReason::Finished)),
    }
}

/// Consumer of Pareto points.
pub(super) trait Consumer {
    /// Are schedules of at least these steps and this volume useless?
    fn has_enough(&self, steps: usize, volume: Rational) -> bool;

    /// Are schedules in this range of steps useless? Their volume is at least `least`, and likely at least `seen`, the
    /// volume that more steps took.
    fn has_enough_below(&self, steps: RangeInclusive<usize>, least: Rational, seen: Rational) -> bool;

    /// A schedule, with the goal it was planned for.
    fn add(&mut self, goal: &Goal<'_>, plan: Plan);
}

/// Keeps the front, and hands on every plan that is on it when found.
struct OnFront<F> {
    front: Front<()>,
    found: F,
}

impl<F: FnMut(&Goal<'_>, Plan)> Consumer for OnFront<F> {
    fn has_enough(&self, steps: usize, volume: Rational) -> bool {
        self.front.covers(steps, volume)
    }

    fn has_enough_below(&self, steps: RangeInclusive<usize>, least: Rational, _seen: Rational) -> bool {
        self.front.covers(*steps.end(), least)
    }

    fn add(&mut self, goal: &Goal<'_>, plan: Plan) {
        let volume = Rational::new(plan.schedule.total_width().into(), plan.problem.parts().into());
        let depth = addition_depth(&plan.problem, &plan.schedule);
        if self.front.insert(plan.schedule.step_count(), volume, depth, ()) {
            (self.found)(goal, plan);
        }
    }
}

/// Plans the curve for one number of parts, where it is useful.
pub(super) fn trace_bounded(
    problem: &Problem,
    bounds: &Bounds,
    goal: &Goal<'_>,
    effort: Effort<'_>,
    control: &Control,
    findings: &mut impl Consumer,
) -> Result<(), PlanError> {
    let goal = Goal { parts: Parts::Fixed(problem.parts()), steps: None, price: None, ..*goal };
    Tracing { problem, bounds, goal, effort, control, findings }.run()
}

struct Tracing<'a, F> {
    problem: &'a Problem,
    bounds: &'a Bounds,
    goal: Goal<'a>,
    effort: Effort<'a>,
    control: &'a Control,
    findings: &'a mut F,
}

impl<F: Consumer> Tracing<'_, F> {
    fn run(mut self) -> Result<(), PlanError> {
        let (least_steps, least) = (self.bounds.least_steps() as usize, self.least_volume());
        let most_steps = self.goal.max_steps.map_or(usize::MAX, |most| most as usize);
        if self.findings.has_enough(least_steps, least) {
            return Ok(());
        }
        let (first, mut volume, least_of_all) = self.plan(None, self.goal.max_steps)?;
        let (mut steps, mut seen) = (first, volume);
        while steps > least_steps
            && !self.findings.has_enough_below(least_steps..=steps - 1, least, seen)
            && self.control.stop().is_none()
        {
            match self.plan(None, Some((steps - stride(steps)).max(least_steps) as u32)) {
                Ok((fewer, more, _)) if fewer < steps => (steps, seen) = (fewer, more),
                _ => break,
            }
        }
        // More steps are useless once the volume is proven least.
        let (mut steps, mut vain) = (first, if least_of_all { VAIN_TRIES } else { 0 });
        while vain < VAIN_TRIES && !self.findings.has_enough(steps + 1, least) && self.control.stop().is_none() {
            steps += stride(steps);
            if steps > most_steps {
                break;
            }
            match self.plan(Some(steps as u32), None) {
                Ok((_, less, _)) if less < volume => (volume, vain) = (less, 0),
                _ => vain += 1,
            }
        }
        Ok(())
    }

    /// Plans for these steps; the steps and the volume found, and whether they are proven optimal.
    fn plan(&mut self, steps: Option<u32>, max_steps: Option<u32>) -> Result<(usize, Rational, bool), PlanError> {
        let goal = Goal { steps, max_steps, ..self.goal };
        let plan = plan_bounded(self.problem.clone(), self.bounds.clone(), &goal, self.effort, self.control)?;
        let figures = (plan.schedule.step_count(), self.volume(plan.schedule.total_width()), plan.account.is_proven());
        self.findings.add(&goal, plan);
        Ok(figures)
    }

    fn volume(&self, width: u64) -> Rational {
        Rational::new(i128::from(width), i128::from(self.problem.parts()))
    }

    /// The least possible volume with these parts.
    fn least_volume(&self) -> Rational {
        self.volume(self.bounds.least_width(self.problem.parts()).into())
    }
}

/// From a number of steps to the next one to try: 1, more for many steps.
fn stride(steps: usize) -> usize {
    (steps / 8).max(1)
}
