//! From a collective on a topology to a plan: chooses the number of parts.

use super::parts::best_parts;
use super::portfolio::plan_bounded;
use super::quickest::quickest;
use super::{Control, Goal, Parts, Plan, PlanError};
use crate::bound;
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// Plans a collective on a topology.
///
/// Where the best schedule is above the bound on the volume that cuts give, the flow LP is solved, if it has at most
/// [`FlowLimit::UNASKED`](bound::FlowLimit::UNASKED) variables after symmetries and is done within the time limit: its
/// bound may prove that the schedule is optimal, or narrow the gap. Where the problem is small and neither steps nor a
/// price are stated, a SAT solver is then asked for the last units of width (see [`Smt`](super::Smt)).
///
/// # Errors
///
/// A [`PlanError`]: the collective does not fit, the network is not connected, no planner applies or the one named does
/// not, the steps asked for are too few, or time ran out before there was a schedule.
pub fn synthesize(topology: &Topology, kind: &Kind, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let problem = |parts| Problem::new(topology.clone(), Collective { kind: kind.clone(), parts });
    match (goal.price, goal.parts) {
        (Some(price), _) => quickest(topology, kind, goal, price, control),
        (None, Parts::Fixed(parts)) => plan_problem(problem(parts)?, goal, control),
        (None, Parts::Auto) => {
            let whole = problem(1)?;
            let bounds = bound::find(&whole)?;
            let (parts, _) = best_parts(&whole, &bounds, None);
            let plan = plan_problem(problem(parts)?, goal, control)?;
            if parts == 1 || control.stop().is_some() {
                return Ok(plan);
            }
            // More parts are no use if planning them fell short of what whole messages reach.
            let coarse = plan_problem(whole, goal, control)?;
            Ok(if better(&coarse, &plan) { coarse } else { plan })
        }
    }
}

/// Plans a problem whose parts are fixed.
fn plan_problem(problem: Problem, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let bounds = bound::find(&problem)?;
    plan_bounded(problem, bounds, goal, control)
}

/// Has the first plan less volume, or as much in fewer steps?
fn better(first: &Plan, second: &Plan) -> bool {
    let figures =
        |plan: &Plan| (plan.schedule.step_count(), plan.schedule.total_width(), u64::from(plan.problem.parts()));
    let ((steps_1, width_1, parts_1), (steps_2, width_2, parts_2)) = (figures(first), figures(second));
    (width_1 * parts_2, steps_1) < (width_2 * parts_1, steps_2)
}
