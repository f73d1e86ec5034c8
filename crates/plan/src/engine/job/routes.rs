//! Routes of each collective of a job: schedules that are planned alone, and anew where all together load the links of
//! some dimensions more than others.
//!
//! A collective in planes, say, leaves one dimension of a torus idle; sums over all ranks can use it instead of the
//! others. So collectives whose trees may go anywhere are planned once more on a machine whose links are as wide as the
//! others leave them room, and the routes are kept if the largest load of a link is less.

use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Schedule, Timetable};
use collsynth_core::topology::{Link, Shape, Topology, TopologySpec, Torus};

use super::JobGoal;
use crate::engine::portfolio::{Effort, plan_bounded};
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};

/// The capacity of the widest links while others are narrower.
const WIDEST: u64 = 8;
/// How often each collective is planned anew.
const ROUNDS: u32 = 2;
/// How far above the bound a load is near enough, in percent.
const NEAR: u64 = 2;

/// A schedule for each problem, none of which heeds the others in time.
///
/// # Errors
///
/// A [`PlanError`] if one of them cannot be planned.
pub(super) fn routes(
    problems: &[Problem],
    least: u64,
    goal: &JobGoal,
    control: &Control,
) -> Result<Vec<Schedule>, PlanError> {
    let alone = problems.iter().map(|problem| planned(problem.clone(), goal, control));
    let mut schedules = alone.collect::<Result<Vec<_>, _>>()?;
    let mut loads: Vec<Vec<u64>> = problems.iter().zip(&schedules).map(|(one, moves)| load(one, moves)).collect();
    for _ in 0..ROUNDS {
        for (number, problem) in problems.iter().enumerate() {
            let before = largest(problem.machine(), &loads);
            if before * 100 <= least * (100 + NEAR) || control.stop().is_some() {
                return Ok(schedules);
            }
            if problem.collective().kind.pattern() == Pattern::OneToOne {
                continue;
            }
            for machine in widened(problem.machine(), &loads, number) {
                let widened = Problem::new(machine, problem.collective().clone())?;
                let Ok(found) = planned(widened, goal, control) else { continue };
                let replaced = std::mem::replace(&mut loads[number], load(problem, &found));
                if largest(problem.machine(), &loads) < before {
                    schedules[number] = found;
                    break;
                }
                loads[number] = replaced;
            }
        }
    }
    Ok(schedules)
}

fn planned(problem: Problem, goal: &JobGoal, control: &Control) -> Result<Schedule, PlanError> {
    let bounds = control.bounds(&problem)?;
    let near = Some(u64::from(bounds.least_width(problem.parts())) * (100 + NEAR) / 100);
    let goal = Goal { parts: Parts::Fixed(problem.parts()), seed: goal.seed, ..Goal::default() };
    Ok(plan_bounded(problem, bounds, &goal, Effort { near, ..Effort::default() }, control)?.schedule)
}

/// The moves over each link.
fn load(problem: &Problem, schedule: &Schedule) -> Vec<u64> {
    schedule.carried(problem, &mut schedule.numbers())
}

/// The time that the busiest link needs for all of them.
fn largest(machine: &Topology, loads: &[Vec<u64>]) -> u64 {
    let time = |(index, link): (usize, &Link)| {
        let all: u64 = loads.iter().map(|load| load[index]).sum();
        all.div_ceil(u64::from(link.capacity))
    };
    machine.links().iter().enumerate().map(time).max().unwrap_or(0)
}

/// The torus with links as wide as all but one of the loads leave them room, if it were even: over all dimensions, and
/// over those that the one uses. None on other machines, or where that changes nothing.
fn widened(machine: &Topology, loads: &[Vec<u64>], number: usize) -> Vec<Topology> {
    let Some(torus) = machine.as_torus() else { return Vec::new() };
    let dims = torus.extents.len();
    // The average over the links of a dimension, in 2^-8.
    let average = |load: &[u64], dim: usize| {
        let of_dim = machine.links().iter().zip(load).filter(|(link, _)| {
            link.alive && link.direction.is_some_and(|direction| usize::from(direction.dim) == dim)
        });
        let (sum, room) =
            of_dim.fold((0, 0), |(sum, room), (link, load)| (sum + load, room + u64::from(link.capacity)));
        (sum << 8_u32).checked_div(room).unwrap_or(0)
    };
    let own: Vec<u64> = (0..dims).map(|dim| average(&loads[number], dim)).collect();
    let others: Vec<u64> = (0..dims)
        .map(|dim| (0..loads.len()).filter(|&one| one != number).map(|one| average(&loads[one], dim)).sum())
        .collect();
    let mut found: Vec<Vec<u32>> = Vec::new();
    for all in [true, false] {
        let used: Vec<usize> = (0..dims).filter(|&dim| torus.extents[dim] > 1 && (all || own[dim] > 0)).collect();
        let level = used.iter().map(|&dim| own[dim] + others[dim]).sum::<u64>() / (used.len() as u64).max(1);
        let room: Vec<u64> = (0..dims).map(|dim| level.saturating_sub(others[dim])).collect();
        let most = used.iter().map(|&dim| room[dim]).max().unwrap_or(0).max(1);
        let share = |dim: usize| if used.contains(&dim) { (room[dim] * WIDEST + most / 2) / most } else { 0 };
        let shares: Vec<u64> = (0..dims).map(|dim| share(dim).max(1)).collect();
        let common = shares.iter().copied().reduce(num_integer::gcd).unwrap_or(1);
        let wider = |(share, capacity): (&u64, &u32)| capacity.checked_mul((share / common) as u32);
        let capacity: Option<Vec<u32>> = shares.iter().zip(&torus.capacity).map(wider).collect();
        found.extend(capacity.filter(|capacity| *capacity != torus.capacity && !found.contains(capacity)));
    }
    let on = |capacity| {
        let shape = Shape::Torus(Torus { capacity, ..torus.clone() });
        Topology::new(TopologySpec { shape, ..machine.spec().clone() }).ok()
    };
    found.into_iter().filter_map(on).collect()
}
