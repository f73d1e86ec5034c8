//! Messages and vectors in groups: in the fewest parts that may be near the bound, then over the same routes in more.

use crate::engine::nearness::{better, better_in_enough, bound_of_all, is_near, near, near_width};
use crate::engine::planned::Plan;
use crate::engine::portfolio::{Effort, plan_bounded, plan_problem};
use crate::engine::together::finer::Finer;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::Goal;
use crate::model::planner::arrivals;
use collsynth_core::certificate::{Bounds, Scope};
use collsynth_core::problem::Problem;

/// The fewest parts of a message in groups that could be near enough are looked for up to this number, and messages are
/// cut in parts up to this number of chunks in all.
const MOST_PARTS_IN_GROUPS: u32 = 64;
const MOST_CHUNKS_IN_GROUPS: u64 = 1 << 14;
/// Arrivals in groups from which on planning takes seconds for each number of parts.
pub(super) const MANY_IN_GROUPS: u64 = 100_000;
/// Arrivals in groups up to which another number of parts is planned in a moment, and takes fewer steps than the same
/// routes in more pieces.
pub(super) const FEW_IN_GROUPS: u64 = 10_000;
/// The numbers of parts tried.
const TRIES_IN_GROUPS: usize = 3;
/// The units of width in which routes are leveled, until a plan is near its bound: fewer take fewer steps.
const FINE: [u64; 3] = [50, 100, 200];

/// Plans messages in groups, whole first. The links that a group may use, beside those of its own, are seldom a whole
/// multiple of what its messages need: if whole ones are not near the bound, they are planned in the fewest parts that
/// could be, then in two and four times as many, while chunks are few.
pub(super) fn plan_in_groups(whole: &Problem, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let mut best = plan_problem(whole.clone(), goal, control)?;
    let bounds = best.bounds.clone();
    if goal.steps.is_some() || goal.max_steps.is_some() || !whole.collective().kind.can_be_cut() {
        return Ok(best);
    }
    let is_over = |plan: &Plan| control.planning(&plan.problem).stop().is_some();
    let near_in = |parts: u32| near_width(parts, bound_of_all(&bounds), near(whole));
    let may_be_near = |&parts: &u32| u64::from(bounds.least_width(parts)) <= near_in(parts);
    let fewest = (2..=MOST_PARTS_IN_GROUPS).find(may_be_near);
    for parts in std::iter::successors(fewest, |parts| Some(2 * parts)).take(TRIES_IN_GROUPS) {
        let few = u64::from(whole.chunk_count()) * u64::from(parts) <= MOST_CHUNKS_IN_GROUPS;
        if !few || is_near(&best, &bounds) || is_over(&best) {
            break;
        }
        let problem = whole.with_parts(parts)?;
        if !control.has_time_for(&problem) {
            best.stopped = StopReason::TimeLimit;
            break;
        }
        let near = Some(near_in(parts));
        let is_long = arrivals(&problem) > MANY_IN_GROUPS;
        let own = control.bounds(&problem)?;
        match plan_bounded(problem, own, goal, Effort { near, ..Effort::default() }, control) {
            Ok(found) if better_in_enough(&found, &best, &bounds) => best = found,
            _ => {}
        }
        // More parts over the same routes take less time.
        if is_long {
            break;
        }
    }
    Ok(best)
}

/// The same in more parts over the same routes, if it is not near its bound otherwise.
pub(super) fn plan_finer(plan: Plan, goal: &Goal<'_>, control: &Control) -> Plan {
    let kind = &plan.problem.collective().kind;
    if goal.steps.is_some() || goal.max_steps.is_some() || !kind.has_volume() || !kind.can_be_cut() {
        return plan;
    }
    if control.stop().is_some() || is_near(&plan, &plan.bounds) {
        return plan;
    }
    let least = u64::from(plan.bounds.least_width(plan.problem.parts())).max(1);
    let mut firsts = FINE.map(|fine| fine.div_ceil(least)).to_vec();
    firsts.dedup();
    let found = |first: u64| {
        let planning = &control.planning(&plan.problem);
        if planning.stop().is_some() {
            return None;
        }
        let near = |parts: u32| near_width(parts, bound_of_all(&plan.bounds), near(&plan.problem));
        let routes = (&plan.problem, &plan.schedule);
        let finer = Finer::new(routes, &plan.bounds, (first, near), goal.seed, planning)?;
        let problem = finer.problem().filter(|problem| control.has_time_for(problem))?;
        let schedule = finer.schedule(&problem, goal.seed, &control.planning(&problem))?;
        let is_of_all = plan.bounds.volume.as_ref().is_none_or(|bound| bound.scope() == Scope::AnyParts);
        let bounds = if is_of_all { plan.bounds.clone() } else { bounds_in_any_parts(&problem, control).ok()? };
        Some(Plan { problem, schedule, bounds, ..plan.clone() })
    };
    let mut best = plan.clone();
    for found in firsts.into_iter().filter_map(found) {
        if better(&found, &best) {
            best = found;
        }
        if is_near(&best, &best.bounds) {
            break;
        }
    }
    best
}

/// The best bounds of a problem that say the same for any number of parts. Metrics over time say more of some parts,
/// but take longer the more there are.
fn bounds_in_any_parts(problem: &Problem, control: &Control) -> Result<Bounds, PlanError> {
    let mut bounds = control.bounds(problem)?;
    let sharper = control.sharper(problem).filter(|found| found.at_least > bound_of_all(&bounds));
    bounds.volume = sharper.or(bounds.volume);
    Ok(bounds)
}
