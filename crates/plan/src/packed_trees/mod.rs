//! Packed trees: all-reduce on its bound, on any network of cables.
//!
//! # Idea
//!
//! Where every live cable leads both ways, an all-reduce along a spanning tree takes each of its cables once in each
//! direction: up to the root, where contributions are added, and back down. So it does not matter which rank is the
//! root, and the question is how many trees fit on the cables:
//!
//! ```text
//!   rate  =  min over partitions of  (cables between blocks) / (blocks - 1)       (Tutte; Nash-Williams)
//! ```
//!
//! which is the bound that certificates state for partitions. Trees are grown one after another over the least loaded
//! cables, then exchanged along augmenting paths until no cable has more than its share (`packing`). What is left is a
//! timetable for their hops: each takes its link for a unit of time, after the hops below it on the way up and the hop
//! above it on the way down. With hundreds of trees there is always something to do, and a few passes of list
//! scheduling, forward and backward in turn, leave hardly a link idle (`timetable`).
//!
//! # Applies
//!
//! All_reduce on any topology whose cables join all live ranks. Links that failed in one direction are not used, and of
//! a cable of unequal directions only as much as both have: [`SpanningTrees`](super::SpanningTrees) does better there.
//!
//! # Steps and volume
//!
//! Volume: on the bound, rounded up to a whole width, from some 250 parts on at 64 ranks; with few parts the ends of
//! the schedule, where trees begin and finish, cost some units. A rank that has lost most of its cables needs more
//! parts: what comes to it early must come from trees that hang from it. Steps: about the total width, as steps are 1
//! wide. Where steps have a price or a limit, wider ones are tried: they cost volume, since a link adds or copies in a
//! step, not both.
//!
//! # Complexity
//!
//! Growing takes O(parts * links * log links). A pass takes O(parts * ranks) time and memory.
//!
//! # Reference
//!
//! Tutte, "On the problem of decomposing a graph into n connected factors", 1961; Nash-Williams, "Edge-disjoint
//! spanning trees of finite graphs", 1961; Edmonds, "Minimum partition of a matroid into independent subsets", 1965. Li
//! and Willis, "An iterative scheduling technique for resource-constrained project scheduling", EJOR 1992.

mod cables;
mod hops;
mod packing;
mod timetable;

use std::cmp::Ordering;

use fastrand::Rng;

use crate::error::check_kind;
use crate::moves::Moves;
use crate::{Control, Outcome, PlanError, Planner, Progress, StopReason, Task};
use cables::Cables;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use hops::{Hops, UP};
use packing::Packing;
use timetable::{Search, Timetable};

/// Passes for each width of steps: most of the gain comes in the first dozen.
const PASSES: u32 = 24;

/// Trees, counted at every rank, whose growth takes seconds: it is given up when time is up.
const LONG_GROWTH: u64 = 1_000_000;

/// The planner of packed trees.
///
/// ```
/// use collsynth_plan::{Control, PackedTrees, Planner, Task, bound};
/// use collsynth_core::{collective::{Collective, Kind}, problem::Problem, topology::Topology};
///
/// let torus = Topology::torus(&[4, 4])?.fail_cable(0, 1)?.fail_cable(5, 9)?;
/// let problem = Problem::new(torus, Collective { kind: Kind::AllReduce, parts: 240 })?;
/// let bounds = bound::find(&problem)?;
/// let schedule = PackedTrees.plan(&Task::new(&problem, &bounds), &Control::unlimited())?.schedule;
/// assert_eq!(schedule.total_width(), u64::from(bounds.least_width(240)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PackedTrees;

impl Planner for PackedTrees {
    fn name(&self) -> &'static str {
        "packed_trees"
    }

    fn summary(&self) -> &'static str {
        "all_reduce on any network of cables, in many parts: trees that share all cables evenly"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check_kind(self.name(), problem, &["all_reduce"])
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        u64::from(problem.parts()) * problem.topology().live_rank_count() as u64 <= LONG_GROWTH
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.steps_or(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let topology = problem.topology();
        problem.check_connected(&collsynth_core::topology::Distances::new(topology))?;
        let (cables, live) = (Cables::new(topology), topology.live_ranks().map(|rank| rank.0).collect::<Vec<u32>>());
        if !cables.connect(&live) {
            let limit = "cables that lead both ways: without the others, not all ranks are joined".to_owned();
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let least = task.bounds.least_width(problem.parts());
        let stop = || control.stop().is_some();
        let report = |attempt: &str| {
            control.report(Progress { planner: self.name(), attempt, round: 0, remaining: 0 });
        };
        report("packing");
        let long = u64::from(problem.parts()) * live.len() as u64 > LONG_GROWTH;
        let mut rng = Rng::with_seed(task.seed);
        let grown = Packing::grow(&cables, &live, problem.parts(), least, &mut rng, &|| long && stop());
        let stopped = || PlanError::Stopped { stopped: control.stop().unwrap_or(StopReason::TimeLimit) };
        let mut packing = grown.ok_or_else(stopped)?;
        packing.repair(least, &stop);
        packing.center();
        if long && stop() {
            return Err(stopped());
        }
        let hops = Hops::new(&cables, &packing.trees);
        let mut best: Option<Timetable> = None;
        for step_width in step_widths(task, least) {
            report(&format!("steps of width {step_width}"));
            let search = Search { step_width, passes: PASSES, enough: least, seed: task.seed, stop: &stop };
            let found = search.run(&cables, &packing.trees, &hops);
            if best.as_ref().is_none_or(|best| compare(task, &found, best) == Ordering::Less) {
                best = Some(found);
            }
            if stop() {
                break;
            }
        }
        let schedule = write(problem, &packing, &hops, &cables, &best.expect("a width is tried"));
        task.check_steps(self.name(), schedule.step_count())?;
        Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
    }
}

/// The widths of steps worth trying: 1 for the least volume, and doubled where fewer steps are asked for.
fn step_widths(task: &Task<'_>, least: u32) -> Vec<u32> {
    let most = match (task.price, task.steps.or(task.max_steps)) {
        (Some(_), _) => least,
        (None, Some(steps)) => 4 * least.div_ceil(steps.max(1)),
        (None, None) => 1,
    };
    std::iter::successors(Some(1_u32), |width| width.checked_mul(2)).take_while(|&width| width <= most.max(1)).collect()
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

fn write(problem: &Problem, packing: &Packing<'_>, hops: &Hops, cables: &Cables, timetable: &Timetable) -> Schedule {
    let mut moves = Moves::new(timetable.widths.len());
    for (number, tree) in packing.trees.iter().enumerate() {
        for rank in 0..hops.ranks {
            let hop = number * hops.ranks + rank;
            if !hops.is_hop(hop) {
                continue;
            }
            for (way, times) in timetable.times.iter().enumerate() {
                let (from, op) = if way == UP { (rank as u32, Op::Reduce) } else { (tree.parent[rank], Op::Copy) };
                let link = cables.link_from(tree.cable[rank], from);
                moves.add(times[hop] as usize, link, op, [ChunkId(number as u32)]);
            }
        }
    }
    moves.write(problem.topology(), |step, _| Some(timetable.widths[step]))
}
