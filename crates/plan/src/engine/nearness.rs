//! What is near enough to its bound, and which of two plans is better.

use std::cmp::Ordering;

use crate::engine::parts::{as_float, shares_vectors};
use crate::engine::planned::Plan;
use crate::model::addition::addition_depth;
use crate::model::error::PlanError;
use collsynth_core::certificate::{Bounds, Rational, Scope};
use collsynth_core::problem::Problem;

/// A gap that is near enough unless parts are stated, in percent.
const NEAR: i128 = 5;
/// The same in groups, except of vectors from or to a root, which lose most at their ends.
const NEAR_IN_GROUPS: i128 = 3;

/// Takes over a plan that is better; a failure, by the time limit say, leaves what there is.
pub(super) fn keep_better(best: &mut Plan, found: Result<Plan, PlanError>) {
    if let Ok(found) = found
        && better(&found, best)
    {
        *best = found;
    }
}

/// How far the volume lies above its bound, as a share of it.
pub(super) fn gap(plan: &Plan, bounds: &Bounds) -> f64 {
    plan.schedule.total_width() as f64 / f64::from(plan.problem.parts()) / as_float(bound_of(plan, bounds)) - 1.0
}

/// The bound on the volume for any number of parts: that of the plan, or the one found first.
fn bound_of(plan: &Plan, bounds: &Bounds) -> Rational {
    let own = plan.bounds.volume.as_ref().filter(|bound| bound.scope() == Scope::AnyParts);
    let bound = if plan.bounds.volume.is_some() { own.or(bounds.volume.as_ref()) } else { None };
    bound.map_or(Rational::ZERO, |bound| bound.at_least)
}

/// The bound on the volume, 0 if there is none.
pub(super) fn bound_of_all(bounds: &Bounds) -> Rational {
    bounds.volume.as_ref().map_or(Rational::ZERO, |bound| bound.at_least)
}

/// The gap that is near enough for a problem, in percent.
pub(super) fn near(problem: &Problem) -> i128 {
    let kind = &problem.collective().kind;
    let is_pipeline = kind.stated_root().is_some() && shares_vectors(kind);
    if problem.groups().is_some() && !is_pipeline { NEAR_IN_GROUPS } else { NEAR }
}

/// The largest total width at most `near` percent above a bound.
pub(super) fn near_width(parts: u32, bound: Rational, near: i128) -> u64 {
    let width = bound * Rational::new(i128::from(parts) * (100 + near), 100);
    u64::try_from(width.floor().to_integer()).unwrap_or(u64::MAX)
}

/// Is the gap near enough?
pub(super) fn is_near(plan: &Plan, bounds: &Bounds) -> bool {
    plan.schedule.total_width() <= near_width(plan.problem.parts(), bound_of(plan, bounds), near(&plan.problem))
}

/// Does the first plan take fewer steps if both are near their bound; else, is it better?
pub(super) fn better_in_enough(first: &Plan, second: &Plan, bounds: &Bounds) -> bool {
    let steps = |plan: &Plan| plan.schedule.step_count();
    if is_near(first, bounds) && is_near(second, bounds) { steps(first) < steps(second) } else { better(first, second) }
}

/// Does the first plan have less volume, or the same volume in fewer steps, or both the same and sums less deep?
pub(super) fn better(first: &Plan, second: &Plan) -> bool {
    let figures =
        |plan: &Plan| (plan.schedule.step_count(), plan.schedule.total_width(), u64::from(plan.problem.parts()));
    let ((steps_1, width_1, parts_1), (steps_2, width_2, parts_2)) = (figures(first), figures(second));
    let depth = |plan: &Plan| addition_depth(&plan.problem, &plan.schedule);
    match (width_1 * parts_2, steps_1).cmp(&(width_2 * parts_1, steps_2)) {
        Ordering::Equal => depth(first) < depth(second),
        order => order.is_lt(),
    }
}
