//! Runs the planners that apply, one after another, on one problem.

mod apart;
mod machine;

use crate::engine::parts::reduces_to_all;
use crate::engine::planned::Plan;
use crate::engine::registry::planners;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::control::budget::Budget;
use crate::model::error::PlanError;
use crate::model::goal::Goal;
use crate::model::planner::{AutoUse, Outcome, Planner, arrivals, has_many_ranks};
use crate::model::sharper::SharperBounds;
use crate::model::task::Task;
#[cfg(feature = "smt")]
use crate::planners::smt::{LastUnits, NAME as SMT, last_units};
use crate::planners::trees::packed_trees::PackedTrees;
use apart::{Apart, plan_apart};
use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

/// How hard planning tries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effort<'a> {
    /// A total width that is near enough: below it only steps count. Planners run until a schedule is near.
    pub near: Option<u64>,
    /// Are planners that are not quick left out?
    pub only_quick: bool,
    /// Seconds that a schedule must beat, where time has a price and there is a plan.
    pub beat: Option<f64>,
    /// The work that searches may do in vain, if they share it with others.
    pub budget: Option<&'a Budget>,
}

/// The arrivals of an all_reduce above which some planners take minutes before they have a schedule.
const LONG: u64 = 2_000_000;

/// Plans a problem whose parts are fixed.
pub(crate) fn plan_problem(problem: Problem, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let bounds = control.bounds(&problem)?;
    plan_bounded(problem, bounds, goal, Effort::default(), control)
}

/// Plans a problem whose parts are fixed and whose bounds are known. Quick planners come first where a total width is
/// near enough, and where others may not have a schedule in time.
pub(crate) fn plan_bounded(
    problem: Problem,
    bounds: Bounds,
    goal: &Goal<'_>,
    effort: Effort<'_>,
    control: &Control,
) -> Result<Plan, PlanError> {
    let control = &control.planning(&problem);
    let sharper = SharperBounds::new(&problem, &bounds, control);
    let mut task = Task {
        problem: &problem,
        bounds: &bounds,
        sharper: Some(&sharper),
        steps: goal.steps,
        max_steps: goal.max_steps,
        price: goal.price,
        near: effort.near,
        incumbent: None,
        beat: effort.beat,
        only_quick: effort.only_quick,
        budget: effort.budget,
        seed: goal.seed,
    };
    // Refuses a goal that no planner can meet before any planner runs.
    task.steps_or(bounds.least_steps())?;
    let mut best: Option<(&'static str, Outcome)> = None;
    let apart = goal.planner.is_none().then(|| plan_apart(&task, goal.among, effort.only_quick, control)).flatten();
    let is_enough = apart.as_ref().is_some_and(|apart| apart.is_enough);
    if let Some(Apart { planner, outcome, .. }) = apart {
        control.found(planner, &problem, &bounds, &outcome.schedule);
        task.incumbent = Some((outcome.schedule.step_count(), outcome.schedule.total_width()));
        best = Some((planner, outcome));
    }
    let mut failures = Vec::new();
    for planner in candidates(&problem, goal, effort) {
        if is_enough || best.as_ref().is_some_and(|(_, outcome)| task.is_optimal(&outcome.schedule)) {
            break;
        }
        let is_near = best.as_ref().is_some_and(|(_, outcome): &(_, Outcome)| task.is_near(&outcome.schedule));
        if is_near && !planner.is_quick(&problem) {
            break;
        }
        // Among many ranks, even what is given up at once takes seconds to set up.
        let takes_long = goal.planner.is_none() && has_many_ranks(&problem) && !planner.is_quick(&problem);
        if let Some(stopped) = control.stop().filter(|_| takes_long) {
            failures.push(PlanError::Stopped { stopped });
            continue;
        }
        match planner.plan(&task, control) {
            Ok(outcome) => {
                if best.as_ref().is_none_or(|(_, other)| task.prefers(&outcome.schedule, &other.schedule)) {
                    control.found(planner.name(), &problem, &bounds, &outcome.schedule);
                    task.incumbent = Some((outcome.schedule.step_count(), outcome.schedule.total_width()));
                    best = Some((planner.name(), outcome));
                }
            }
            Err(error) => failures.push(error),
        }
    }
    let (mut planner, mut outcome) = best.ok_or_else(|| PlanError::of_all(failures))?;
    if goal.planner.is_none()
        && effort.near.is_none()
        && !effort.only_quick
        && !is_enough
        && outcome.schedule.total_width() > u64::from(bounds.least_width(problem.parts()))
    {
        (planner, outcome) = finished(goal, &task, planner, outcome, control);
    }
    let Outcome { mut schedule, stopped, account } = outcome;
    if let Some(steps) = goal.steps.filter(|_| problem.is_trivial()) {
        schedule = Schedule::of_widths((0..steps).map(|_| 1));
    }
    let gap = schedule.total_width() > u64::from(bounds.least_width(problem.parts()));
    // Another planner may have been cut short.
    let stopped = if gap && stopped == StopReason::Finished { control.stop().unwrap_or(stopped) } else { stopped };
    let bounds = if gap { sharper.sharp().clone() } else { bounds };
    Ok(Plan { problem, schedule, planner, bounds, stopped, account })
}

/// With the last units of width saved by a SAT solver, where it may be asked and finds how.
#[cfg(feature = "smt")]
fn finished(
    goal: &Goal<'_>,
    task: &Task<'_>,
    planner: &'static str,
    outcome: Outcome,
    control: &Control,
) -> (&'static str, Outcome) {
    if !goal.may_use(SMT) {
        return (planner, outcome);
    }
    match last_units(task, &outcome.schedule, control) {
        LastUnits::Found(found) => (SMT, found),
        LastUnits::Stopped(stopped) => (planner, Outcome { stopped, ..outcome }),
        LastUnits::Unknown => (planner, outcome),
    }
}

/// As it was found: this build has no SAT solver.
#[cfg(not(feature = "smt"))]
fn finished(
    _: &Goal<'_>,
    _: &Task<'_>,
    planner: &'static str,
    outcome: Outcome,
    _: &Control,
) -> (&'static str, Outcome) {
    (planner, outcome)
}

/// The planners to run, in this order.
fn candidates<'a>(problem: &Problem, goal: &Goal<'a>, effort: Effort<'_>) -> Vec<&'a dyn Planner> {
    let mut candidates: Vec<&dyn Planner> = match goal.planner {
        Some(planner) => vec![planner],
        None => goal.among.unwrap_or(planners()).to_vec(),
    };
    candidates.retain(|planner| match goal.planner {
        Some(planner) => goal.may_use(planner.name()),
        None => planner.auto_use() == AutoUse::Always,
    });
    if effort.near.is_some() || is_long(problem) {
        // Of a long one, packing takes longest of all.
        let packs = |planner: &dyn Planner| is_long(problem) && planner.name() == PackedTrees.name();
        candidates.sort_by_key(|&planner| (!planner.is_quick(problem), packs(planner)));
    }
    if effort.only_quick {
        candidates.retain(|planner| planner.is_quick(problem));
    }
    candidates
}

fn is_long(problem: &Problem) -> bool {
    reduces_to_all(problem) && arrivals(problem) > LONG
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;

    use super::*;

    /// Packing takes minutes among 4096 ranks, matching seconds. Elsewhere planners keep the order of the registry.
    #[test]
    fn a_long_all_reduce_is_matched_before_it_is_packed() {
        let place = |extents: &[u32], parts, name| {
            let torus = Topology::torus(extents).unwrap().fail_cable(0, 1).unwrap();
            let problem = Problem::new(torus, Collective { kind: Kind::AllReduce, parts }).unwrap();
            candidates(&problem, &Goal::default(), Effort::default())
                .iter()
                .position(|planner| planner.name() == name)
                .unwrap()
        };
        let order =
            |extents: &[u32], parts| place(extents, parts, "matching").cmp(&place(extents, parts, "packed_trees"));
        assert!(order(&[16, 16, 16], 963).is_lt());
        assert!(order(&[16, 16, 16], 1512).is_lt());
        assert!(order(&[4, 4, 4], 382).is_gt());
    }

    /// Of many ranks, however few the parts, what takes a step or a tree for each is not quick.
    #[test]
    fn many_ranks_leave_few_quick_planners() {
        let quick = |extents: &[u32]| {
            let torus = Topology::torus(extents).unwrap().fail_cable(0, 1).unwrap();
            let problem = Problem::new(torus, Collective { kind: Kind::AllReduce, parts: 12 }).unwrap();
            let effort = Effort { only_quick: true, ..Effort::default() };
            let found = candidates(&problem, &Goal::default(), effort);
            ["matching", "packed_trees", "ring_all_reduce", "composed"]
                .map(|name| found.iter().any(|planner| planner.name() == name))
        };
        assert_eq!(quick(&[16, 16, 16]), [true, false, false, false]);
        assert_eq!(quick(&[4, 4, 4]), [true; 4]);
    }

    /// When time is up, only what is quick is tried: writing a ring of 2116 ranks takes seconds.
    #[test]
    fn among_many_ranks_nothing_long_begins_late() {
        let late = Control::unlimited().with_deadline(std::time::Instant::now());
        let problem = |extents: &[u32], kind| {
            let torus = Topology::torus(extents).unwrap().fail_cable(0, 1).unwrap();
            Problem::new(torus, Collective { kind, parts: 1 }).unwrap()
        };
        let plan = |problem: Problem| {
            let bounds = Control::unlimited().bounds(&problem).unwrap();
            plan_bounded(problem, bounds, &Goal::default(), Effort::default(), &late).map(|plan| plan.planner)
        };
        assert!(plan(problem(&[4, 4], Kind::AllToAll)).is_ok());
        let stopped = PlanError::Stopped { stopped: StopReason::TimeLimit };
        assert_eq!(plan(problem(&[46, 46], Kind::AllGather)), Err(stopped));
    }
}
