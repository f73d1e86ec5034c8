//! Schedules of packings: which widths of steps, and which packing, are best for the task.

use std::cmp::Ordering;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule};

use super::PackedTrees;
use super::hops::Hops;
use super::search::Search;
use super::timetable::Timetable;
use crate::model::control::{Control, Progress};
use crate::model::moves::Moves;
use crate::model::planner::Planner;
use crate::model::task::Task;
use collsynth_bound::divided_trees::UP;

/// Passes for each width of steps: most of the gain comes in the first dozen.
const PASSES: u32 = 24;
/// The same in groups, whose trees are fewer and less alike.
const PASSES_IN_GROUPS: u32 = 64;
/// The work of a hop in a pass, with its share of the packing.
const WORK_OF_A_HOP: u64 = 20;
/// Widths of steps in a row that take no less time than narrower ones, after which wider ones are not tried.
const WIDTHS_IN_VAIN: u32 = 2;
/// Where a pass takes seconds, a width above the bound by 1 in this many is enough.
const ENOUGH: u32 = 200;

/// The best timetable so far, of all packings.
pub(super) struct Scheduling<'a> {
    pub task: &'a Task<'a>,
    control: &'a Control,
    /// The total width of the bound.
    pub least: u32,
    /// Of each link, by its id.
    capacity: Vec<u32>,
    /// Does a pass take seconds? Then it is given up when time is up.
    long: bool,
    best: Option<(Timetable, Hops)>,
}

impl<'a> Scheduling<'a> {
    pub fn new(task: &'a Task<'a>, control: &'a Control) -> Self {
        let capacity = task.problem.topology().links().iter().map(|link| link.capacity).collect();
        let long = !PackedTrees.is_quick(task.problem);
        Self { task, control, least: task.bounds.least_width(task.problem.parts()), capacity, long, best: None }
    }

    /// The total width for which no other packing is tried.
    pub fn enough(&self) -> u32 {
        self.least + if self.long { self.least / ENOUGH } else { 0 }
    }

    /// Schedules a packing. Is there no need, or no time, for another?
    pub fn is_over(&mut self, hops: Hops) -> bool {
        let (task, control) = (self.task, self.control);
        let stop = || control.stop().is_some() || task.budget.is_some_and(|budget| budget.is_spent(1));
        let passes = if task.problem.groups().is_some() { PASSES_IN_GROUPS } else { PASSES };
        let enough = self.enough();
        let mut fastest: Option<Timetable> = None;
        let mut in_vain = 0;
        for step_width in step_widths(task, self.least) {
            let attempt = &format!("steps of width {step_width}");
            control.report(Progress { planner: PackedTrees.name(), attempt, round: 0, remaining: 0 });
            let search = Search { step_width, passes, enough, seed: task.seed, stop: &stop, always: !self.long };
            let found = search.run(&self.capacity, task.problem.parts() as usize, &hops);
            let Some(found) = found else { break };
            if let Some(budget) = task.budget {
                budget.spend(u64::from(passes) * hops.iter().count() as u64 * WORK_OF_A_HOP);
            }
            if fastest.as_ref().is_none_or(|fastest| compare(task, &found, fastest) == Ordering::Less) {
                fastest = Some(found);
                in_vain = 0;
            } else {
                in_vain += 1;
            }
            if stop() || (task.price.is_some() && in_vain == WIDTHS_IN_VAIN) {
                break;
            }
        }
        let Some(found) = fastest else { return true };
        let enough = task.near.map_or(enough, |near| enough.max(near as u32));
        let over = stop() || found.width() <= enough;
        if self.best.as_ref().is_none_or(|(best, _)| compare(task, &found, best) == Ordering::Less) {
            self.best = Some((found, hops));
        }
        over
    }

    /// For each link, by its id, the time that it is idle between hops of the best schedule, if that is why it finishes
    /// last.
    pub fn idle(&self) -> Vec<u32> {
        self.best.as_ref().map_or(Vec::new(), |(timetable, hops)| timetable.idle(hops, &self.capacity))
    }

    /// Is there a schedule?
    pub fn is_any(&self) -> bool {
        self.best.is_some()
    }

    /// The best schedule, if there was time for one.
    pub fn into_schedule(self) -> Option<Schedule> {
        let (timetable, hops) = self.best?;
        let mut moves = Moves::new(timetable.widths.len());
        for (hop, way) in hops.iter() {
            let op = if way == UP { Op::Reduce } else { Op::Copy };
            let chunk = ChunkId((hop / hops.ranks) as u32);
            moves.add(timetable.times[way][hop] as usize, hops.link_id(hop, way), op, [chunk]);
        }
        Some(moves.write(self.task.problem.topology(), |step, _| Some(timetable.widths[step])))
    }
}

/// The widths of steps worth trying: 1 for the least volume, and doubled where fewer steps are asked for. Where time
/// has a price, those that may pay.
pub(super) fn step_widths(task: &Task<'_>, least: u32) -> Vec<u32> {
    let most = match (task.price, task.steps.or(task.max_steps)) {
        (Some(_), _) => least,
        (None, Some(steps)) => 4 * least.div_ceil(steps.max(1)),
        (None, None) => 1,
    };
    let widths =
        std::iter::successors(Some(1_u32), |width| width.checked_mul(2)).take_while(|&width| width <= most.max(1));
    let fewest = |width| least.div_ceil(width).max(task.bounds.least_steps());
    let most = task.steps.or(task.max_steps).unwrap_or(u32::MAX);
    widths.filter(|&width| task.can_pay(fewest(width), least) && fewest(width) <= most).collect()
}

/// By time where it has a price; else those within the steps allowed first, then by width, then by steps.
fn compare(task: &Task<'_>, first: &Timetable, second: &Timetable) -> Ordering {
    let seconds = |found: &Timetable| {
        let (width, steps) = found.figures();
        task.price.map(|price| price.seconds_for(steps, f64::from(width) / f64::from(task.problem.parts())))
    };
    let most = task.steps.or(task.max_steps).map_or(usize::MAX, |most| most as usize);
    let key = |found: &Timetable| (found.widths.len() > most, found.figures());
    match (seconds(first), seconds(second)) {
        (Some(first), Some(second)) => first.total_cmp(&second),
        _ => key(first).cmp(&key(second)),
    }
}
