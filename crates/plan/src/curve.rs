//! The trade of steps against volume: not one schedule but all those of which none is better in both.
//!
//! A schedule of `S` steps and volume `V` takes `alpha * S + V * bytes / bandwidth`; which one is fastest depends on
//! the size of the messages. Those worth having form a curve that falls from few steps and much volume to many steps
//! and little:
//!
//! ```text
//!   V |  x                   x  on the front: nothing has fewer steps and no more volume,
//!     |      . x             .  dominated       nor less volume in no more steps
//!     |          .  x
//!     +---------------- S
//! ```
//!
//! For each number of parts, planning without stated steps gives the least volume it finds; fewer steps are then asked for
//! again and again down to the distance bound, and more steps as long as they pay. What cannot get onto the front even
//! if its volume bound is met is not planned at all.

use std::ops::RangeInclusive;

use super::portfolio::plan_bounded;
use super::{Control, Front, Goal, Parts, Plan, PlanError, StopReason};
use crate::bound;
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// More steps are asked for until they have been of no use so many times.
const VAIN_TRIES: u32 = 2;

/// Plans the curve of a collective on a topology for these numbers of parts. Every schedule that is on the front when
/// it is found is given to `found`, with the goal that [`synthesize`](super::synthesize) meets with the very same
/// schedule; some later ones may dominate it. The goal says the planner, the seed and the most steps; what it says of
/// steps, parts and price is not used. The least parts come first.
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
        let bounds = bound::find(&problem)?;
        if let Err(error) = trace_bounded(&problem, &bounds, goal, control, &mut findings) {
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
    /// Is there no use for schedules of at least so many steps and so much volume?
    fn has_enough(&self, steps: usize, volume: Rational) -> bool;

    /// Is there no use for schedules of so many steps? Their volume is at least `least`, and likely at least `seen`,
    /// which is what more steps took.
    fn has_enough_below(&self, steps: RangeInclusive<usize>, least: Rational, seen: Rational) -> bool;

    /// A schedule, with the goal it was planned for.
    fn add(&mut self, goal: &Goal<'_>, plan: Plan);
}

/// Keeps the front, and hands on what is on it when it is found.
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
        if self.front.insert(plan.schedule.step_count(), volume, ()) {
            (self.found)(goal, plan);
        }
    }
}

/// Plans the curve for one number of parts, as far as it is of use.
pub(super) fn trace_bounded(
    problem: &Problem,
    bounds: &Bounds,
    goal: &Goal<'_>,
    control: &Control,
    findings: &mut impl Consumer,
) -> Result<(), PlanError> {
    let goal = Goal { parts: Parts::Fixed(problem.parts()), steps: None, price: None, ..*goal };
    Tracing { problem, bounds, goal, control, findings }.run()
}

/// The curve for one number of parts.
struct Tracing<'a, F> {
    problem: &'a Problem,
    bounds: &'a Bounds,
    goal: Goal<'a>,
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
        // More steps are no use where it is proven that no schedule has less volume.
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

    /// Plans for these steps, and gives the steps and the volume of what comes of it, and whether it is proven optimal.
    fn plan(&mut self, steps: Option<u32>, max_steps: Option<u32>) -> Result<(usize, Rational, bool), PlanError> {
        let goal = Goal { steps, max_steps, ..self.goal };
        let plan = plan_bounded(self.problem.clone(), self.bounds.clone(), &goal, self.control)?;
        let figures = (plan.schedule.step_count(), self.volume(plan.schedule.total_width()), plan.account.is_proven());
        self.findings.add(&goal, plan);
        Ok(figures)
    }

    fn volume(&self, width: u64) -> Rational {
        Rational::new(i128::from(width), i128::from(self.problem.parts()))
    }

    /// The least volume there can be with so many parts.
    fn least_volume(&self) -> Rational {
        self.volume(self.bounds.least_width(self.problem.parts()).into())
    }
}

/// From a number of steps to the next one to try: 1, more for many steps.
fn stride(steps: usize) -> usize {
    (steps / 8).max(1)
}
