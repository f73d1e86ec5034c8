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
//! distance of the farthest rank up to [`MOST_DEPTHS`] times as many: in more, [`Arborescences`](crate::Arborescences)
//! are nearly as narrow. Many parts share trees, in bundles of equal size.
//!
//! # Steps and volume
//!
//! No closed form. A linear program of flows, one to each rank, bounds the volume in each number of steps from below;
//! on a 4x4 torus with a dead cable at the root (480 parts):
//!
//! ```text
//!   steps                       4       5       6       8      10      12
//!   flows                   0.917   0.667   0.583   0.476   0.433   0.410
//!   trees in time            1.01    0.71    0.62    0.51    0.47    0.44
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

use crate::model::account::StopReason;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use crate::search::rooted::Rooted;
use annealing::{Annealing, Rates};
use collsynth_core::schedule::Schedule;
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
const MOST_RUNS: u64 = 8;

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

    fn scope(&self) -> Scope {
        Scope::of(&["broadcast", "reduce"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        task.steps_or(task.bounds.least_steps())?;
        let Some(rooted) = Rooted::new(task.problem)? else {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        };
        let steps = self.steps(task)?;
        let parts = task.problem.parts();
        let size = bundle_size(parts, task.problem.topology().live_rank_count() as u64 - 1);
        // A bundle takes its size in each of its steps.
        let narrowest = u64::from(size) * u64::from(task.bounds.least_steps());
        if task.incumbent.is_some_and(|(_, width)| width <= narrowest) {
            let limit = format!("{narrowest} units, in bundles of {size} parts");
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let bundles = parts.div_ceil(size);
        let trees = best_trees(self.name(), &rooted, (steps, bundles), task.seed, control);
        let schedule = rooted.write(task, steps as usize, |hop| {
            for bundle in 0..bundles {
                let chunks = bundle * size..(bundle * size).saturating_add(size).min(parts);
                trees.hops(bundle).for_each(|(link, step)| hop(step as usize, link, chunks.clone()));
            }
        });
        Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
    }
}

impl TimedTrees {
    /// The number of steps to plan for: at most the number stated. Where none is stated, other planners' schedules, of
    /// more steps, are narrower.
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
    rooted: &'a Rooted,
    (steps, bundles): (u32, u32),
    seed: u64,
    control: &Control,
) -> TreesInTime<'a> {
    let mut rng = Rng::with_seed(seed);
    let begin = |rng: &mut Rng| TreesInTime::new(&rooted.network, rooted.root, (steps, bundles), rng);
    let mut best = begin(&mut rng);
    let moves = (MOVES / best.hop_count()).clamp(1, MOVES_PER_HOP.1) * best.hop_count();
    for run in 0..(MOVES / moves).clamp(1, MOST_RUNS) {
        let mut annealing = Annealing::new(begin(&mut rng), rng.fork(), Rates::default());
        let found = annealing.run(moves, &mut |left| {
            control.report(Progress { planner, attempt: "annealing", round: run, remaining: left });
            control.stop().is_some()
        });
        if found.width() < best.width() {
            best = found;
        }
        if control.stop().is_some() {
            break;
        }
    }
    best
}
