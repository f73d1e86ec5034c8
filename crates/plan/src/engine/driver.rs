//! From a collective on a topology to a plan: the choice of the number of parts.

use crate::engine::in_groups::{FEW_IN_GROUPS, MANY_IN_GROUPS, plan_finer, plan_in_groups};
use crate::engine::nearness::{better, better_in_enough, bound_of_all, gap, is_near, keep_better, near, near_width};
use crate::engine::parts::{best_parts, reduces_to_all, rungs, shares_vectors};
use crate::engine::planned::Plan;
use crate::engine::portfolio::{Effort, plan_bounded, plan_problem};
use crate::engine::quickest::quickest;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::{Planner, arrivals, has_many_ranks};
use crate::planners::matching::Matching;
use crate::planners::published::composed::Composed;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// A gap that more parts are not worth closing, as a share of the bound.
const CLOSE: f64 = 0.005;
/// The same in groups, where no closed form says how many parts are enough.
const CLOSE_IN_GROUPS: f64 = 0.03;
/// Messages in groups are cut further to close a gap, up to this number of chunks in all.
const MOST_CHUNKS_TO_CUT: u64 = 400;
/// The factor by which they are cut.
const MESSAGES_CUT: u32 = 4;
/// A composition takes less than a second for this many chunks of this many ranks, multiplied.
const MOST_CHUNKS_TO_COMPOSE: u64 = 1 << 15;
/// In this share of the parts that fit, an all_reduce among thousands of ranks is matched and judged within a second.
const FEW: u32 = 6;
/// An all_reduce is long if its steps are more than this many times the distance: up and down take twice.
const LONG: u64 = 4;

/// Plans a collective on a topology.
///
/// If the best schedule is above the volume bound that cuts give, the flow LP is solved, provided that it has at most
/// [`FlowLimit::UNASKED`](collsynth_bound::FlowLimit::UNASKED) variables after symmetries and finishes within the time
/// limit: its bound may prove the schedule optimal or narrow the gap. If the problem is small and neither steps nor a
/// price are stated, a SAT solver then tries to save the last units of width (see [`Smt`](crate::Smt)).
///
/// # Errors
///
/// A [`PlanError`]: the collective does not fit, the network is not connected, no planner applies or the one named does
/// not, the steps stated are too few, or time ran out before there was a schedule.
pub fn synthesize(topology: &Topology, kind: &Kind, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    if let (Some(steps), Some(most)) = (goal.steps, goal.max_steps)
        && steps > most
    {
        return Err(PlanError::Contradiction { steps, most });
    }
    let problem = |parts| Problem::new(topology.clone(), Collective { kind: kind.clone(), parts });
    let plan = match (goal.price, goal.parts) {
        (Some(price), parts) => {
            let free = if matches!(parts, Parts::Fixed(_)) { None } else { unlimited(&problem(1)?, goal, control) };
            // A part is at least a byte.
            let seed = free.filter(|plan| u64::from(plan.problem.parts()) <= price.message_bytes.max(1));
            quickest(topology, kind, goal, price, seed, control)
        }
        (None, Parts::Fixed(parts)) => plan_problem(problem(parts)?, goal, control),
        (None, Parts::Auto) => plan_in_parts(problem(1)?, goal, control),
        (None, Parts::Enough) => plan_in_enough(problem(1)?, goal, control),
    };
    // Whoever ran out of time may have been the next planner, or the next number of parts.
    plan.map(|plan| Plan { stopped: ended(&plan, control), ..plan })
}

/// Why a search ended that left this plan.
fn ended(plan: &Plan, control: &Control) -> StopReason {
    match plan.stopped {
        StopReason::Finished => control.planning(&plan.problem).stop().unwrap_or(StopReason::Finished),
        stopped => stopped,
    }
}

/// Plans in more and more parts until a schedule is near its bound, and once more if it is long. Numbers of parts that
/// promise no such schedule are left out. An all_reduce starts at the parts that just fit: where these do, planning is
/// quick, and both figures are good. Where steps are stated, no volume is near, and the first number has to do.
fn plan_in_enough(whole: Problem, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    if goal.planner.is_some() || !shares_vectors(&whole.collective().kind) {
        let goal = Goal { parts: Parts::Fixed(1), ..*goal };
        return match whole.groups().is_some() && goal.planner.is_none() {
            true => plan_in_groups(&whole, &goal, control).map(|plan| plan_finer(plan, &goal, control)),
            false => plan_problem(whole, &goal, control),
        };
    }
    let bounds = control.bounds(&whole)?;
    let is_reduced = reduces_to_all(&whole);
    let fitting = is_reduced.then(|| best_parts(&whole, &bounds, None).0);
    let rungs = rungs(&whole, &bounds, near(&whole) as f64 / 100.0);
    if goal.steps.is_some() || goal.max_steps.is_some() {
        let free = unlimited(&whole, goal, control);
        if let Some(plan) = free.as_ref().filter(|plan| is_near(plan, &bounds)) {
            return Ok(plan.clone());
        }
        let found = plan_problem(whole.with_parts(fitting.unwrap_or(rungs[0]))?, goal, control);
        let found = found.or_else(|error| free.clone().ok_or(error))?;
        return Ok(free.filter(|free| better(free, &found)).unwrap_or(found));
    }
    let steps = |plan: &Plan| plan.schedule.step_count() as u64;
    let is_short = |plan: &Plan| !is_reduced || steps(plan) <= LONG * u64::from(plan.bounds.least_steps());
    let is_over = |plan: &Plan| control.planning(&plan.problem).stop().is_some();
    // What takes matchings long takes the others minutes.
    let has_to_do = |plan: &Plan| is_short(plan) || !Matching.is_quick(&plan.problem);
    let mut best = match fitting {
        None => None,
        Some(fitting) => {
            let parts = parts_in_time(&whole, fitting, control)?;
            // Where time is short, it may do for few parts only.
            let is_hurried = control.is_limited() && has_many_ranks(&whole) && parts > fitting / FEW;
            let few = is_hurried.then(|| plan_fitting(&whole, fitting / FEW, &bounds, goal, control)).flatten();
            let plan = plan_fitting(&whole, parts, &bounds, goal, control);
            let plan =
                [plan, few].into_iter().flatten().reduce(|best, few| if better(&few, &best) { few } else { best });
            plan.map(|plan| cut_short(plan, fitting, control))
        }
    };
    if let Some(plan) = best.take_if(|plan| is_over(plan) || (is_near(plan, &bounds) && has_to_do(plan))) {
        return Ok(plan);
    }
    let finer = |plan: Plan| if whole.groups().is_some() { plan_finer(plan, goal, control) } else { plan };
    let mut was_near = false;
    for parts in rungs {
        let problem = whole.with_parts(parts)?;
        if let Some(best) = best.as_mut().filter(|_| !control.has_time_for(&problem)) {
            best.stopped = StopReason::TimeLimit;
            break;
        }
        let bounds = control.bounds(&problem)?;
        // Twice the parts may take far fewer steps, which planners that are quick often find.
        let near = Some(near_width(parts, bound_of_all(&bounds), near(&whole)));
        let is_large = is_reduced && has_many_ranks(&whole) && best.is_some();
        let effort = Effort { near, only_quick: was_near || is_large, ..Effort::default() };
        let is_quick = arrivals(&problem) <= FEW_IN_GROUPS;
        let found = plan_bounded(problem, bounds.clone(), goal, effort, control);
        let found = if is_quick { found } else { found.map(finer) };
        was_near |= found.as_ref().is_ok_and(|plan| is_near(plan, &bounds));
        match found {
            Ok(found) if best.as_ref().is_none_or(|best| better_in_enough(&found, best, &bounds)) => best = Some(found),
            Err(error) if best.is_none() => return Err(error),
            _ => {}
        }
        // In groups, more parts over the same routes have been tried.
        let has_to_do = |plan: &Plan| plan.problem.groups().is_some() && arrivals(&plan.problem) > MANY_IN_GROUPS;
        let enough = |plan: &Plan| (was_near && (effort.only_quick || is_short(plan))) || has_to_do(plan);
        if best.as_ref().is_some_and(|plan| enough(plan) || is_over(plan)) {
            break;
        }
    }
    Ok(finer(best.expect("there is a number of parts")))
}

/// Plans an all_reduce in these parts by matchings, which are as quick as they are good where parts just fit. If those
/// are not near the bound, or chunks are few, also by a composition with a part for every rank, where closed forms give
/// its halves: elsewhere it searches for up to a minute, and is nowhere near.
fn plan_fitting(whole: &Problem, parts: u32, bounds: &Bounds, goal: &Goal<'_>, control: &Control) -> Option<Plan> {
    let plan = |planner: &dyn Planner| {
        let goal = Goal { planner: Some(planner), ..*goal };
        plan_problem(whole.with_parts(parts).ok()?, &goal, control).ok()
    };
    let matched = plan(&Matching);
    let ranks = whole.topology().live_rank_count() as u64;
    let is_quick = u64::from(parts) * ranks <= MOST_CHUNKS_TO_COMPOSE;
    let is_near = matched.as_ref().is_some_and(|plan| is_near(plan, bounds));
    if u64::from(parts) < ranks || !Composed::has_closed_form(whole) || (is_near && !is_quick) {
        return matched;
    }
    [matched, plan(&Composed)]
        .into_iter()
        .flatten()
        .reduce(|best, found| if better(&found, &best) { found } else { best })
}

/// What is planned without a price and without limits on the steps, if it keeps those that are stated: limits and
/// prices should make nothing worse, and where time is short, it is there soon. Of an all_reduce alone; other kinds
/// either stay whole or take many steps.
fn unlimited(whole: &Problem, goal: &Goal<'_>, control: &Control) -> Option<Plan> {
    if goal.planner.is_some() || goal.steps.is_some() || !reduces_to_all(whole) {
        return None;
    }
    let free = Goal { max_steps: None, price: None, parts: Parts::Enough, ..*goal };
    let plan = plan_in_enough(whole.clone(), &free, control).ok()?;
    let most = goal.max_steps.map_or(usize::MAX, |most| most as usize);
    (plan.schedule.step_count() <= most).then_some(plan)
}

/// Plans in the parts that the bounds promise most of, then in twice as many (messages: four times) and so on while the
/// gap is not closed and what a schedule loses at its ends may be shared by more parts.
fn plan_in_parts(whole: Problem, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    if !whole.collective().kind.has_volume() {
        return plan_problem(whole, goal, control);
    }
    let bounds = control.bounds(&whole)?;
    let (fitting, most) = best_parts(&whole, &bounds, None);
    let mut parts = parts_in_time(&whole, fitting, control)?;
    let mut best = cut_short(plan_problem(whole.with_parts(parts)?, goal, control)?, fitting, control);
    // The parts tried may be two and a half times as many as those chosen from.
    let most = most + most / 4;
    let close = if whole.groups().is_some() { CLOSE_IN_GROUPS } else { CLOSE };
    let has_time = |best: &Plan| control.planning(&best.problem).stop().is_none();
    while gains_from_parts(&whole, parts) && gap(&best, &bounds) > close && parts <= most && has_time(&best) {
        parts *= if shares_vectors(&whole.collective().kind) { 2 } else { MESSAGES_CUT };
        let finer = whole.with_parts(parts)?;
        if !control.has_time_for(&finer) {
            best.stopped = StopReason::TimeLimit;
            break;
        }
        keep_better(&mut best, plan_problem(finer, goal, control));
    }
    // The search may do worse on more parts than on whole messages.
    if parts > 1 && has_time(&best) && gap(&best, &bounds) > CLOSE {
        keep_better(&mut best, plan_problem(whole, goal, control));
    }
    Ok(best)
}

/// These parts, or half, a quarter and so on: the most whose plan, judged in time, leaves time for planning.
fn parts_in_time(whole: &Problem, parts: u32, control: &Control) -> Result<u32, PlanError> {
    let mut parts = parts;
    while parts > 1 && !control.has_time_for(&whole.with_parts(parts)?) {
        parts = parts.div_ceil(2);
    }
    Ok(parts)
}

/// The plan, stopped if it has fewer parts than these, which the limit on time left no room for.
fn cut_short(plan: Plan, fitting: u32, control: &Control) -> Plan {
    let stopped = || control.stop().unwrap_or(StopReason::TimeLimit);
    let stopped = if plan.problem.parts() < fitting { stopped() } else { plan.stopped };
    Plan { stopped, ..plan }
}

/// May more parts share what a schedule loses at its ends? In groups messages do too, as long as there are few.
fn gains_from_parts(whole: &Problem, parts: u32) -> bool {
    let few = u64::from(whole.chunk_count()) * u64::from(parts) <= MOST_CHUNKS_TO_CUT;
    shares_vectors(&whole.collective().kind) || (whole.groups().is_some() && few)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Judging takes ten minutes for each part: half an hour is left for three.
    #[test]
    fn an_all_reduce_is_cut_in_as_many_parts_as_can_be_judged_in_time() {
        let torus = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let (now, minutes) = (Instant::now(), |minutes: u64| Duration::from_secs(60 * minutes));
        let limited = Control::unlimited()
            .with_deadline(now + minutes(60))
            .leaving(now, |problem| Duration::from_secs(600 * u64::from(problem.parts())));
        for parts in [Parts::Auto, Parts::Enough] {
            let plan = |control| synthesize(&torus, &Kind::AllReduce, &Goal { parts, ..Goal::default() }, control);
            let (whole, cut) = (plan(&Control::unlimited()).unwrap(), plan(&limited).unwrap());
            assert!(whole.problem.parts() > 3 && whole.stopped == StopReason::Finished);
            assert!(cut.problem.parts() <= 3 && cut.stopped == StopReason::TimeLimit);
        }
    }
}
