//! The fastest schedule, where steps and bytes have a price.
//!
//! Small messages want few steps at any volume, large ones little volume, which takes many parts. No formula predicts
//! what planners reach, so several numbers of parts are planned: those of `synth pareto` and the one that would be best
//! if its schedule met the bounds, as long as a part has a byte. For each, planners look for the least time, then for
//! the schedules of the curve that may beat the best so far:
//!
//! ```text
//!   seconds of the best  <=  alpha * steps + bytes / bandwidth * (least possible volume)      not planned
//! ```
//!
//! So nothing that `synth pareto` finds is faster, unless fewer steps took over 3 % less volume than more steps did,
//! which is not looked for. The numbers of parts come in the order of their least possible time, so that a time limit
//! cuts off the least promising ones.

use std::ops::RangeInclusive;

use crate::engine::curve::{Consumer, trace_bounded};
use crate::engine::parts::{as_float, best_parts, least_cost, reduces_to_all, useful_parts};
use crate::engine::planned::Plan;
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::model::addition::addition_depth;
use crate::model::control::Control;
use crate::model::cost::Price;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::has_many_ranks;
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// The share of the volume of more steps that fewer steps are assumed to need at least.
const LESS_IN_FEWER_STEPS: f64 = 0.97;

/// Finds the fastest schedule, no slower than `seed`.
///
/// # Errors
///
/// As [`synthesize`](crate::synthesize).
pub(super) fn quickest(
    topology: &Topology,
    kind: &Kind,
    goal: &Goal<'_>,
    price: Price,
    seed: Option<Plan>,
    control: &Control,
) -> Result<Plan, PlanError> {
    let mut found = Quickest { price, best: None };
    let mut failures = Vec::new();
    seed.into_iter().for_each(|plan| found.add(goal, plan));
    for (problem, bounds) in candidates(topology, kind, goal.parts, price, control)? {
        if found.is_over(control) || found.has_enough(bounds.least_steps() as usize, least_volume(&problem, &bounds)) {
            continue;
        }
        let goal = Goal { parts: Parts::Fixed(problem.parts()), ..*goal };
        let effort = Effort { only_quick: is_large(&problem) && found.best.is_some(), ..Effort::default() };
        match plan_bounded(problem.clone(), bounds.clone(), &goal, effort, control) {
            Ok(plan) => found.add(&goal, plan),
            Err(error) => failures.push(error),
        }
        let may_trace = goal.steps.is_none() && !effort.only_quick;
        if may_trace && control.stop().is_none() && !found.is_over(control) {
            failures.extend(trace_bounded(&problem, &bounds, &goal, control, &mut found).err());
        }
    }
    found.best.map(|(_, plan)| plan).ok_or_else(|| PlanError::of_all(failures))
}

/// Do searches for an all_reduce take minutes here, however few its parts?
fn is_large(problem: &Problem) -> bool {
    reduces_to_all(problem) && has_many_ranks(problem)
}

/// The problem in each number of parts to plan, the one with the least possible time first.
fn candidates(
    topology: &Topology,
    kind: &Kind,
    parts: Parts,
    price: Price,
    control: &Control,
) -> Result<Vec<(Problem, Bounds)>, PlanError> {
    let problem = |parts| -> Result<(Problem, Bounds), PlanError> {
        let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts })?;
        let bounds = control.bounds(&problem)?;
        Ok((problem, bounds))
    };
    let (whole, bounds) = problem(1)?;
    let mut numbers = match parts {
        Parts::Fixed(parts) => vec![parts],
        Parts::Auto | Parts::Enough => useful_parts(topology, kind, control)?,
    };
    if !matches!(parts, Parts::Fixed(_)) && kind.can_be_cut() {
        numbers.push(best_parts(&whole, &bounds, Some(price)).0);
    }
    if !matches!(parts, Parts::Fixed(_)) {
        // A part is at least a byte.
        numbers.retain(|&parts| u64::from(parts) <= price.message_bytes.max(1));
    }
    numbers.sort_unstable();
    numbers.dedup();
    // Stable: among equals, the fewest parts first.
    let cost = |parts| least_cost(&whole, &bounds, parts, Some(price));
    numbers.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    numbers.into_iter().map(problem).collect()
}

fn least_volume(problem: &Problem, bounds: &Bounds) -> Rational {
    Rational::new(bounds.least_width(problem.parts()).into(), problem.parts().into())
}

/// Keeps the fastest plan; among equals in steps and volume, the one whose sums are less deep, else the first.
struct Quickest {
    price: Price,
    best: Option<(f64, Plan)>,
}

impl Quickest {
    /// Is there a plan, and no time but to judge it?
    fn is_over(&self, control: &Control) -> bool {
        self.best.as_ref().is_some_and(|(_, plan)| control.planning(&plan.problem).stop().is_some())
    }

    fn takes_longer(&self, steps: usize, volume: f64) -> bool {
        self.best.as_ref().is_some_and(|(best, _)| *best <= self.price.seconds_for(steps, volume))
    }
}

impl Consumer for Quickest {
    fn has_enough(&self, steps: usize, volume: Rational) -> bool {
        self.takes_longer(steps, as_float(volume))
    }

    fn has_enough_below(&self, steps: RangeInclusive<usize>, least: Rational, seen: Rational) -> bool {
        self.takes_longer(*steps.start(), as_float(least).max(as_float(seen) * LESS_IN_FEWER_STEPS))
    }

    fn add(&mut self, _goal: &Goal<'_>, plan: Plan) {
        let seconds = self.price.seconds(&plan.problem, &plan.schedule);
        let figures = |plan: &Plan| {
            let width = Rational::new(plan.schedule.total_width().into(), plan.problem.parts().into());
            (plan.schedule.step_count(), width)
        };
        let depth = |plan: &Plan| addition_depth(&plan.problem, &plan.schedule);
        let shallower = |other: &Plan| figures(&plan) == figures(other) && depth(&plan) < depth(other);
        if self.best.as_ref().is_none_or(|(best, other)| seconds < *best || shallower(other)) {
            self.best = Some((seconds, plan));
        }
    }
}
