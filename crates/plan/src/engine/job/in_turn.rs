//! Jobs of collectives that run one after another: no job need be worse than that.

use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Job, Schedule};

use super::prospect::Prospect;
use super::{JobGoal, MOST_ARRIVALS_ALONE};
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::model::control::Control;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::arrivals;

/// Plans each collective alone, in messages cut so far, and has each begin when the one before has ended. `None` if
/// that takes long, or cannot be done in the steps stated.
pub(super) fn in_turn(whole: &Prospect, cut: u32, goal: &JobGoal, control: &Control) -> Option<Job> {
    let arrivals = whole.problems.iter().map(arrivals).sum::<u64>().saturating_mul(cut.into());
    if goal.steps.is_some() || arrivals > MOST_ARRIVALS_ALONE {
        return None;
    }
    let prospect = whole.cut(cut, control).ok()?;
    let planned = |problem: &Problem| {
        let goal = Goal { parts: Parts::Fixed(problem.parts()), seed: goal.seed, ..Goal::default() };
        let bounds = control.bounds(problem).ok()?;
        plan_bounded(problem.clone(), bounds, &goal, Effort::default(), control).ok().map(|plan| plan.schedule)
    };
    let alone = prospect.problems.iter().map(planned).collect::<Option<Vec<Schedule>>>()?;
    let steps: usize = alone.iter().map(Schedule::step_count).sum();
    if goal.max_steps.is_some_and(|most| steps > most as usize) {
        return None;
    }
    prospect.into_job((0..alone.len()).map(|turn| at_turn(&alone, turn)).collect()).ok()
}

/// The steps of one of them, and those of the others without transfers.
fn at_turn(alone: &[Schedule], turn: usize) -> Schedule {
    let mut builder = Schedule::builder();
    for (number, schedule) in alone.iter().enumerate() {
        for step in schedule.steps() {
            builder.step(step.width);
            for transfer in step.transfers.iter().filter(|_| number == turn) {
                let chunks = schedule.chunks(transfer).iter().copied();
                builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
            }
        }
    }
    builder.finish()
}
