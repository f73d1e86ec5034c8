//! Arborescences: broadcast and reduce at the rate of the least cut, and in few steps.
//!
//! # Idea
//!
//! As many arborescences (directed spanning trees) as the least cut from the root allows lead from the root to all
//! ranks, no link in two of them. The parts of the message are dealt out to them and follow each other through each
//! tree: a link carries a new part in every step.
//!
//! ```text
//!   root -> a -> b      parts 0, 2, 4, ...        step    1    2    3    4
//!   root -> b -> a      parts 1, 3, 5, ...        root->a 0    2    4
//!                                                 a->b         0    2    4
//! ```
//!
//! Such a pipeline wastes the links far from the root at the beginning and those near it at the end, and the fewer
//! steps there are, the more. In few stated steps every part therefore also gets an arborescence of its own, in time
//! (see `in_time`): parts that set out early take deep trees, late ones shallow trees; steps differ in width. The
//! better of both schedules counts.
//!
//! ```text
//!   one part of a ring of 4     step 1   step 2   step 3        another     step 1   step 2   step 3
//!                               0 -> 1   1 -> 2   2 -> 3                             0 -> 3   0 -> 1
//!                                                                                             3 -> 2
//! ```
//!
//! A reduce is read backward in time over reversed links.
//!
//! # Applies
//!
//! Broadcast and reduce on any topology, with any failures. Capacities are counted in units of their greatest common
//! divisor, or in coarser units where that would give more than 64 arborescences. Trees in time are planned where steps
//! are stated, exactly or at most, in up to three times the distance of the farthest rank.
//!
//! # Steps and volume
//!
//! Through `k` arborescences of depth `d`, `n` parts take `S = ceil(n / k) + d - 1` steps of width 1: `V = S / n`,
//! which tends to the bound `1 / k` as the parts grow. Steps `w` times as wide are about `w` times fewer, and cost
//! `(w - 1) (d - 1)` more width; the price of time decides. On a 4x4x4 torus, `k = 6` and `d = 7`: the last rank on the
//! tree that begins with `x+` is a neighbor of the antipode, seven hops away along that tree.
//!
//! Trees in time have no closed form. A linear program of flows, one to each rank, bounds the volume in each number of
//! steps from below; on a 4x4 torus with a dead cable at the root (480 parts):
//!
//! ```text
//!   steps                       4       5       6       8      10      12
//!   flows                   0.917   0.667   0.583   0.476   0.433   0.410
//!   trees in time            1.01    0.71    0.62    0.51    0.47    0.44
//!   pipeline                    -    1.67    1.00    0.67    0.56    0.50
//! ```
//!
//! # Complexity
//!
//! Growing the trees takes O(k * links) searches for up to `k` paths; most are short. Making them shallow takes a fixed
//! number of moves of O(N) each at most. Trees in time take a fixed number of moves, each of which looks at the links
//! of the ranks it moves, mostly few; memory for each bundle of parts at every rank, and for each link in every step.
//!
//! # Reference
//!
//! Edmonds, "Edge-disjoint branchings", 1973; Lovasz, "On two minimax theorems in graph", JCTB 1976, whose proof is the
//! construction; Johnsson and Ho, "Optimum broadcasting and personalized communication in hypercubes", IEEE ToC 1989,
//! for the pipeline through several trees. Ford and Fulkerson, "Constructing maximal dynamic flows from static flows",
//! Operations Research 1958, for the network in time; Plotkin, Shmoys and Tardos, "Fast approximation algorithms for
//! fractional packing and covering problems", Mathematics of Operations Research 1995, for the exponential of loads;
//! Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 1983.

mod in_time;
mod packing;
mod shallow;

use fastrand::Rng;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::network::Network;
use crate::model::planner::best::Best;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use crate::search::pipeline::{Arborescence, pipelined};
use crate::search::rooted::Rooted;
use collsynth_bound::pace::Pace;
use collsynth_core::schedule::Schedule;
use packing::{MOST, Packing};
use shallow::Shallow;

/// The planner of arborescences, in a pipeline and in time.
///
/// ```
/// use collsynth_plan::{Arborescences, Control, Goal, Parts, synthesize};
/// use collsynth_core::{collective::Kind, topology::{RankId, Topology}};
///
/// let torus = Topology::torus(&[4, 4])?;
/// let plan = |parts, steps| {
///     let goal = Goal { planner: Some(&Arborescences), parts: Parts::Fixed(parts), steps, ..Goal::default() };
///     synthesize(&torus, &Kind::Broadcast(RankId(0)), &goal, &Control::unlimited()).map(|plan| plan.schedule)
/// };
/// // Four arborescences of depth 5 and 10 parts for each.
/// let pipeline = plan(40, None)?;
/// assert_eq!((pipeline.step_count(), pipeline.total_width()), (14, 14));
/// // In 5 steps a pipeline takes 60, one step after another: its shallowest arborescences have depth 5.
/// let few = plan(48, Some(5))?;
/// assert!(few.step_count() == 5 && few.total_width() <= 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Arborescences;

impl Planner for Arborescences {
    fn name(&self) -> &'static str {
        "arborescences"
    }

    fn summary(&self) -> &'static str {
        "broadcast, reduce on any network with any failures: pipelined edge-disjoint trees; in few steps, trees in time"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["broadcast", "reduce"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        task.steps_or(task.bounds.least_steps())?;
        let Some(rooted) = Rooted::new(task.problem)? else {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        };
        let mut best = Best::new(task);
        best.add(pipelined(self.name(), task, &rooted, control, |network, root| {
            arborescences(task, network, root, control)
        }));
        if let Some(steps) = in_time::steps(best.task()).filter(|_| !best.is_optimal()) {
            best.add(in_time::plan(self.name(), best.task(), &rooted, steps, control));
        }
        best.into_outcome()
    }
}

/// As many arborescences as the parts can use, as shallow as the search makes them, with the unit of their capacities;
/// `None` if it is stopped before there are any.
fn arborescences(task: &Task<'_>, network: &Network, root: u32, control: &Control) -> Option<(u32, Vec<Arborescence>)> {
    let stop = || control.stop().is_some();
    let pace = Pace::new(&stop);
    let divisor = network.capacity.iter().copied().fold(0, num_integer::gcd).max(1);
    let in_units = |unit: u32| -> Vec<u32> { network.capacity.iter().map(|capacity| capacity / unit).collect() };
    let packing = |unit| Packing::new(network, root, &in_units(unit), task.problem.parts().min(MOST), &pace);
    let (mut unit, mut best) = (divisor, packing(divisor)?);
    // At the limit, coarser units may carry more.
    while best.count() == MOST
        && let Some(coarser) = unit.checked_mul(2)
    {
        let found = packing(coarser)?;
        if u64::from(found.count()) * 2 <= u64::from(best.count()) {
            break;
        }
        (unit, best) = (coarser, found);
    }
    let mut rng = Rng::with_seed(task.seed);
    let trees = best.grow(&mut rng, &pace)?;
    let mut shallow = Shallow::new(network, root, in_units(unit), trees, rng);
    shallow.improve(control);
    Some((unit, shallow.into_arborescences()))
}

#[cfg(test)]
mod tests {
    use collsynth_bound as bound;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{RankId, Topology};

    use super::*;

    /// Neither way alone is narrower, in any number of steps.
    #[test]
    fn the_better_of_both_ways_counts() {
        let control = Control::unlimited();
        let torus = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let mut narrower = [0, 0];
        for (kind, parts) in [(Kind::Broadcast(RankId(0)), 7), (Kind::Reduce(RankId(5)), 48)] {
            let problem = Problem::new(torus.clone(), Collective { kind, parts }).unwrap();
            let bounds = bound::find(&problem).unwrap();
            let rooted = Rooted::new(&problem).unwrap().unwrap();
            for steps in bounds.least_steps()..=6 * bounds.least_steps() {
                let task = Task { max_steps: Some(steps), ..Task::new(&problem, &bounds) };
                let width = |found: Result<Outcome, PlanError>| found.map_or(u64::MAX, |of| of.schedule.total_width());
                let pipeline = width(pipelined("", &task, &rooted, &control, |network, root| {
                    arborescences(&task, network, root, &control)
                }));
                let steps = in_time::steps(&task).unwrap();
                let in_time = width(in_time::plan("", &task, &rooted, steps, &control));
                assert_eq!(
                    width(Arborescences.plan(&task, &control)),
                    pipeline.min(in_time),
                    "{parts} in {steps} steps"
                );
                narrower[0] += u32::from(pipeline < in_time);
                narrower[1] += u32::from(in_time < pipeline);
            }
        }
        assert!(narrower.iter().all(|&times| times > 0), "{narrower:?}");
    }
}
