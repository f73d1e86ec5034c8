//! Jobs of collectives that run one after another: no job has to be worse.

use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Job, Schedule};

use super::JobGoal;
use super::prospect::Prospect;
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::model::control::Control;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::arrivals;

/// Above this, planning each collective alone takes minutes.
const MOST_ARRIVALS: u64 = 100_000;

/// Plans each collective alone, and has each begin when the one before has ended. `None` if that takes long, or not in
/// the steps stated.
pub(super) fn in_turn(prospect: Prospect, goal: &JobGoal, control: &Control) -> Option<Job> {
    if goal.steps.is_some() || prospect.problems.iter().map(arrivals).sum::<u64>() > MOST_ARRIVALS {
        return None;
    }
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
