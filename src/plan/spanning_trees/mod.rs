//! Spanning trees: all-reduce near its bound, on any network with any failures.
//!
//! Every chunk has a spanning tree of its own, along which the sum is spread from its root; seen backwards in time, over
//! links turned round, the same tree adds the contributions up. Which rank is the root of how many trees is free.
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
//! * **Roots**: a rank with few links cannot let everything come in from elsewhere, so it is a root more often than others:
//!   just so often that no set of ranks is short of trees. With such roots, trees fit in the links exactly as far as the
//!   bound for partitions allows (Frank 1978, "On disjoint trees and arborescences").
//! * **Volume**: the bound says that `2 (N - 1)` vectors must cross the links; a tree up and down takes just so many hops,
//!   so what is lost is lost to idle links and to whole chunks. Both halves have the same width: the total is even. A sound
//!   4x4x4 torus in 128 parts stands on the bound, 21/64, in 12 steps; with a dead cable it does in 382 parts, 63/191, and
//!   is 1 % above in 192 parts, in less than 20 steps. Where ranks have lost several links, most trees are rooted at few
//!   ranks, whose links can send nothing new in the last steps; more parts make that small.
//! * **Steps**: at least the hops to and from the rank that is nearest to all; a few more make the volume smaller.
//! * **Without failures**: on a symmetric torus whose number of ranks divides the parts, the trees of one rank are
//!   planned and translated to all ranks, as in [`Template`](super::Template): a slot is then a direction in a step.
//! * **Where links differ from their opposite links**, both halves are planned, from the same roots.
//! * **Complexity**: growing a tree takes O(steps * links); a round O(arrivals moved * degree * steps).
//!
//! An all-reduce composed of reduce_scatter and all_gather is the special case of equal shares of roots: a rank with a
//! dead cable then holds up everybody twice. Trees settle their conflicts as in [`Trees`](super::Trees), by the prices of
//! PathFinder (McMurchie and Ebeling, FPGA 1995).

mod half;
mod shape;
mod shares;
mod translation;

use crate::collective::{ChunkId, Kind};
use crate::plan::negotiation::{Network, Search, WAIT};
use crate::plan::trees::{Arrival, Ground};
use crate::plan::{Control, Outcome, PlanError, Planner, StopReason, Task};
use crate::problem::Problem;
use crate::schedule::{Op, Schedule};
use crate::topology::{LinkId, Topology};
use half::{Half, Rooting, farthest};
use translation::Translation;

/// The planner of spanning trees.
///
/// ```
/// use synth::plan::{Control, Parts, Wish, synthesise};
/// use synth::{collective::Kind, topology::Topology};
///
/// let wish = Wish { parts: Parts::Fixed(32), ..Wish::default() };
/// let plan = synthesise(&Topology::torus(&[4, 4])?, &Kind::AllReduce, &wish, &Control::unlimited())?;
/// // Half of the vector; the bound is 15/32: 2 * 15 vectors over 64 links.
/// assert_eq!((plan.planner, plan.schedule.total_width()), ("spanning_trees", 16));
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
        let refuse = |reason: &str| PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() };
        match problem.collective().kind {
            Kind::AllReduce => Ok(()),
            _ => Err(refuse("it plans all_reduce only")),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.step_count(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let network = Network::new(problem);
        problem.check_connected(&network.distances)?;
        let translation = Translation::new(problem);
        let grounds = [network, Network::reversed(problem)].map(|network| match &translation {
            Some(translation) => {
                Ground::with_columns(network, translation.column.clone(), translation.capacity.clone())
            }
            None => Ground::new(network),
        });
        let live: Vec<u32> = problem.topology().live_ranks().map(|rank| rank.0).collect();
        let site = Site { grounds: &grounds, live: &live, has_mirror_image: has_mirror_image(problem.topology()) };
        let too_few = |least| PlanError::NotFound {
            planner: self.name(),
            limit: format!("fewer than {least} steps, which is what it takes up to a root and down again"),
        };
        let [down_steps, up_steps] = match (task.steps, task.max_steps) {
            (Some(steps), _) => site.split(steps).map_err(too_few)?.map(|steps| (steps, Some(steps))),
            (None, Some(most)) => site.split(most).map_err(too_few)?.map(|most| (0, Some(most))),
            (None, None) => [(0, None); 2],
        };
        let rooting = match &translation {
            Some(translation) => Rooting::Translated { root: live[0], each: translation.pairs as u32 },
            None => Rooting::Free { other_steps: up_steps.1 },
        };
        let least_width = task.bounds.least_width(problem.parts()).div_ceil(2);
        // The bounds speak of both halves together.
        let half_task = Task { sharper: None, ..task.clone() };
        let plant = |half: &Half<'_>| {
            let search = Search::new(self.name(), &half_task, half, control);
            search.run(least_width.max(half.least_steps()))
        };

        let half = Half::new(&site, 0, problem.parts(), rooting.clone(), down_steps);
        let (widths, trees, mut stopped) = plant(&half);
        let down = Grown { widths, trees, mirrored: false };
        let up = if site.has_mirror_image && down_steps == up_steps {
            Grown { mirrored: true, ..down.clone() }
        } else {
            let roots = || down.trees.chunks(problem.topology().rank_count()).filter_map(|tree| root_of(&live, tree));
            let rooting = if translation.is_some() { rooting } else { Rooting::Given(roots().collect()) };
            let (widths, trees, stopped_up) = plant(&Half::new(&site, 1, problem.parts(), rooting, up_steps));
            stopped = if stopped == StopReason::Finished { stopped_up } else { stopped };
            Grown { widths, trees, mirrored: false }
        };
        let ids = &grounds[0].network.ids;
        Ok(Outcome::new(write_down(task, ids, translation.as_ref(), &[up, down]), stopped))
    }
}

/// The machine to plan for.
struct Site<'a> {
    /// Downwards: as things are. Upwards: in reversed time, links turned round.
    grounds: &'a [Ground; 2],
    live: &'a [u32],
    /// Does every link have an opposite link like it? Then what goes up may be what goes down, seen backwards.
    has_mirror_image: bool,
}

impl Site<'_> {
    /// Steps down and up, as equal as can be, if some root allows it; else the least sum there is.
    fn split(&self, steps: u32) -> Result<[u32; 2], u32> {
        let hops: Vec<[u32; 2]> = self
            .live
            .iter()
            .map(|&root| [0, 1].map(|half| farthest(&self.grounds[half].network, self.live, root)))
            .collect();
        let off_middle = |down: u32| down.abs_diff(steps / 2);
        let allowed = |down: &u32| hops.iter().any(|hops| hops[0] <= *down && hops[1] <= steps - down);
        let least = hops.iter().map(|hops| hops[0] + hops[1]).min().unwrap_or(0);
        (0..=steps).filter(allowed).min_by_key(|&down| off_middle(down)).map(|down| [down, steps - down]).ok_or(least)
    }
}

fn has_mirror_image(topology: &Topology) -> bool {
    let alike = |id: LinkId| {
        let opposite = topology.opposite(id).map(|opposite| topology.link(opposite));
        opposite.is_some_and(|opposite| opposite.alive && opposite.capacity == topology.link(id).capacity)
    };
    topology.live_links().all(alike)
}

/// The live rank to which nothing comes.
fn root_of(live: &[u32], tree: &[Arrival]) -> Option<u32> {
    live.iter().copied().find(|&rank| tree[rank as usize].link == WAIT)
}

/// The trees of one half.
#[derive(Clone)]
struct Grown {
    widths: Vec<u32>,
    /// `trees[tree * ranks + rank]`.
    trees: Vec<Arrival>,
    /// Is each link to be replaced by its opposite?
    mirrored: bool,
}

/// The schedule of what goes up, in reversed time, and what goes down. Steps in which nothing moves are left out unless
/// their number was asked for.
fn write_down(task: &Task<'_>, ids: &[LinkId], translation: Option<&Translation>, halves: &[Grown; 2]) -> Schedule {
    let topology = task.problem.topology();
    let links = topology.links().len();
    let mut builder = Schedule::builder();
    for (half, op) in halves.iter().zip([Op::Reduce, Op::Copy]) {
        let mut carried: Vec<Vec<ChunkId>> = vec![Vec::new(); links * half.widths.len()];
        for (tree, arrivals) in half.trees.chunks(topology.rank_count()).enumerate() {
            for arrival in arrivals.iter().filter(|arrival| arrival.link != WAIT) {
                let id = ids[arrival.link as usize];
                let link = if half.mirrored { topology.opposite(id).unwrap_or(id) } else { id };
                let mut carry = |link: LinkId, chunk| {
                    carried[usize::from(arrival.step) * links + link.index()].push(ChunkId(chunk))
                };
                match translation {
                    None => carry(link, tree as u32),
                    Some(translation) => translation.images(topology, tree as u32, link).for_each(|(l, c)| carry(l, c)),
                }
            }
        }
        let mut steps: Vec<(&mut [Vec<ChunkId>], u32)> =
            carried.chunks_mut(links).zip(half.widths.iter().copied()).collect();
        if op == Op::Reduce {
            steps.reverse();
        }
        for (carried, width) in steps {
            if task.steps.is_none() && carried.iter().all(Vec::is_empty) {
                continue;
            }
            builder.step(width);
            for (link, chunks) in carried.iter_mut().enumerate().filter(|(_, chunks)| !chunks.is_empty()) {
                chunks.sort_unstable();
                builder.transfer_over(topology, LinkId(link as u32), op, std::mem::take(chunks));
            }
        }
    }
    builder.finish()
}
