//! Mirrored trees: all chunks go up to their roots, then down, in few steps.
//!
//! ```text
//!   chunk 0, of root r       b --1--> c --2--> r        r --3--> c --4--> b
//!   chunk 1, of root a       c --1--> r --2--> a        a --3--> r --4--> c
//! ```
//!
//! A rank with few links cannot receive everything from elsewhere, so it is a root more often than others: just often
//! enough that no set of ranks is short of trees (see `root_counts`). Trees up mirror trees down. If links differ from
//! their opposites, both are planned together, from the same roots. On an intact symmetric torus whose number of ranks
//! divides the parts, the trees of one rank are planned and translated to all ranks, as in
//! [`Template`](crate::Template): a slot is then a direction in a step.

mod networks;
mod packing;
mod root_counts;
mod translation;
mod widths;

use super::{NAME, is_about_volume};
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{Network, WAIT};
use crate::model::planner::{Outcome, arrivals};
use crate::model::task::Task;
use crate::search::negotiation::Search;
use crate::search::tree_routing::RoutedTrees;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::LinkId;
use networks::Networks;
use packing::{Rooting, TreePacking};
use translation::Translation;

/// Work that takes a second.
const SOME_WORK: u64 = 3_000;
/// More parts than this other planners pack as well, and sooner.
const FEW_PARTS: u32 = 200;

/// Does planning take about a second?
pub(super) fn is_quick(problem: &Problem) -> bool {
    arrivals(problem) <= SOME_WORK
}

/// Plans an all_reduce among the ranks of a connected network.
///
/// # Errors
///
/// [`PlanError::NotFound`] if the steps stated are too few, or another planner's schedule is as good.
pub(super) fn plan(task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
    let problem = task.problem;
    let translation = Translation::new(problem);
    if let Some(known) = already_good(task, translation.is_some()) {
        let limit = format!("a total width below {known}, which another planner reached sooner");
        return Err(PlanError::NotFound { planner: NAME, limit });
    }
    let live: Vec<u32> = problem.topology().live_ranks().map(|rank| rank.0).collect();
    let networks = Networks::new(problem, Network::new(problem), translation.as_ref(), &live);
    let least = 2 * networks.least_hops();
    let steps = (task.steps.unwrap_or(0), task.steps.or(task.max_steps));
    if steps.1.is_some_and(|most| most < least) {
        let limit = format!("fewer than {least} steps, which is what it takes up to a root and down again");
        return Err(PlanError::NotFound { planner: NAME, limit });
    }
    let rooting = match &translation {
        Some(translation) => Rooting::Translated { root: live[0], each: translation.pairs as u32 },
        None => Rooting::Free,
    };
    let packing = TreePacking::new(&networks, problem.parts(), rooting, steps, control);
    let least_width = packing.least_width(task.bounds.least_width(problem.parts()));
    let search = Search::new(NAME, task, &packing, control).of("mirrored trees");
    let (widths, routed, stopped) = search.run(least_width)?;
    let schedule = write(task, &networks, translation.as_ref(), &widths, &routed);
    Ok(Outcome::new(schedule, stopped))
}

/// The total width of a schedule by another planner, if the volume alone counts and trees would take long to find:
/// where it is within 1 % of the bound, or parts are many. Trees that are translated to all ranks are soon found.
fn already_good(task: &Task<'_>, is_translated: bool) -> Option<u64> {
    let least = u64::from(task.bounds.least_width(task.problem.parts()));
    let (_, width) = task.incumbent.filter(|_| is_about_volume(task))?;
    let planned_at = if is_translated { task.problem.topology().rank_count() as u64 } else { 1 };
    let close = width * 100 <= least * 101 && arrivals(task.problem) / planned_at > SOME_WORK;
    (task.problem.parts() > FEW_PARTS || close).then_some(width)
}

/// The schedule of the trees up, in reversed time, and down. Idle steps are omitted unless the number of steps is
/// stated. Only if the search failed does a link carry both in a step, and then they take turns.
fn write(
    task: &Task<'_>,
    networks: &Networks<'_>,
    translation: Option<&Translation>,
    widths: &[u32],
    routed: &RoutedTrees,
) -> Schedule {
    let topology = task.problem.topology();
    let mut moves = Moves::new(widths.len());
    let trees = routed.specs.iter().zip(routed.arrivals.chunks(topology.rank_count()));
    for (tree, (spec, arrivals)) in trees.enumerate() {
        for arrival in arrivals.iter().filter(|arrival| arrival.link != WAIT) {
            let mut add = |step: usize, op: Op, link: LinkId, pair: usize| match translation {
                None => moves.add(step, link, op, [ChunkId(pair as u32)]),
                Some(translation) => {
                    let images = translation.images(topology, pair as u32, link);
                    images.for_each(|(link, chunk)| moves.add(step, link, op, [ChunkId(chunk)]));
                }
            };
            let step = usize::from(arrival.step);
            let pair = |tree: usize| if networks.is_folded() { tree } else { tree / 2 };
            if spec.network == 0 {
                add(step, Op::Copy, networks.timed[0].network.ids[arrival.link as usize], pair(tree));
            }
            if spec.network == 1 || networks.is_folded() {
                let link = networks.link_up(topology, arrival.link);
                add(widths.len() - 1 - step, Op::Reduce, link, pair(spec.partner.unwrap_or(tree)));
            }
        }
    }
    let keeps_idle = task.steps.is_some();
    moves.write(topology, |step, needed| (needed > 0 || keeps_idle).then_some(widths[step]))
}
