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
//! scheduling, forward and backward in turn, leave hardly a link idle (`search`). A link of a rank with few others
//! is idle until the first sums come by, and finishes last: the next packing gives it fewer trees.
//!
//! Where links differ from their opposites, failed in one direction or wider there, a chunk has two trees, one up and
//! one down, that share only their root (`pairs`). How many fit is a linear program (Frank 1978), whose value may
//! exceed the bound of partitions by some percent: whether schedules that are no trees can do better is open.
//!
//! In groups, a tree joins the members of its group, over other ranks where that unloads links. Which rank is the root
//! matters where it has all the data, or wants it all: such trees are packed by the directions they use. Where groups
//! and machine are small, a linear program finds the best trees (`divided_trees`), and whole ones come close to it
//! (`whole`); its dual solution is a bound on any trees ([`tree_bound`](collsynth_bound::tree_bound)). Elsewhere, trees
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
//! Where a pass takes seconds, half a percent above the bound is enough: most often two passes reach it. Growing takes
//! O(parts * links * log links); in groups, and for pairs, that for each of up to 60 rounds. The program takes some
//! dozens of rounds, each with O(3^m * ranks) time for groups of m members. A pass takes O(parts * ranks) time and
//! memory.
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
mod centering;
mod hops;
mod interleaving;
mod joining;
mod packing;
mod pair;
mod pairs;
mod passes;
mod scheduling;
mod search;
mod timetable;
mod whole;

use fastrand::Rng;

use crate::model::account::StopReason;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner, arrivals, has_many_ranks};
use crate::model::task::Task;
use centering::center;
use collsynth_bound::divided_trees::{BOTH, Cables, Demand, Tree};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use hops::Hops;
use joining::Joining;
use packing::Packing;
use scheduling::{Scheduling, step_widths};
use whole::pack_exactly;

/// Packings of trees to schedule, each with more room where the one before left links idle.
const ATTEMPTS: u32 = 4;

/// Trees, counted at every rank, whose growth takes seconds: it is given up when time is up.
const LONG_GROWTH: u64 = 1_000_000;

/// The kinds planned in groups.
const IN_GROUPS: [&str; 6] =
    ["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce", "all_reduce_gathered"];

/// The planner of packed trees.
///
/// ```
/// use collsynth_bound as bound;
/// use collsynth_plan::{Control, PackedTrees, Planner, Task};
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

    fn scope(&self) -> Scope {
        Scope::of(&["all_reduce"]).in_groups(&IN_GROUPS)
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        arrivals(problem) <= LONG_GROWTH && !has_many_ranks(problem)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.steps_or(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let topology = problem.topology();
        problem.check_connected()?;
        let cables = Cables::new(topology);
        let live: Vec<u32> = topology.live_ranks().map(|rank| rank.0).collect();
        let least = task.bounds.least_width(problem.parts());
        // Packing alone takes seconds of large ones.
        if step_widths(task, least).is_empty() || task.budget.is_some_and(|budget| budget.is_spent(1)) {
            return Err(PlanError::takes_too_long(self.name()));
        }
        control.report(Progress { planner: self.name(), attempt: "packing", round: 0, remaining: 0 });
        let mut rng = Rng::with_seed(task.seed);
        let mut scheduling = Scheduling::new(task, control);
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
                let is_over =
                    cables.connect(&live) && self.of_cables(&cables, &live, &mut scheduling, &mut rng, control)?;
                let pairs = !cables.are_all_links(topology) && !is_over && pairs::are_worth_their_time(problem);
                if pairs || !scheduling.is_any() {
                    match self.of_links(problem, &live, least, &mut rng, control) {
                        Some(hops) => _ = scheduling.is_over(hops),
                        None if scheduling.is_any() => {}
                        None => return Err(stopped(control)),
                    }
                }
            }
        }
        let schedule = scheduling.into_schedule().ok_or_else(|| stopped(control))?;
        task.check_steps(self.name(), schedule.step_count())?;
        Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
    }
}

impl PackedTrees {
    /// Schedules a spanning tree for each part, over cables that join all ranks. Is there no need, or no time, for
    /// other packings?
    fn of_cables(
        &self,
        cables: &Cables,
        live: &[u32],
        scheduling: &mut Scheduling<'_>,
        rng: &mut Rng,
        control: &Control,
    ) -> Result<bool, PlanError> {
        let (problem, least) = (scheduling.task.problem, scheduling.least);
        let stop = || control.stop().is_some();
        let long = !self.is_quick(problem);
        let grown = Packing::grow(cables, live, problem.parts(), least, rng, &|| long && stop());
        let mut packing = grown.ok_or_else(|| stopped(control))?;
        // The schedule needs some of what is enough for its ends.
        let most = least + (scheduling.enough() - least) / 2;
        for most in most..most + ATTEMPTS {
            packing.repair(most, &stop);
            if long && stop() && !scheduling.is_any() {
                return Err(stopped(control));
            }
            center(&mut packing.trees);
            if scheduling.is_over(Hops::of_trees(cables, &packing.trees, BOTH)) {
                return Ok(true);
            }
            if !packing.reserve(&scheduling.idle()) {
                break;
            }
        }
        Ok(false)
    }

    /// A pair of trees for each part, where links differ from their opposites; `None` if time was up before all were
    /// grown.
    fn of_links(&self, problem: &Problem, live: &[u32], least: u32, rng: &mut Rng, control: &Control) -> Option<Hops> {
        let stop = || control.stop().is_some();
        let long = !self.is_quick(problem);
        pairs::pack(problem, live, least, rng, &|| long && stop(), &stop)
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
        let exact = pack_exactly(&joining, rng, &control.limit(), &stop);
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

/// Time was up before all trees were grown.
fn stopped(control: &Control) -> PlanError {
    PlanError::Stopped { stopped: control.stop().unwrap_or(StopReason::TimeLimit) }
}
