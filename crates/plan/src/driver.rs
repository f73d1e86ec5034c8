//! Choosing planners, numbers of parts, and the better of two schedules.

use super::quickest::quickest;
use super::smt::{LastUnits, last_units};
use super::{
    Asked, Control, Outcome, Phase, PlanError, Planner, Refuted, SharperBounds, Smt, SmtWish, StopReason, Task,
    planner_named, planners,
};
use crate::bound;
use crate::cost::Price;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Schedule, Solution};
use collsynth_core::topology::Topology;

/// In how many parts a message is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// In so many.
    Fixed(u32),
    /// In the fewest at which whole chunks can meet the volume bound, as far as that stays small; else in those that
    /// come nearest. An all_reduce is cut finer, up to four parts a rank: where something failed, its trees come near
    /// the bound only then. Where time has a price, several numbers of parts are planned, and the schedule of least
    /// time is taken.
    Auto,
}

/// What somebody wants planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The planner's name; `None`: whichever does best.
    pub planner: Option<String>,
    /// Parts per message.
    pub parts: Parts,
    /// Exactly this many steps.
    pub steps: Option<u32>,
    /// At most this many steps.
    pub max_steps: Option<u32>,
    /// What time costs; `None`: the least volume, then the fewest steps.
    pub price: Option<Price>,
    /// Same wish and seed, same schedule.
    pub seed: u64,
    /// What is wished of the SMT planner; others do not look at it.
    pub smt: SmtWish,
}

impl Default for Wish {
    /// Whole messages, any planner, the least volume in the fewest steps that reach it.
    fn default() -> Self {
        Self {
            planner: None,
            parts: Parts::Fixed(1),
            steps: None,
            max_steps: None,
            price: None,
            seed: 0,
            smt: SmtWish::default(),
        }
    }
}

/// A schedule with the problem it was made for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The problem, with the number of parts chosen.
    pub problem: Problem,
    /// The schedule, not yet verified.
    pub schedule: Schedule,
    /// Who made it.
    pub planner: &'static str,
    /// What no schedule can beat.
    pub bounds: Bounds,
    /// Why planning stopped.
    pub stopped: StopReason,
    /// The phases of the schedule, where its planner works in phases; else none.
    pub phases: Vec<Phase>,
    /// What a solver has refuted, see [`Outcome::refuted`].
    pub refuted: Vec<Refuted>,
    /// Is it proven that nothing better exists, see [`Outcome::proven`]?
    pub proven: bool,
}

/// What the verifier is to look at; of where it came from, nothing is said.
impl From<Plan> for Solution {
    fn from(plan: Plan) -> Self {
        Self { problem: plan.problem, schedule: plan.schedule, bounds: plan.bounds, origin: None }
    }
}

/// The largest number of chunk hops that `Parts::Auto` plans for.
const AUTO_HOPS: u64 = 4_000_000;
/// The largest number of parts that `Parts::Auto` considers; for an all_reduce, so many for each rank if that is more,
/// as far as its trees have no more than so many hops.
const AUTO_PARTS: u32 = 128;
const AUTO_PARTS_PER_RANK: u32 = 4;
const AUTO_TREE_HOPS: u32 = 800_000;

/// Plans a collective on a topology.
///
/// Where the best schedule is above the bound on the volume that cuts give, the flow LP is solved, if it has at most
/// [`FlowLimit::UNASKED`](bound::FlowLimit::UNASKED) variables after symmetries and is done within the time limit: its
/// bound may prove that the schedule is optimal, or say better by how much it is not. Where little is to be moved and
/// nothing else is wished for, a SAT solver is then asked for the last units of width (see [`Smt`]).
///
/// # Errors
///
/// A [`PlanError`]: the collective does not fit, the network is not connected, no planner applies or the one named does
/// not, the steps asked for are too few, or time ran out before there was a schedule.
pub fn synthesise(topology: &Topology, kind: &Kind, wish: &Wish, control: &Control) -> Result<Plan, PlanError> {
    let problem = |parts| Problem::new(topology.clone(), Collective { kind: kind.clone(), parts });
    match (wish.price, wish.parts) {
        (Some(price), _) => quickest(topology, kind, wish, price, control),
        (None, Parts::Fixed(parts)) => plan_problem(problem(parts)?, wish, control),
        (None, Parts::Auto) => {
            let whole = problem(1)?;
            let bounds = bound::find(&whole)?;
            let (parts, _) = best_parts(&whole, &bounds, None);
            let plan = plan_problem(problem(parts)?, wish, control)?;
            if parts == 1 || control.stop().is_some() {
                return Ok(plan);
            }
            // More parts are no use if planning them fell short of what whole messages reach.
            let coarse = plan_problem(whole, wish, control)?;
            Ok(if better(&coarse, &plan) { coarse } else { plan })
        }
    }
}

/// Plans a problem whose parts are fixed.
fn plan_problem(problem: Problem, wish: &Wish, control: &Control) -> Result<Plan, PlanError> {
    let bounds = bound::find(&problem)?;
    plan_bounded(problem, bounds, wish, control)
}

/// Plans a problem whose parts are fixed and whose bounds are known.
pub(super) fn plan_bounded(
    problem: Problem,
    bounds: Bounds,
    wish: &Wish,
    control: &Control,
) -> Result<Plan, PlanError> {
    let sharper = SharperBounds::new(&problem, &bounds, control);
    let task = Task {
        problem: &problem,
        bounds: &bounds,
        sharper: Some(&sharper),
        steps: wish.steps,
        max_steps: wish.max_steps,
        price: wish.price,
        seed: wish.seed,
        smt: wish.smt,
    };
    // Wishes that no planner can meet are refused before any planner is asked.
    task.step_count(bounds.least_steps())?;
    let candidates: Vec<&dyn Planner> = match &wish.planner {
        Some(name) => vec![planner_named(name)?],
        None => {
            let asked = |planner: &&dyn Planner| match planner.asked() {
                Asked::Always => true,
                Asked::ForTime => wish.price.is_some(),
                Asked::ByName => false,
            };
            planners().iter().copied().filter(asked).collect()
        }
    };
    let mut best: Option<(&'static str, Outcome)> = None;
    let mut failures = Vec::new();
    for planner in candidates {
        match planner.plan(&task, control) {
            Ok(outcome) => {
                if best.as_ref().is_none_or(|(_, other)| task.prefers(&outcome.schedule, &other.schedule)) {
                    best = Some((planner.name(), outcome));
                }
            }
            Err(error) => failures.push(error),
        }
        if best.as_ref().is_some_and(|(_, outcome)| task.is_optimal(&outcome.schedule)) {
            break;
        }
    }
    let (mut planner, mut outcome) = best.ok_or_else(|| PlanError::of_all(failures))?;
    if wish.planner.is_none() && outcome.schedule.total_width() > u64::from(bounds.least_width(problem.parts())) {
        match last_units(&task, &outcome.schedule, control) {
            LastUnits::Found(found) => (planner, outcome) = (Smt.name(), found),
            LastUnits::Stopped(reason) => outcome.stopped = reason,
            LastUnits::Unknown => {}
        }
    }
    let Outcome { schedule, stopped, phases, refuted, proven } = outcome;
    let gap = schedule.total_width() > u64::from(bounds.least_width(problem.parts()));
    let bounds = if gap { sharper.sharp().clone() } else { bounds };
    Ok(Plan { problem, schedule, planner, bounds, stopped, phases, refuted, proven })
}

/// The fewest parts whose least whole width costs least, and the most that are within the limits.
pub(super) fn best_parts(whole: &Problem, bounds: &Bounds, price: Option<Price>) -> (u32, u32) {
    let hops = u64::from(whole.chunk_count()) * u64::from(bounds.least_steps().max(1));
    let most = match whole.collective().kind {
        Kind::AllReduce => {
            let ranks = whole.topology().live_rank_count().max(1) as u32;
            (AUTO_TREE_HOPS / ranks / 2).clamp(1, AUTO_PARTS.max(AUTO_PARTS_PER_RANK * ranks))
        }
        _ => u32::try_from(AUTO_HOPS / hops.max(1)).unwrap_or(u32::MAX).clamp(1, AUTO_PARTS),
    };
    // The first of equals.
    let cost = |parts: u32| least_cost(whole, bounds, parts, price);
    let best = (1..=most).min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    (best.unwrap_or(1), most)
}

/// The seconds of the best schedule that could be; without a price, its volume.
pub(super) fn least_cost(whole: &Problem, bounds: &Bounds, parts: u32, price: Option<Price>) -> f64 {
    let (steps, width) = least_figures(whole, bounds, parts);
    let volume = f64::from(width) / f64::from(parts);
    price.map_or(volume, |price| price.seconds_for(steps as usize, volume))
}

/// Steps and width of the best schedule that could be. Where all comes from, or goes to, one rank, the first parts have
/// the whole way before them until others can follow in steps of width 1. An all_reduce goes up and down again, both in
/// whole widths; unless all ranks do alike, each way is about 1 wider, since first and last some links have nothing to
/// do.
fn least_figures(whole: &Problem, bounds: &Bounds, parts: u32) -> (u32, u32) {
    let (steps, width) = (bounds.least_steps(), bounds.least_width(parts));
    if whole.collective().kind == Kind::AllReduce {
        let topology = whole.topology();
        let sound = topology.live_links().count() == topology.links().len();
        let alike = sound && parts.is_multiple_of(topology.rank_count() as u32);
        let way = width.div_ceil(2).max(steps).saturating_add(u32::from(!alike));
        return (steps.saturating_mul(2), way.saturating_mul(2));
    }
    let pipelined = matches!(whole.collective().kind, Kind::Broadcast(_) | Kind::Reduce(_));
    match bounds.volume.as_ref().filter(|_| pipelined && steps > 1) {
        Some(bound) => {
            let rounds = (bound.at_least * i128::from(parts)).ceil().to_integer();
            let width = u32::try_from(rounds).unwrap_or(u32::MAX).saturating_add(steps - 1);
            (width, width)
        }
        None => (steps, width),
    }
}

/// Has the first plan less volume, or as much in fewer steps?
fn better(first: &Plan, second: &Plan) -> bool {
    let figures =
        |plan: &Plan| (plan.schedule.step_count(), plan.schedule.total_width(), u64::from(plan.problem.parts()));
    let ((steps_1, width_1, parts_1), (steps_2, width_2, parts_2)) = (figures(first), figures(second));
    (width_1 * parts_2, steps_1) < (width_2 * parts_1, steps_2)
}
