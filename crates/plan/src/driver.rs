//! From a collective on a topology to a plan: the choice of the number of parts.

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
        (None, Parts::Auto) => {
            let whole = problem(1)?;
            let bounds = bound::find(&whole)?;
            let (parts, _) = best_parts(&whole, &bounds, None);
            let plan = plan_problem(problem(parts)?, goal, control)?;
            if parts == 1 || control.stop().is_some() {
                return Ok(plan);
            }
            // The search may do worse on more parts than on whole messages.
            let coarse = plan_problem(whole, goal, control)?;
            Ok(if better(&coarse, &plan) { coarse } else { plan })
        }
    }
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
