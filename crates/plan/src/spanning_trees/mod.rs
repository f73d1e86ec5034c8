//! Spanning trees: all-reduce near its bound, on any network with any failures.
//!
//! Every chunk has a spanning tree of its own, along which the sum is spread from its root; seen backwards in time,
//! over links turned round, the same tree adds the contributions up. Which rank is the root of how many trees is free.
//!
//! ```text
//!   going up, in reversed time            going down
//!   a --1--+                              +--3--> a        chunk 0, of root r
//!   b --1--c --2--> r                  r --2--> c --3--> b
//!
//!   a --2--> r --1--> c                a --3--> r --4--> c     chunk 1, of root a ...
//! ```
//!
//! * **Applies** to all_reduce on any topology.
//! * **Roots**: a rank with few links cannot let everything come in from elsewhere, so it is a root more often than
//!   others: just so often that no set of ranks is short of trees. With such roots, trees fit in the links exactly as
//!   far as the bound for partitions allows (Frank 1978, "On disjoint trees and arborescences").
//! * **Volume**: the bound says that `2 (N - 1)` vectors must cross the links; a tree up and down takes just so many
//!   hops, so what is lost is lost to idle links and to whole chunks. A sound 4x4x4 torus in 128 parts stands on the
//!   bound, 21/64, in 12 steps; with a dead cable it does in 382 parts, 63/191, and is 1 % above in 192 parts, in less
//!   than 20 steps.
//! * **Weak ranks**: over the `c` links left to a rank that is `h` hops from the farthest, `P` chunks have to come in
//!   when they can have been everywhere else, and to go out while they can still get everywhere. So the total width is
//!   `P / c + h - 1` at least; where ranks have lost several links, this is more than the bound says.
//! * **Steps**: at least twice the hops to and from the rank that is nearest to all; a few more make the volume
//!   smaller.
//! * **Without failures**: on a symmetric torus whose number of ranks divides the parts, the trees of one rank are
//!   planned and translated to all ranks, as in [`Template`](super::Template): a slot is then a direction in a step.
//! * **Halves**: what goes up is the mirror image of what goes down: the same trees, seen backwards. Where links differ
//!   from their opposite links, trees up and trees down are planned together, from the same roots.
//! * **Complexity**: growing a tree takes O(steps * links); a round O(arrivals moved * degree * steps).
//!
//! An all-reduce composed of reduce_scatter and all_gather is the special case of equal shares of roots: a rank with a
//! dead cable then holds up everybody twice. Trees settle their conflicts as in [`Trees`](super::Trees), by the prices
//! of PathFinder (McMurchie and Ebeling, FPGA 1995).

mod planting;
mod shape;
mod shares;
mod site;
mod translation;

use crate::error::check_kind;
use crate::negotiation::{Network, Search, WAIT};
use crate::trees::Grown;
use crate::{Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::LinkId;
use planting::{Planting, Rooting};
use site::Site;
use translation::Translation;

/// The planner of spanning trees.
///
/// ```
/// use collsynth_plan::{Control, Parts, Goal, synthesize};
/// use collsynth_core::{collective::Kind, topology::Topology};
///
/// let goal = Goal { parts: Parts::Fixed(32), ..Goal::default() };
/// let plan = synthesize(&Topology::torus(&[4, 4])?, &Kind::AllReduce, &goal, &Control::unlimited())?;
/// // 15/32 of the vector, which is the bound: 2 * 15 vectors over 64 links.
/// assert_eq!((plan.planner, plan.schedule.total_width()), ("spanning_trees", 15));
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

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check_kind(self.name(), problem, &["all_reduce"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.steps_or(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let network = Network::new(problem);
        problem.check_connected(&network.distances)?;
        let translation = Translation::new(problem);
        let live: Vec<u32> = problem.topology().live_ranks().map(|rank| rank.0).collect();
        let site = Site::new(problem, network, translation.as_ref(), &live);
        let least = 2 * site.least_hops();
        let steps = (task.steps.unwrap_or(0), task.steps.or(task.max_steps));
        if steps.1.is_some_and(|most| most < least) {
            let limit = format!("fewer than {least} steps, which is what it takes up to a root and down again");
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let rooting = match &translation {
            Some(translation) => Rooting::Translated { root: live[0], each: translation.pairs as u32 },
            None => Rooting::Free,
        };
        let planting = Planting::new(&site, problem.parts(), rooting, steps);
        let least_width = planting.least_width(task.bounds.least_width(problem.parts()));
        // The LP knows nothing of sums.
        let task = &Task { sharper: None, ..task.clone() };
        let search = Search::new(self.name(), task, &planting, control);
        let (widths, grown, stopped) = search.run(least_width);
        let schedule = write_down(task, &site, translation.as_ref(), &widths, &grown);
        Ok(Outcome::new(schedule, stopped))
    }
}

/// The schedule of what goes up, in reversed time, and what goes down. Steps in which nothing moves are left out unless
/// their number was asked for.
fn write_down(
    task: &Task<'_>,
    site: &Site<'_>,
    translation: Option<&Translation>,
    widths: &[u32],
    grown: &Grown,
) -> Schedule {
    let topology = task.problem.topology();
    let links = topology.links().len();
    // By step and link: what goes up, what goes down.
    let mut carried: Vec<[Vec<ChunkId>; 2]> = vec![Default::default(); links * widths.len()];
    let trees = grown.plants.iter().zip(grown.arrivals.chunks(topology.rank_count()));
    for (tree, (plant, arrivals)) in trees.enumerate() {
        for arrival in arrivals.iter().filter(|arrival| arrival.link != WAIT) {
            let mut carry = |step: usize, way: usize, link: LinkId, pair: usize| {
                let mut put = |link: LinkId, chunk| carried[step * links + link.index()][way].push(ChunkId(chunk));
                match translation {
                    None => put(link, pair as u32),
                    Some(translation) => translation.images(topology, pair as u32, link).for_each(|(l, c)| put(l, c)),
                }
            };
            let step = usize::from(arrival.step);
            let pair = |tree: usize| if site.is_folded() { tree } else { tree / 2 };
            if plant.ground == 0 {
                carry(step, 1, site.grounds[0].network.ids[arrival.link as usize], pair(tree));
            }
            if plant.ground == 1 || site.is_folded() {
                carry(
                    widths.len() - 1 - step,
                    0,
                    site.link_up(topology, arrival.link),
                    pair(plant.partner.unwrap_or(tree)),
                );
            }
        }
    }
    let mut builder = Schedule::builder();
    for (carried, &width) in carried.chunks_mut(links).zip(widths) {
        let mixed = carried.iter().any(|[up, down]| !up.is_empty() && !down.is_empty());
        let idle = carried.iter().all(|[up, down]| up.is_empty() && down.is_empty());
        if idle && task.steps.is_none() {
            continue;
        }
        // A link does one or the other in a step. Only where the search failed do both meet, and then they take turns.
        let turns: &[&[usize]] = if mixed { &[&[0], &[1]] } else { &[&[0, 1]] };
        for ways in turns {
            builder.step(width);
            for (link, carried) in carried.iter_mut().enumerate() {
                for &way in *ways {
                    let mut chunks = std::mem::take(&mut carried[way]);
                    chunks.sort_unstable();
                    if !chunks.is_empty() {
                        builder.transfer_over(topology, LinkId(link as u32), [Op::Reduce, Op::Copy][way], chunks);
                    }
                }
            }
        }
    }
    builder.finish()
}
