//! Packed trees: all-reduce on its bound, on any network.
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
//! Where links differ from their opposites, failed in one direction or wider there, a chunk has two trees, one up and
//! one down, that share only their root (`pairs`). How many fit is a linear program (Frank 1978), whose value may
//! exceed the bound of partitions by some percent: whether schedules that are no trees can do better is open.
//!
//! In groups, a tree joins the members of its group, over other ranks where that unloads links. Which rank is the root
//! matters where it has all the data, or wants it all: such trees are packed by the directions they use. Where groups
//! and machine are small, a linear program finds the best trees (`divided_trees`), and whole ones come close to it
//! (`whole`); its dual solution is a bound on any trees ([`tree_bound`](crate::bound::tree_bound)). Elsewhere, trees
//! grow by prices (`joining`). Of both, the better counts.
//!
//! # Applies
//!
//! All_reduce on any topology; in groups, where cables join them, also all_gather, reduce_scatter, broadcast and
//! reduce. In groups, and on machines too large for `pairs`, links that failed in one direction are not used, and of a
//! cable of unequal directions only as much as both have.
//!
//! # Steps and volume
//!
//! Volume: on the bound, rounded up to a whole width, from some 250 parts on at 64 ranks; with few parts the ends of
//! the schedule, where trees begin and finish, cost some units. A rank that has lost most of its cables needs more
//! parts: what comes to it early must come from trees that hang from it. Pairs of trees take some 1500 parts to come
//! within half a percent of their linear program. In groups, the program's trees are within a unit or two of the best
//! load; the ends of the schedule cost 2 to 8 units more. Steps: about the total width, as steps are 1 wide. Where
//! steps have a price or a limit, wider ones are tried: they cost volume, since a link adds or copies in a step, not
//! both.
//!
//! # Complexity
//!
//! Growing takes O(parts * links * log links); in groups, and for pairs, that for each of up to 60 rounds. The program
//! takes some dozens of rounds, each with O(3^m * ranks) time for groups of m members. A pass takes O(parts * ranks)
//! time and memory.
//!
//! # Reference
//!
//! Tutte, "On the problem of decomposing a graph into n connected factors", 1961; Nash-Williams, "Edge-disjoint
//! spanning trees of finite graphs", 1961; Edmonds, "Minimum partition of a matroid into independent subsets", 1965. Li
//! and Willis, "An iterative scheduling technique for resource-constrained project scheduling", EJOR 1992. Takahashi
//! and Matsuyama, "An approximate solution for the Steiner problem in graphs", Math. Japonica 1980; Dreyfus and Wagner,
//! "The Steiner problem in graphs", Networks 1971; Gilmore and Gomory, "A linear programming approach to the
//! cutting-stock problem", Operations Research 1961; Plotkin, Shmoys and Tardos, "Fast approximation algorithms for
//! fractional packing and covering problems", 1995; Frank, "On disjoint trees and arborescences", 1978; Edmonds,
//! "Optimum branchings", J. Res. NBS 1967.

mod branching;
mod hops;
mod joining;
mod packing;
mod pairs;
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
use pairs::{FEWER, HIGHER, Pairs};
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
        let live: Vec<u32> = topology.live_ranks().map(|rank| rank.0).collect();
        let least = task.bounds.least_width(problem.parts());
        control.report(Progress { planner: self.name(), attempt: "packing", round: 0, remaining: 0 });
        let mut rng = Rng::with_seed(task.seed);
        let capacity = topology.links().iter().map(|link| link.capacity).collect();
        let mut scheduling = Scheduling { task, control, least, capacity, best: None };
        match problem.groups() {
            Some(_) => {
                let demand = Demand::new(problem, &cables);
                for trees in self.of_groups(problem, &demand, least, &mut rng, control)? {
                    if scheduling.is_over(Hops::of_trees(&cables, &trees, demand.ways)) {
                        break;
                    }
                }
            }
            None => {
                let mut is_over = false;
                if cables.connect(&live) {
                    let trees = self.of_all(problem, &cables, &live, least, &mut rng, control)?;
                    is_over = scheduling.is_over(Hops::of_trees(&cables, &trees, BOTH));
                }
                let pairs = !cables.are_all_links(topology) && !is_over;
                if scheduling.best.is_none() || (pairs && pairs::are_worth_their_time(problem)) {
                    self.of_links(&live, &mut scheduling, &mut rng)?;
                }
            }
        }
        let (timetable, hops) = scheduling.best.expect("there is a packing");
        let schedule = write(problem, &hops, &timetable);
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
        live: &[u32],
        least: u32,
        rng: &mut Rng,
        control: &Control,
    ) -> Result<Vec<Tree>, PlanError> {
        let stop = || control.stop().is_some();
        let long = !self.is_quick(problem);
        let grown = Packing::grow(cables, live, problem.parts(), least, rng, &|| long && stop());
        let mut packing = grown.ok_or_else(|| stopped(control))?;
        packing.repair(least, &stop);
        center(&mut packing.trees);
        if long && stop() {
            return Err(stopped(control));
        }
        Ok(packing.trees)
    }

    /// A pair of trees for each part, where links differ from their opposites.
    fn of_links(&self, live: &[u32], scheduling: &mut Scheduling<'_>, rng: &mut Rng) -> Result<(), PlanError> {
        let (problem, control) = (scheduling.task.problem, scheduling.control);
        let stop = || control.stop().is_some();
        let long = !self.is_quick(problem);
        let (parts, least) = (problem.parts(), scheduling.least);
        let few = |higher: f64, rng: &mut Rng| {
            let mut pairs = Pairs::grow(problem, live, parts.div_ceil(FEWER[0]), higher, &|| long && stop())?;
            pairs.balance(least.div_ceil(FEWER[0]), rng, &stop);
            Some(pairs)
        };
        let [shallow, light] = HIGHER.map(|higher| few(higher, rng));
        let (shallow, light) = shallow.zip(light).ok_or_else(|| stopped(control))?;
        let mut pairs = if shallow.is_about_as_light(&light) { shallow } else { light };
        for fewer in &FEWER[1..] {
            pairs.multiply(parts.div_ceil(*fewer));
            pairs.balance(least.div_ceil(*fewer), rng, &stop);
        }
        if long && stop() {
            return Err(stopped(control));
        }
        scheduling.is_over(pairs.hops());
        Ok(())
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
        if abandon() {
            return Err(stopped(control));
        }
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

/// The best timetable so far, of all packings.
struct Scheduling<'a> {
    task: &'a Task<'a>,
    control: &'a Control,
    least: u32,
    /// Of each link, by its id.
    capacity: Vec<u32>,
    best: Option<(Timetable, Hops)>,
}

impl Scheduling<'_> {
    /// Schedules a packing. Is there no need, or no time, for another?
    fn is_over(&mut self, hops: Hops) -> bool {
        let (task, control) = (self.task, self.control);
        let stop = || control.stop().is_some();
        let passes = if task.problem.groups().is_some() { PASSES_IN_GROUPS } else { PASSES };
        let mut fastest: Option<Timetable> = None;
        for step_width in step_widths(task, self.least) {
            let attempt = &format!("steps of width {step_width}");
            control.report(Progress { planner: PackedTrees.name(), attempt, round: 0, remaining: 0 });
            let search = Search { step_width, passes, enough: self.least, seed: task.seed, stop: &stop };
            let found = search.run(&self.capacity, task.problem.parts() as usize, &hops);
            if fastest.as_ref().is_none_or(|fastest| compare(task, &found, fastest) == Ordering::Less) {
                fastest = Some(found);
            }
            if stop() {
                break;
            }
        }
        let found = fastest.expect("a width is tried");
        let over = stop() || found.width() <= self.least;
        if self.best.as_ref().is_none_or(|(best, _)| compare(task, &found, best) == Ordering::Less) {
            self.best = Some((found, hops));
        }
        over
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

fn write(problem: &Problem, hops: &Hops, timetable: &Timetable) -> Schedule {
    let mut moves = Moves::new(timetable.widths.len());
    for (hop, way) in hops.iter() {
        let op = if way == UP { Op::Reduce } else { Op::Copy };
        let chunk = ChunkId((hop / hops.ranks) as u32);
        moves.add(timetable.times[way][hop] as usize, hops.link_id(hop, way), op, [chunk]);
    }
    moves.write(problem.topology(), |step, _| Some(timetable.widths[step]))
}
