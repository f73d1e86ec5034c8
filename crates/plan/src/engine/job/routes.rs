//! Routes of each collective of a job, planned alone.

use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

use super::{JobGoal, MOST_ARRIVALS_ALONE};
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::engine::together::hops::{Hop, enough_parts, hops, split};
use crate::engine::together::leveling::is_trees;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::{Planner, arrivals};
use crate::planners::trees::spanning_trees::SpanningTrees;

/// How far above the bound a plan of one of them is near enough, in percent; and one whose planners take long: all are
/// leveled together anyway.
const NEAR: u64 = 2;
const NEAR_OF_MANY: u64 = 8;

/// The moves of each problem, planned without regard to the others. A problem in many parts is planned in fewer, whose
/// chunks are then split.
///
/// # Errors
///
/// A [`PlanError`] if one of them cannot be planned.
pub(super) fn routes(problems: &[Problem], goal: &JobGoal, control: &Control) -> Result<Vec<Vec<Hop>>, PlanError> {
    let mut found = Vec::with_capacity(problems.len());
    for (number, problem) in problems.iter().enumerate() {
        let control = &control.one_share_of(narrow(problems.len() - number));
        let bounds = control.bounds(problem)?;
        let parts = enough_parts(problem, &bounds);
        let coarse = problem.with_parts(parts)?;
        let percent = if arrivals(&coarse) > MOST_ARRIVALS_ALONE { NEAR_OF_MANY } else { NEAR };
        let near = u64::from(bounds.least_width(parts)) * (100 + percent) / 100;
        let planned = |planner: Option<&dyn Planner>, only_quick: bool| {
            let goal = Goal { parts: Parts::Fixed(parts), seed: goal.seed, planner, ..Goal::default() };
            let effort = Effort { near: Some(near), only_quick, ..Effort::default() };
            Ok(plan_bounded(coarse.clone(), bounds.clone(), &goal, effort, control)?.schedule)
        };
        let width = |found: &Result<Schedule, PlanError>| found.as_ref().map_or(u64::MAX, Schedule::total_width);
        let quick = planned(None, true);
        let is_far = width(&quick) > near && arrivals(&coarse) <= MOST_ARRIVALS_ALONE && control.stop().is_none();
        let slow = (quick.is_err() || is_far).then(|| planned(None, false));
        let any = match slow {
            Some(slow) if width(&slow) < width(&quick) => slow?,
            _ => quick?,
        };
        let any = hops(problem, &any);
        // What ranks exchange at once cannot give way to others.
        let trees = match is_trees(&coarse, &any) {
            true => any,
            false => {
                let trees = planned(Some(&SpanningTrees), false).map(|found| hops(problem, &found));
                trees.ok().filter(|found| is_trees(&coarse, found)).unwrap_or(any)
            }
        };
        found.push(split(&trees, problem.parts() / parts));
    }
    Ok(found)
}
