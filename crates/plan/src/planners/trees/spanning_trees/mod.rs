//! Spanning trees: all-reduce near its bound, on any network with any failures.
//!
//! # Idea
//!
//! Every chunk has its own spanning tree, along which the sum spreads from the root; seen backward in time, over
//! reversed links, the same tree adds the contributions up. Which rank is the root of how many trees is free.
//!
//! ```text
//!   going up, in reversed time            going down
//!   a --1--+                              +--3--> a        chunk 0, of root r
//!   b --1--c --2--> r                  r --2--> c --3--> b
//!
//!   a --2--> r --1--> c                a --3--> r --4--> c     chunk 1, of root a ...
//! ```
//!
//! A rank with few links cannot receive everything from elsewhere, so it is a root more often than others: just often
//! enough that no set of ranks is short of trees (see `root_counts`). Trees up mirror trees down. If links differ from
//! their opposites, both are planned together, from the same roots. On an intact symmetric torus whose number of ranks
//! divides the parts, the trees of one rank are planned and translated to all ranks, as in
//! [`Template`](crate::Template): a slot is then a direction in a step.
//!
//! An all-reduce composed of reduce_scatter and all_gather is the special case of equally many roots per rank: a rank
//! with a dead cable then delays everyone twice.
//!
//! # Applies
//!
//! All_reduce on any topology, with any failures.
//!
//! # Steps and volume
//!
//! Steps: at least twice the hops to and from the rank that is nearest to all; a few more reduce the volume.
//!
//! Volume: the bound says that `2 (N - 1)` vectors must cross the links. A tree up and down takes exactly that many
//! hops, so only idle links and rounding to whole chunks lose anything. An intact 4x4x4 torus in 128 parts meets the
//! bound, 21/64, in 12 steps; with a dead cable it does so in 382 parts, 63/191, and is 1 % above in 192 parts, in less
//! than 20 steps.
//!
//! Over the `c` links left to a rank `h` hops from the farthest, `P` chunks must come in after they can have been
//! everywhere else, and leave while they can still get everywhere. So the total width is at least `P / c + h - 1`; if
//! ranks have lost several links, this exceeds the bound.
//!
//! # Complexity
//!
//! Routing a tree takes O(steps * links); a round O(arrivals moved * degree * steps).
//!
//! # Reference
//!
//! Frank, "On disjoint trees and arborescences", 1978: trees with free roots fit in the links exactly as far as the
//! bound for partitions allows. McMurchie and Ebeling, FPGA 1995, for the prices.

mod networks;
mod packing;
mod root_counts;
mod translation;
mod widths;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{Network, WAIT};
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner, arrivals};
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

/// The planner of spanning trees.
///
/// ```
/// use collsynth_plan::{Control, Goal, Parts, SpanningTrees, synthesize};
/// use collsynth_core::{collective::Kind, topology::Topology};
///
/// let goal = Goal { parts: Parts::Fixed(32), planner: Some(&SpanningTrees), ..Goal::default() };
/// let plan = synthesize(&Topology::torus(&[4, 4])?, &Kind::AllReduce, &goal, &Control::unlimited())?;
/// // 15/32 of the vector, which is the bound: 2 * 15 vectors over 64 links.
/// assert_eq!(plan.schedule.total_width(), 15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SpanningTrees;

impl Planner for SpanningTrees {
    fn name(&self) -> &'static str {
        "spanning_trees"
    }

    fn summary(&self) -> &'static str {
        "all_reduce on any network with any failures: trees up and down with free roots"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_reduce"])
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        arrivals(problem) <= SOME_WORK
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.steps_or(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let translation = Translation::new(problem);
        if let Some(known) = already_good(task, translation.is_some()) {
            let limit = format!("a total width below {known}, which another planner reached sooner");
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let network = Network::new(problem);
        problem.check_connected()?;
        let live: Vec<u32> = problem.topology().live_ranks().map(|rank| rank.0).collect();
        let networks = Networks::new(problem, network, translation.as_ref(), &live);
        let least = 2 * networks.least_hops();
        let steps = (task.steps.unwrap_or(0), task.steps.or(task.max_steps));
        if steps.1.is_some_and(|most| most < least) {
            let limit = format!("fewer than {least} steps, which is what it takes up to a root and down again");
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let rooting = match &translation {
            Some(translation) => Rooting::Translated { root: live[0], each: translation.pairs as u32 },
            None => Rooting::Free,
        };
        let packing = TreePacking::new(&networks, problem.parts(), rooting, steps, control);
        let least_width = packing.least_width(task.bounds.least_width(problem.parts()));
        // The flow LP does not model sums.
        let task = &Task { sharper: None, ..task.clone() };
        let search = Search::new(self.name(), task, &packing, control);
        let (widths, routed, stopped) = search.run(least_width)?;
        let schedule = write(task, &networks, translation.as_ref(), &widths, &routed);
        Ok(Outcome::new(schedule, stopped))
    }
}

/// The total width of a schedule by another planner, if the volume alone counts and trees would take long to find:
/// where it is within 1 % of the bound, or parts are many. Trees that are translated to all ranks are soon found.
fn already_good(task: &Task<'_>, is_translated: bool) -> Option<u64> {
    let free = task.price.is_none() && task.steps.is_none() && task.max_steps.is_none();
    let least = u64::from(task.bounds.least_width(task.problem.parts()));
    let (_, width) = task.incumbent.filter(|_| free)?;
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
