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
//! In groups, a tree joins the members of its group, over other ranks where that unloads links. Which rank is the root
//! matters where it has all the data, or wants it all: such trees are packed by the directions they use. Where groups
//! and machine are small, a linear program finds the best trees (`divided_trees`), and whole ones come close to it
//! (`whole`); its dual solution is a bound on any trees ([`tree_bound`](crate::bound::tree_bound)). Elsewhere, trees
//! grow by prices (`joining`). Of both, the better counts.
//!
//! # Applies
//!
//! All_reduce on any topology whose cables join all live ranks; in groups also all_gather, reduce_scatter, broadcast
//! and reduce. Links that failed in one direction are not used, and of a cable of unequal directions only as much as
//! both have: [`SpanningTrees`](super::SpanningTrees) does better there.
//!
//! # Steps and volume
//!
//! Volume: on the bound, rounded up to a whole width, from some 250 parts on at 64 ranks; with few parts the ends of
//! the schedule, where trees begin and finish, cost some units. A rank that has lost most of its cables needs more
//! parts: what comes to it early must come from trees that hang from it. In groups, the program's trees are within a
//! unit or two of the best load; the ends of the schedule cost 2 to 8 units more. Steps: about the total width, as
//! steps are 1 wide. Where steps have a price or a limit, wider ones are tried: they cost volume, since a link adds or
//! copies in a step, not both.
//!
//! # Complexity
//!
//! Growing takes O(parts * links * log links), in groups O(chunks * links * log links) in each of up to 60 rounds. The
//! program takes some dozens of rounds, each with O(3^m * ranks) time for groups of m members. A pass takes O(parts *
//! ranks) time and memory.
//!
//! # Reference
//!
//! Tutte, "On the problem of decomposing a graph into n connected factors", 1961; Nash-Williams, "Edge-disjoint
//! spanning trees of finite graphs", 1961; Edmonds, "Minimum partition of a matroid into independent subsets", 1965. Li
//! and Willis, "An iterative scheduling technique for resource-constrained project scheduling", EJOR 1992. Takahashi
//! and Matsuyama, "An approximate solution for the Steiner problem in graphs", Math. Japonica 1980; Dreyfus and Wagner,
//! "The Steiner problem in graphs", Networks 1971; Gilmore and Gomory, "A linear programming approach to the
//! cutting-stock problem", Operations Research 1961; Plotkin, Shmoys and Tardos, "Fast approximation algorithms for
//! fractional packing and covering problems", 1995.

mod hops;
mod joining;
mod packing;
mod timetable;
mod whole;

use std::cmp::Ordering;

use fastrand::Rng;

use crate::divided_trees::{BOTH, Cables, Demand, Tree, UP};
use crate::error::check_name;
use crate::moves::Moves;
use crate::planner::arrivals;
use crate::{Control, Outcome, PlanError, Planner, Progress, StopReason, Task};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use hops::Hops;
use joining::Joining;
use packing::{Packing, center};
use timetable::{Search, Timetable};

/// Passes for each width of steps: most of the gain comes in the first dozen.
const PASSES: u32 = 24;
/// The same in groups, whose trees are fewer and less alike.
const PASSES_IN_GROUPS: u32 = 64;

/// Trees, counted at every rank, whose growth takes seconds: it is given up when time is up.
const LONG_GROWTH: u64 = 1_000_000;

/// The kinds planned in groups.
const IN_GROUPS: [&str; 6] =
    ["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce", "all_reduce_gathered"];

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
        "all_reduce, in groups also all_gather, broadcast, ..., in many parts: trees that share all cables evenly"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        match problem.groups() {
            Some(_) => check_name(self.name(), problem, &IN_GROUPS),
            None => check_name(self.name(), problem, &["all_reduce"]),
        }
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        arrivals(problem) <= LONG_GROWTH
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
        let cables = Cables::new(topology);
        let least = task.bounds.least_width(problem.parts());
        let stop = || control.stop().is_some();
        let report = |attempt: &str| {
            control.report(Progress { planner: self.name(), attempt, round: 0, remaining: 0 });
        };
        report("packing");
        let mut rng = Rng::with_seed(task.seed);
        let (ways, packings) = match problem.groups() {
            Some(_) => {
                let demand = Demand::new(problem, &cables);
                (demand.ways, self.of_groups(problem, &demand, least, &mut rng, control)?)
            }
            None => (BOTH, vec![self.of_all(problem, &cables, least, &mut rng, control)?]),
        };
        if !self.is_quick(problem) && stop() {
            return Err(stopped(control));
        }
        let passes = if problem.groups().is_some() { PASSES_IN_GROUPS } else { PASSES };
        let mut best: Option<(Timetable, Vec<Tree>, Hops)> = None;
        for trees in packings {
            let hops = Hops::new(&cables, &trees, ways);
            let mut fastest: Option<Timetable> = None;
            for step_width in step_widths(task, least) {
                report(&format!("steps of width {step_width}"));
                let search = Search { step_width, passes, enough: least, seed: task.seed, stop: &stop };
                let found = search.run(&cables, &trees, problem.parts() as usize, &hops);
                if fastest.as_ref().is_none_or(|fastest| compare(task, &found, fastest) == Ordering::Less) {
                    fastest = Some(found);
                }
                if stop() {
                    break;
                }
            }
            let found = fastest.expect("a width is tried");
            if best.as_ref().is_none_or(|(best, ..)| compare(task, &found, best) == Ordering::Less) {
                best = Some((found, trees, hops));
            }
            if stop() || best.as_ref().is_some_and(|(best, ..)| best.width() <= least) {
                break;
            }
        }
        let (timetable, trees, hops) = best.expect("there is a packing");
        let schedule = write(problem, &trees, &hops, &cables, &timetable);
        task.check_steps(self.name(), schedule.step_count())?;
        Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
    }
}

impl PackedTrees {
    /// A spanning tree for each part.
    fn of_all(
        &self,
        problem: &Problem,
        cables: &Cables,
        least: u32,
        rng: &mut Rng,
        control: &Control,
    ) -> Result<Vec<Tree>, PlanError> {
        let live: Vec<u32> = problem.topology().live_ranks().map(|rank| rank.0).collect();
        if !cables.connect(&live) {
            return Err(self.lacks_cables());
        }
        let stop = || control.stop().is_some();
        let long = !self.is_quick(problem);
        let grown = Packing::grow(cables, &live, problem.parts(), least, rng, &|| long && stop());
        let mut packing = grown.ok_or_else(|| stopped(control))?;
        packing.repair(least, &stop);
        center(&mut packing.trees);
        Ok(packing.trees)
    }

    /// Trees for all chunks, in their order: from a linear program where it is small, and grown by prices.
    fn of_groups(
        &self,
        problem: &Problem,
        demand: &Demand<'_>,
        least: u32,
        rng: &mut Rng,
        control: &Control,
    ) -> Result<Vec<Vec<Tree>>, PlanError> {
        let joining = Joining { demand, most: least.max(1) };
        let stop = || control.stop().is_some();
        let long = !self.is_quick(problem);
        let abandon = || long && stop();
        let grown = joining.pack(rng, &abandon, &stop);
        let grown = grown.ok_or_else(|| if abandon() { stopped(control) } else { self.lacks_cables() })?;
        let exact = joining.pack_exactly(rng, &control.limit(), &stop);
        let mut packings: Vec<Vec<Tree>> = exact.into_iter().chain([grown]).collect();
        if demand.ways == BOTH {
            packings.iter_mut().for_each(|trees| center(trees));
        }
        Ok(packings)
    }

    fn lacks_cables(&self) -> PlanError {
        let limit = "cables that lead both ways: without the others, not all ranks are joined".to_owned();
        PlanError::NotFound { planner: self.name(), limit }
    }
}

/// Time was up before all trees were grown.
fn stopped(control: &Control) -> PlanError {
    PlanError::Stopped { stopped: control.stop().unwrap_or(StopReason::TimeLimit) }
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

fn write(problem: &Problem, trees: &[Tree], hops: &Hops, cables: &Cables, timetable: &Timetable) -> Schedule {
    let mut moves = Moves::new(timetable.widths.len());
    for (number, tree) in trees.iter().enumerate() {
        for rank in 0..hops.ranks {
            let hop = number * hops.ranks + rank;
            if !hops.is_hop(hop) {
                continue;
            }
            for &way in hops.ways {
                let (from, op) = if way == UP { (rank as u32, Op::Reduce) } else { (tree.parent[rank], Op::Copy) };
                let link = cables.link_from(tree.cable[rank], from);
                moves.add(timetable.times[way][hop] as usize, link, op, [ChunkId(number as u32)]);
            }
        }
    }
    moves.write(problem.topology(), |step, _| Some(timetable.widths[step]))
}
