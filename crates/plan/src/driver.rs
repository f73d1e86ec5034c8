//! From a collective on a topology to a plan: the choice of the number of parts.

use super::parts::best_parts;
use super::portfolio::plan_bounded;
use super::quickest::quickest;
use super::{Control, Goal, Parts, Plan, PlanError};
use crate::bound;
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// A gap that more parts are not worth closing, as a share of the bound.
const CLOSE: f64 = 0.005;

/// Plans a collective on a topology.
///
/// If the best schedule is above the volume bound that cuts give, the flow LP is solved, provided that it has at most
/// [`FlowLimit::UNASKED`](bound::FlowLimit::UNASKED) variables after symmetries and finishes within the time limit: its
/// bound may prove the schedule optimal or narrow the gap. If the problem is small and neither steps nor a price are
/// stated, a SAT solver then tries to save the last units of width (see [`Smt`](super::Smt)).
///
/// # Errors
///
/// A [`PlanError`]: the collective does not fit, the network is not connected, no planner applies or the one named does
/// not, the steps stated are too few, or time ran out before there was a schedule.
pub fn synthesize(topology: &Topology, kind: &Kind, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let problem = |parts| Problem::new(topology.clone(), Collective { kind: kind.clone(), parts });
    match (goal.price, goal.parts) {
        (Some(price), _) => quickest(topology, kind, goal, price, control),
        (None, Parts::Fixed(parts)) => plan_problem(problem(parts)?, goal, control),
        (None, Parts::Auto) => plan_in_parts(problem(1)?, goal, control),
    }
}

/// Plans in the parts that the bounds promise most of, then in twice as many and so on while the gap is not closed and
/// what a schedule loses at its ends may be shared by more parts.
fn plan_in_parts(whole: Problem, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let bounds = bound::find(&whole)?;
    let (mut parts, most) = best_parts(&whole, &bounds, None);
    let mut best = plan_problem(whole.with_parts(parts)?, goal, control)?;
    // Vectors that all ranks share; the parts tried may be twice as many as those chosen from.
    let shared = whole.collective().kind.owners() == 0 && whole.collective().kind.can_be_cut();
    while shared && gap(&best) > CLOSE && parts <= most && control.stop().is_none() {
        parts *= 2;
        keep_better(&mut best, plan_problem(whole.with_parts(parts)?, goal, control));
    }
    // The search may do worse on more parts than on whole messages.
    if parts > 1 && control.stop().is_none() && gap(&best) > CLOSE {
        keep_better(&mut best, plan_problem(whole, goal, control));
    }
    let stopped = control.stop().unwrap_or(best.stopped);
    Ok(Plan { stopped, ..best })
}

/// Takes over a plan that is better; a failure, by the time limit say, leaves what there is.
fn keep_better(best: &mut Plan, found: Result<Plan, PlanError>) {
    if let Ok(found) = found
        && better(&found, best)
    {
        *best = found;
    }
}

/// How far the volume lies above its bound, as a share of it.
fn gap(plan: &Plan) -> f64 {
    let (parts, bounds) = (plan.problem.parts(), &plan.bounds);
    let bound =
        bounds.volume.as_ref().map_or(0.0, |bound| *bound.at_least.numer() as f64 / *bound.at_least.denom() as f64);
    plan.schedule.total_width() as f64 / f64::from(parts) / bound - 1.0
}

fn plan_problem(problem: Problem, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let bounds = bound::find(&problem)?;
    plan_bounded(problem, bounds, goal, control)
}

/// Does the first plan have less volume, or the same volume in fewer steps?
fn better(first: &Plan, second: &Plan) -> bool {
    let figures =
        |plan: &Plan| (plan.schedule.step_count(), plan.schedule.total_width(), u64::from(plan.problem.parts()));
    let ((steps_1, width_1, parts_1), (steps_2, width_2, parts_2)) = (figures(first), figures(second));
    (width_1 * parts_2, steps_1) < (width_2 * parts_1, steps_2)
}
