//! Trees in time: broadcast and reduce in few steps, at little volume.
//!
//! Every part has a tree of its own in the time-expanded network: each rank gets the part over one of its links, in any
//! step after the sender has it. The width of a step is the load of its fullest link. What is lowered, hop by hop, is a
//! smooth bound on the sum of the widths,
//!
//! ```text
//!   sum over steps of  ln(sum over links of exp(r * load / capacity)) / r
//! ```
//!
//! at a rate `r` that rises from where all links count to where only the fullest do. A move gives one rank another link
//! or step; ranks behind it are delayed, and ranks before it hurry, as far as they must. Simulated annealing decides
//! which moves to make. Many parts share trees, in bundles of equal size.

mod annealing;
mod trees;

use fastrand::Rng;

use crate::model::account::StopReason;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::planner::Outcome;
use crate::model::task::Task;
use crate::search::rooted::Rooted;
use annealing::{Annealing, Rates};
use trees::TreesInTime;

/// The most steps, in distances of the farthest rank from the root: in more, a pipeline is nearly as narrow.
const MOST_DEPTHS: u32 = 3;
/// Moves tried in all: some tenths of a second's worth. Eight times as many save 5 %.
const MOVES: u64 = 2_000_000;
/// Moves tried for every rank of every bundle: at least, which limits the bundles, and at most.
const MOVES_PER_HOP: (u64, u64) = (125, 1_000);
/// Bundles are not fewer for lack of moves.
const LEAST_BUNDLES: u64 = 16;
/// Small problems begin anew, at most this often in all.
const MOST_RUNS: u64 = 8;

/// The number of steps to plan for, at most the number stated; `None` where it is too large. Where none is stated,
/// schedules of more steps are narrower, if there are any.
pub(super) fn steps(task: &Task<'_>) -> Option<u32> {
    let most = task.bounds.least_steps() * MOST_DEPTHS;
    match (task.steps, task.max_steps) {
        (Some(steps), _) => (steps <= most).then_some(steps),
        (None, Some(limit)) => Some(limit.min(most)),
        (None, None) => task.incumbent.is_none().then_some(most),
    }
}

/// Plans a broadcast or reduce in this number of steps, no fewer than the distance of the farthest rank.
///
/// # Errors
///
/// [`PlanError::NotFound`] where bundles are too coarse for less than the width already known.
pub(super) fn plan(
    planner: &'static str,
    task: &Task<'_>,
    rooted: &Rooted,
    steps: u32,
    control: &Control,
) -> Result<Outcome, PlanError> {
    let parts = task.problem.parts();
    let size = bundle_size(parts, task.problem.topology().live_rank_count() as u64 - 1);
    // A bundle takes its size in each of its steps.
    let narrowest = u64::from(size) * u64::from(task.bounds.least_steps());
    if task.incumbent.is_some_and(|(_, width)| width <= narrowest) {
        let limit = format!("{narrowest} units, in bundles of {size} parts");
        return Err(PlanError::NotFound { planner, limit });
    }
    let bundles = parts.div_ceil(size);
    let trees = best_trees(planner, rooted, (steps, bundles), task.seed, control);
    let schedule = rooted.write(task, steps as usize, |hop| {
        for bundle in 0..bundles {
            let chunks = bundle * size..(bundle * size).saturating_add(size).min(parts);
            trees.hops(bundle).for_each(|(link, step)| hop(step as usize, link, chunks.clone()));
        }
    });
    Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
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
