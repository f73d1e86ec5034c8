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
//! which is not looked for; or unless without a time limit the gain is not worth the work ([`Budget`]): then only quick
//! planners go on, and of large pipelines none ([`ENOUGH_OF_PIPELINES`]). The numbers of parts come in the order of
//! their least possible time, so that a time limit cuts off the least promising ones; but first of all the fewest that
//! could be [`AS_GOOD`]: they are planned soonest, and what others could gain then says how much work they are worth.

use std::ops::RangeInclusive;

use crate::engine::curve::{Consumer, trace_bounded};
use crate::engine::parts::{as_float, best_parts, least_cost, least_of_pipeline, reduces_to_all, useful_parts};
use crate::engine::planned::Plan;
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::model::addition::addition_depth;
use crate::model::control::Control;
use crate::model::control::budget::Budget;
use crate::model::cost::Price;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::{arrivals, has_many_ranks};
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// The share of the volume of more steps that fewer steps are assumed to need at least.
const LESS_IN_FEWER_STEPS: f64 = 0.97;

/// Parts whose least possible time is within this share of the least of all are as good to begin with.
const AS_GOOD: f64 = 0.02;

/// Without a time limit, a pipeline within this share of the best conceivable one is good enough if it has more
/// arrivals than this: each number of parts takes seconds to plan then, and others seldom gain a percent.
const ENOUGH_OF_PIPELINES: f64 = 0.05;
const MANY_ARRIVALS: u64 = 50_000;

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
    let mut found = Quickest { price, control, best: None };
    let mut failures = Vec::new();
    seed.into_iter().for_each(|plan| found.add(goal, plan));
    let candidates = candidates(topology, kind, goal.parts, price, control)?;
    let cost = |(problem, bounds): &(Problem, Bounds)| {
        price.seconds_for(bounds.least_steps() as usize, as_float(least_volume(problem, bounds)))
    };
    let least = candidates.iter().map(cost).min_by(f64::total_cmp);
    let mut budget: Option<Budget> = None;
    // What is left to gain falls with every better plan. Is it worth no more searches?
    let is_spent = |budget: &mut Option<Budget>, found: &Quickest| {
        let best = found.seconds().filter(|_| !control.is_limited());
        best.is_some_and(|best| {
            let budget = budget.get_or_insert_default();
            budget.allow(1.0 - least.unwrap_or(0.0) / best);
            budget.is_spent(1)
        })
    };
    let conceivable = |(problem, bounds): &(Problem, Bounds)| least_of_pipeline(problem, bounds, price);
    let conceivable = candidates.iter().filter_map(conceivable).min_by(f64::total_cmp);
    let has_to_do = |found: &Quickest| {
        let is_near = |seconds| conceivable.is_some_and(|least| seconds <= least * (1.0 + ENOUGH_OF_PIPELINES));
        let best = found.best.as_ref().filter(|_| !control.is_limited());
        best.is_some_and(|(seconds, plan)| is_near(*seconds) && arrivals(&plan.problem) > MANY_ARRIVALS)
    };
    for (problem, bounds) in candidates {
        if has_to_do(&found) {
            break;
        }
        if found.is_over(control) || found.has_enough(bounds.least_steps() as usize, least_volume(&problem, &bounds)) {
            continue;
        }
        let goal = Goal { parts: Parts::Fixed(problem.parts()), ..*goal };
        let only_quick = is_spent(&mut budget, &found) || (is_large(&problem) && found.best.is_some());
        let effort = Effort { only_quick, beat: found.seconds(), budget: budget.as_ref(), ..Effort::default() };
        match plan_bounded(problem.clone(), bounds.clone(), &goal, effort, control) {
            Ok(plan) => found.add(&goal, plan),
            Err(error) => failures.push(error),
        }
        let may_trace = goal.steps.is_none() && !only_quick && !is_spent(&mut budget, &found) && !has_to_do(&found);
        if may_trace && control.stop().is_none() && !found.is_over(control) {
            let effort = Effort { beat: found.seconds(), budget: budget.as_ref(), ..Effort::default() };
            let goal = Goal { max_steps: found.most_steps(&goal, least_volume(&problem, &bounds)), ..goal };
            failures.extend(trace_bounded(&problem, &bounds, &goal, effort, control, &mut found).err());
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
    let least = numbers.iter().map(|&parts| cost(parts)).min_by(f64::total_cmp);
    let as_good = least.unwrap_or(0.0) * (1.0 + AS_GOOD);
    let first = numbers.iter().position(|&parts| cost(parts) <= as_good);
    let first = first.map(|at| numbers.remove(at));
    numbers.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    let numbers = first.into_iter().chain(numbers);
    numbers.map(problem).collect()
}

fn least_volume(problem: &Problem, bounds: &Bounds) -> Rational {
    Rational::new(bounds.least_width(problem.parts()).into(), problem.parts().into())
}

/// Keeps the fastest plan; among equals in steps and volume, the one whose sums are less deep, else the first.
struct Quickest<'a> {
    price: Price,
    control: &'a Control,
    best: Option<(f64, Plan)>,
}

impl Quickest<'_> {
    /// Is there a plan, and no time but to judge it?
    fn is_over(&self, control: &Control) -> bool {
        self.best.as_ref().is_some_and(|(_, plan)| control.planning(&plan.problem).stop().is_some())
    }

    /// Seconds that a plan must beat.
    fn seconds(&self) -> Option<f64> {
        self.best.as_ref().map(|(seconds, _)| *seconds)
    }

    /// The most steps that may be worth planning for, if no schedule has less volume than this.
    fn most_steps(&self, goal: &Goal<'_>, least: Rational) -> Option<u32> {
        let for_steps = self.seconds().map(|beat| beat - self.price.seconds_for(0, as_float(least)));
        let most = for_steps.filter(|_| self.price.alpha > 0.0).map(|seconds| (seconds / self.price.alpha) as u32);
        most.into_iter().chain(goal.max_steps).min()
    }

    fn takes_longer(&self, steps: usize, volume: f64) -> bool {
        self.seconds().is_some_and(|beat| beat <= self.price.seconds_for(steps, volume))
    }
}

impl Consumer for Quickest<'_> {
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
        let better = self.best.as_ref().is_none_or(|(best, other)| seconds < *best || shallower(other));
        // What nobody has time to judge replaces nothing.
        if better && (self.best.is_none() || !self.control.is_too_late_for(&plan.problem)) {
            self.best = Some((seconds, plan));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    use collsynth_bound as bound;
    use collsynth_core::topology::RankId;

    use super::*;
    use crate::model::planner::scope::Scope;
    use crate::model::planner::{Outcome, Planner};
    use crate::model::task::Task;
    use crate::planners::published::composed::Composed;
    use crate::planners::rooted::arborescences::Arborescences;
    use crate::planners::trees::packed_trees::PackedTrees;
    use crate::planners::trees::spanning_trees::SpanningTrees;

    fn all_reduce(parts: u32) -> Problem {
        let torus = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        Problem::new(torus, Collective { kind: Kind::AllReduce, parts }).unwrap()
    }

    #[test]
    fn what_cannot_pay_is_not_looked_for() {
        let problem = all_reduce(16);
        let bounds = bound::find(&problem).unwrap();
        let task = Task { price: Some(Price::of(1 << 20)), ..Task::new(&problem, &bounds) };
        let planners: [&dyn Planner; 3] = [&PackedTrees, &Composed, &SpanningTrees];
        for planner in planners {
            let plan = |beat| planner.plan(&Task { beat, ..task.clone() }, &Control::unlimited());
            assert!(plan(Some(1.0)).is_ok(), "{}", planner.name());
            assert!(matches!(plan(Some(0.0)), Err(PlanError::NotFound { .. })), "{}", planner.name());
        }
    }

    #[test]
    fn a_spent_budget_ends_a_search() {
        let problem = all_reduce(16);
        let bounds = bound::find(&problem).unwrap();
        let mut budget = Budget::default();
        budget.allow(0.0);
        // In few steps: where trees may overlap, the first tries are good.
        let task = Task { max_steps: Some(9), ..Task::new(&problem, &bounds) };
        let width = |budget| {
            let found = SpanningTrees.plan(&Task { budget, ..task.clone() }, &Control::unlimited());
            found.unwrap().schedule.total_width()
        };
        assert!(width(Some(&budget)) > width(None), "{} {}", width(Some(&budget)), width(None));
        let packed =
            PackedTrees.plan(&Task { budget: Some(&budget), max_steps: None, ..task.clone() }, &Control::unlimited());
        assert!(matches!(packed, Err(PlanError::NotFound { .. })));
    }

    /// Plans as arborescences do, and counts how often.
    struct Counted(AtomicU32);

    impl Planner for Counted {
        fn name(&self) -> &'static str {
            "counted"
        }

        fn summary(&self) -> &'static str {
            Arborescences.summary()
        }

        fn scope(&self) -> Scope {
            Arborescences.scope()
        }

        fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
            self.0.fetch_add(1, Relaxed);
            Arborescences.plan(task, control)
        }
    }

    #[test]
    fn a_pipeline_near_the_best_conceivable_one_is_enough_where_planning_takes_long() {
        let torus = Topology::torus(&[4, 4, 8]).unwrap().fail_cable(0, 1).unwrap();
        let plans = |message_bytes| {
            let counted = Counted(AtomicU32::new(0));
            let among: [&dyn Planner; 1] = [&counted];
            let price = Price { message_bytes, alpha: 1e-6, bandwidth: 50e9 };
            let goal = Goal { price: Some(price), among: Some(&among), ..Goal::default() };
            crate::synthesize(&torus, &Kind::Broadcast(RankId(0)), &goal, &Control::unlimited()).unwrap();
            counted.0.into_inner()
        };
        assert_eq!(plans(256 << 20), 1);
        assert!(plans(64 << 10) > 3);
    }

    #[test]
    fn steps_that_cost_more_than_the_best_plan_are_not_planned() {
        let goal = Goal::default();
        let price = Price { message_bytes: 1000, alpha: 1.0, bandwidth: 1000.0 };
        let unlimited = Control::unlimited();
        let found = |planned: bool| {
            let best =
                planned.then(|| crate::synthesize(all_reduce(1).topology(), &Kind::AllReduce, &goal, &unlimited));
            Quickest { price, control: &unlimited, best: best.map(|plan| (10.0, plan.unwrap())) }
        };
        // 10 seconds, of which the volume takes 4.
        assert_eq!(found(true).most_steps(&goal, Rational::from(4)), Some(6));
        assert_eq!(found(true).most_steps(&Goal { max_steps: Some(3), ..goal }, Rational::from(4)), Some(3));
        assert_eq!(found(false).most_steps(&goal, Rational::from(4)), None);
    }
}
