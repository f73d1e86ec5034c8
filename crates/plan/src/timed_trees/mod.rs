//! Trees in time: broadcast and reduce in few steps, at little volume.
//!
//! # Idea
//!
//! A pipeline of equal steps wastes the links far from the root at the beginning and those near it at the end, and the
//! fewer steps there are, the more. Here every part has a tree of its own in the time-expanded network: each rank gets
//! the part over one of its links, in any step after the sender has it. Parts that set out early take deep trees, late
//! ones shallow trees; steps differ in width.
//!
//! ```text
//!   one part of a ring of 4     step 1   step 2   step 3        another     step 1   step 2   step 3
//!                               0 -> 1   1 -> 2   2 -> 3                             0 -> 3   0 -> 1
//!                                                                                             3 -> 2
//! ```
//!
//! The width of a step is the load of its fullest link. What is lowered, hop by hop, is a smooth bound on the sum of
//! the widths, `sum over steps of ln(sum over links of exp(r * load / capacity)) / r`, at a rate `r` that rises from
//! where all links count to where only the fullest do. A move gives one rank another link or step; ranks behind it are
//! delayed, and ranks before it hurry, as far as they must. Simulated annealing decides which moves to make.
//!
//! A reduce is read backward in time over reversed links.
//!
//! # Applies
//!
//! Broadcast and reduce on any topology with any failures, in a stated number of steps (exactly or at most), from the
//! distance of the farthest rank up to [`MOST_DEPTHS`] times as many: in more, [`Arborescences`](super::Arborescences)
//! are as narrow. Many parts share trees, in bundles of equal size.
//!
//! # Steps and volume
//!
//! No closed form. Flows to each rank that share the links' capacities prove how narrow a schedule of so many steps can
//! be at best; on a 4x4 torus with a dead cable at the root (480 parts):
//!
//! ```text
//!   steps                       4       5       6       8      10      12
//!   flows                   0.917   0.667   0.583   0.476   0.433   0.410
//!   trees in time            1.02    0.72    0.61    0.51    0.46    0.44
//!   arborescences               -    1.67    1.00    0.67    0.56    0.50
//! ```
//!
//! # Complexity
//!
//! A fixed number of moves; each looks at the links of the ranks it moves, few of them mostly. Memory for each bundle
//! at every rank, and for each link in every step.
//!
//! # Reference
//!
//! Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 1958, for the
//! network in time; Plotkin, Shmoys and Tardos, "Fast approximation algorithms for fractional packing and covering
//! problems", Mathematics of Operations Research 1995, for the exponential of loads; Kirkpatrick, Gelatt and Vecchi,
//! "Optimization by simulated annealing", Science 1983.

mod annealing;
mod trees;

use fastrand::Rng;

use crate::error::check_kind;
use crate::moves::Moves;
use crate::network::Network;
use crate::{Control, Outcome, PlanError, Planner, Progress, StopReason, Task};
use annealing::{Annealing, Rates};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use trees::TreesInTime;

/// The most steps, in distances of the farthest rank from the root.
const MOST_DEPTHS: u32 = 3;
/// Moves tried in all: some tenths of a second's worth. Eight times as many save 5 %.
const MOVES: u64 = 2_000_000;
/// Moves tried for every rank of every bundle: at least, which limits the bundles, and at most.
const MOVES_PER_HOP: (u64, u64) = (125, 1_000);
/// Bundles are not fewer for lack of moves.
const LEAST_BUNDLES: u64 = 16;
/// Small problems begin anew, at most this often in all.
const MOST_RUNS: u64 = 4;

/// The planner of trees in time.
///
/// ```
/// use collsynth_plan::{Control, Goal, Parts, TimedTrees, synthesize};
/// use collsynth_core::{collective::Kind, topology::{RankId, Topology}};
///
/// let goal = Goal { planner: Some(&TimedTrees), parts: Parts::Fixed(48), steps: Some(5), ..Goal::default() };
/// let kind = Kind::Broadcast(RankId(0));
/// let schedule = synthesize(&Topology::torus(&[4, 4])?, &kind, &goal, &Control::unlimited())?.schedule;
/// assert_eq!(schedule.step_count(), 5);
/// // Arborescences need 60: the shallowest have depth 5, so all of them pass in one step after another.
/// assert!(schedule.total_width() <= 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TimedTrees;

impl Planner for TimedTrees {
    fn name(&self) -> &'static str {
        "timed_trees"
    }

    fn summary(&self) -> &'static str {
        "broadcast, reduce on any network with any failures, in few stated steps: a tree in time for each part"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check_kind(self.name(), problem, &["broadcast", "reduce"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.steps_or(task.bounds.least_steps())?;
        let Some(root) = problem.collective().kind.root().filter(|_| !problem.is_trivial()) else {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        };
        let network = Network::new(problem);
        problem.check_connected(&network.distances)?;
        let collected = problem.collective().kind.is_to_root();
        let network = if collected { Network::reversed(problem) } else { network };
        let steps = self.steps(task)?;
        let parts = problem.parts();
        let size = bundle_size(parts, problem.topology().live_rank_count() as u64 - 1);
        // A bundle takes its size in each of its steps.
        let narrowest = u64::from(size) * u64::from(task.bounds.least_steps());
        if task.incumbent.is_some_and(|(_, width)| width <= narrowest) {
            let limit = format!("{narrowest} units, in bundles of {size} parts");
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let bundles = parts.div_ceil(size);
        let trees = best_trees(self.name(), &network, root.0, (steps, bundles), task.seed, control);
        let op = if collected { Op::Reduce } else { Op::Copy };
        let mut moves = Moves::new(steps as usize);
        for bundle in 0..bundles {
            let chunks = bundle * size..(bundle * size + size).min(parts);
            for (link, step) in trees.hops(bundle) {
                moves.add(step as usize, network.ids[link as usize], op, chunks.clone().map(ChunkId));
            }
        }
        if collected {
            moves.reverse();
        }
        let keeps_idle = task.steps.is_some();
        let width = |_, needed: u32| (needed > 0 || keeps_idle).then_some(needed.max(1));
        Ok(Outcome::new(moves.write(problem.topology(), width), control.stop().unwrap_or(StopReason::Finished)))
    }
}

impl TimedTrees {
    /// The steps stated, as far as they are of use. Where none are stated and others have a schedule, that is narrower.
    fn steps(&self, task: &Task<'_>) -> Result<u32, PlanError> {
        let most = task.bounds.least_steps() * MOST_DEPTHS;
        let limit = match (task.steps, task.max_steps.or(task.steps)) {
            (Some(steps), _) if steps > most => {
                format!("{steps} steps: in more than {most}, plan with `arborescences`")
            }
            (_, None) if task.incumbent.is_some() => format!("{most} steps that is narrower than others in more"),
            (_, stated) => return Ok(stated.unwrap_or(most).min(most)),
        };
        Err(PlanError::NotFound { planner: self.name(), limit })
    }
}

/// The parts of a bundle: as few as leave moves enough for the hops of all bundles.
fn bundle_size(parts: u32, hops: u64) -> u32 {
    let bundles = (MOVES / (MOVES_PER_HOP.0 * hops)).max(LEAST_BUNDLES);
    u64::from(parts).div_ceil(bundles) as u32
}

/// The narrowest of some runs.
fn best_trees<'a>(
    planner: &'static str,
    network: &'a Network,
    root: u32,
    (steps, bundles): (u32, u32),
    seed: u64,
    control: &Control,
) -> TreesInTime<'a> {
    let mut rng = Rng::with_seed(seed);
    let first = TreesInTime::new(network, root, (steps, bundles), &mut rng);
    let hops = first.hop_count().max(1);
    let moves = (MOVES / hops).clamp(1, MOVES_PER_HOP.1) * hops;
    let runs = (MOVES / moves).clamp(1, MOST_RUNS);
    let mut best: Option<TreesInTime<'_>> = None;
    for run in 0..runs {
        let start = if run == 0 { first.clone() } else { TreesInTime::new(network, root, (steps, bundles), &mut rng) };
        let mut annealing = Annealing::new(start, rng.fork(), Rates::default());
        let found = annealing.run(moves, &mut |left| {
            control.report(Progress { planner, attempt: "annealing", round: run, remaining: left });
            control.stop().is_some()
        });
        if best.as_ref().is_none_or(|best| found.width() < best.width()) {
            best = Some(found);
        }
        if control.stop().is_some() {
            break;
        }
    }
    best.unwrap_or(first)
}
