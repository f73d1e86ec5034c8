//! One planner at its best: those of its schedules that are worth comparing with other planners'.
//!
//! No number of parts is best: more parts mostly mean less volume and more steps, and the message size decides which is
//! faster. So the planner runs for several, and its [`Front`] is kept.

use std::collections::BTreeSet;

use crate::engine::driver::synthesize;
use crate::engine::front::Front;
use crate::engine::parts::best_parts;
use crate::engine::planned::Plan;
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::model::account::StopReason;
use crate::model::addition::addition_depth;
use crate::model::control::Control;
use crate::model::cost::Price;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::Planner;
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// Plans with one planner: for each number of parts, the least volume it finds and, if that takes more steps than the
/// bound, the fastest schedule at the first of the prices. Returns the schedules on the front, the fewest steps first,
/// each with the goal that reproduces it.
///
/// Without stated `parts`: whole messages, and the parts at which the planner reaches its best volume. If those are
/// unknown or too many, the parts at which the bounds promise most, by volume and for each price, and of those that are
/// too many the largest divisor that is not.
///
/// # Errors
///
/// The first [`PlanError`], if there is no schedule at all.
pub fn alternatives<'a>(
    planner: &'a dyn Planner,
    topology: &Topology,
    kind: &Kind,
    parts: Option<&[u32]>,
    prices: &[Price],
    seed: u64,
    control: &Control,
) -> Result<(Vec<(Goal<'a>, Plan)>, StopReason), PlanError> {
    let whole = Problem::new(topology.clone(), Collective::new(kind.clone()))?;
    planner.applies(&whole)?;
    let bounds = control.bounds(&whole)?;
    let parts: BTreeSet<u32> = match parts {
        Some(parts) => parts.iter().copied().collect(),
        None => parts_of(planner, &whole, &bounds, prices)?,
    };
    let (mut front, mut failure, mut stopped) = (Front::default(), None, StopReason::Finished);
    for parts in parts {
        let mut add = |goal: Goal<'a>, plan: Result<Plan, PlanError>| match plan {
            Ok(plan) => {
                if plan.stopped != StopReason::Finished {
                    stopped = plan.stopped;
                }
                let steps = plan.schedule.step_count();
                let volume = Rational::new(i128::from(plan.schedule.total_width()), i128::from(parts));
                front.insert(steps, volume, addition_depth(&plan.problem, &plan.schedule), (goal, plan));
                Some(steps)
            }
            Err(error) => {
                if let PlanError::Stopped { stopped: reason } = &error {
                    stopped = *reason;
                }
                failure.get_or_insert(error);
                None
            }
        };
        let goal = Goal { planner: Some(planner), parts: Parts::Fixed(parts), seed, ..Goal::default() };
        let problem = whole.with_parts(parts)?;
        let plan = plan_bounded(problem, bounds.clone(), &goal, Effort::default(), control);
        let steps = add(goal, plan);
        if let Some(&price) = prices.first()
            && steps.is_some_and(|steps| steps > bounds.least_steps() as usize)
        {
            let goal = Goal { price: Some(price), ..goal };
            add(goal, synthesize(topology, kind, &goal, control));
        }
    }
    let alternatives: Vec<(Goal<'a>, Plan)> = front.into_points().into_iter().map(|(_, _, found)| found).collect();
    match failure {
        Some(error) if alternatives.is_empty() => Err(error),
        _ => Ok((alternatives, stopped)),
    }
}

fn parts_of(
    planner: &dyn Planner,
    whole: &Problem,
    bounds: &Bounds,
    prices: &[Price],
) -> Result<BTreeSet<u32>, PlanError> {
    let mut parts = BTreeSet::from([1]);
    if !whole.collective().kind.can_be_cut() {
        return Ok(parts);
    }
    let (least_volume, most) = best_parts(whole, bounds, None);
    let natural = planner.natural_parts(whole);
    // Where the natural parts are too many, whole messages alone would understate the planner; a divisor keeps most
    // shares whole.
    parts.extend(natural.and_then(|natural| (1..=most).rev().find(|&parts| natural.is_multiple_of(parts))));
    if natural.is_none_or(|natural| natural > most) {
        parts.insert(least_volume);
        parts.extend(prices.iter().map(|&price| best_parts(whole, bounds, Some(price)).0));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planners::published::rings::Rings;
    use crate::planners::template::Template;

    fn find(planner: &dyn Planner, parts: Option<&[u32]>) -> Vec<(usize, u32)> {
        let topology = Topology::torus(&[5, 5]).unwrap();
        let found = alternatives(planner, &topology, &Kind::AllToAll, parts, &[], 0, &Control::unlimited()).unwrap().0;
        found.iter().map(|(_, plan)| (plan.schedule.step_count(), plan.problem.parts())).collect()
    }

    #[test]
    fn a_planner_chooses_its_parts() {
        // Whole messages take V = 15 in 4 steps; DimRotation needs a part for each dimension.
        assert_eq!(find(&Template, None), [(4, 1)]);
        assert_eq!(find(&Rings::DIM_ROTATION, None), [(4, 4)]);
        assert_eq!(find(&Rings::DIM_ROTATION, Some(&[1, 3])), [(4, 3)]);
    }

    #[test]
    fn refusals_are_returned() {
        let topology = Topology::torus(&[4]).unwrap();
        let plan = alternatives(&Rings::RING, &topology, &Kind::Barrier, None, &[], 0, &Control::unlimited());
        assert!(matches!(plan, Err(PlanError::NotApplicable { .. })));
    }
}
