//! Negotiated trees: one root to every rank, or every rank to one root, on any network with any failures.
//!
//! # Idea
//!
//! Each chunk spreads along a tree through the time-expanded network: every rank gets it once, from a rank that had it
//! before. All trees are routed at once; arrivals that share overfull slots negotiate which of them moves (see
//! `tree_routing`).
//!
//! ```text
//!   root --1--> a --2--> b          step on each link; b may instead be reached from c in step 3,
//!     `---1---> c --3--> d          if that slot is cheaper: all_gather, broadcast
//! ```
//!
//! Read backward in time over reversed links, such trees collect: a rank adds what it receives to its own contribution
//! and sends the sum once. That plans reduce_scatter and reduce.
//!
//! # Applies
//!
//! All_gather, all_reduce_gathered, broadcast, reduce_scatter and reduce on any topology; broadcast and reduce only
//! with few parts: [`Arborescences`](super::Arborescences) plan the others.
//!
//! # Steps and volume
//!
//! First the least of both bounds, then slightly above. Early steps are kept narrow: by the end of step `t` a rank can
//! hold only what began within `t` hops. A broadcast fills its links like a pipeline.
//!
//! # Complexity
//!
//! Routing a tree takes O(steps * links); a round O(arrivals moved * degree * steps).
//!
//! # Reference
//!
//! Won et al., "TACOS: topology-aware collective algorithm synthesizer for distributed machine learning", MICRO 2024,
//! for trees in the time-expanded network; Edmonds, "Edge-disjoint branchings", 1973, for edge-disjoint trees and the
//! cut bound; McMurchie and Ebeling, FPGA 1995, for the prices.

use crate::moves::Moves;
use crate::negotiation::{Aim, Search, Start, Strategy};
use crate::network::{Network, WAIT, most_useful};
use crate::tree_routing::{Forest, TimedNetwork, TreeSpec};
use crate::{Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::collective::{ChunkId, ChunkRule, Combining, Holders, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::LinkId;

/// Beyond either limit, [`Arborescences`](super::Arborescences) plan a broadcast or reduce better, and at once. Steps
/// of width 1 that the links of the root need for all parts:
const MOST_ROUNDS: u32 = 8;
/// Parts, counted at every rank:
const MOST_ARRIVALS: usize = 1024;

/// Does a broadcast or reduce exceed the limits?
fn is_for_the_pipeline(problem: &Problem) -> bool {
    let topology = problem.topology();
    let capacity = |links: &mut dyn Iterator<Item = LinkId>| -> u32 {
        links.map(|id| topology.link(id)).filter(|link| link.alive).map(|link| link.capacity).sum()
    };
    let kind = &problem.collective().kind;
    let per_round = match (kind.pattern(), kind.root()) {
        (Pattern::OneToEvery, Some(root)) => capacity(&mut topology.links_from(root)),
        (Pattern::EveryToOne, Some(root)) => capacity(&mut topology.links_into(root)),
        _ => return false,
    };
    let arrivals = problem.parts() as usize * topology.live_rank_count();
    problem.parts().div_ceil(per_round.max(1)) > MOST_ROUNDS || arrivals > MOST_ARRIVALS
}

/// The planner of negotiated trees.
///
/// ```
/// use collsynth_plan::{Control, Goal, Parts, Trees, synthesize};
/// use collsynth_core::{collective::Kind, topology::Topology};
///
/// let goal = Goal { parts: Parts::Fixed(2), planner: Some(&Trees), ..Goal::default() };
/// let plan = synthesize(&Topology::torus(&[4, 4])?, &Kind::AllGather, &goal, &Control::unlimited())?;
/// assert_eq!((plan.schedule.step_count(), plan.schedule.total_width()), (4, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trees;

/// A chunk and the root of its tree.
#[derive(Clone, Copy)]
struct Rooted {
    chunk: ChunkId,
    root: u32,
}

/// The chunks to spread, or to collect if the flag is true, without those of failed ranks; `None` for other
/// collectives.
fn rooted_chunks(problem: &Problem) -> Option<(Vec<Rooted>, bool)> {
    let mut rooted = Vec::new();
    let mut collected = false;
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let root = match problem.rule(chunk) {
            ChunkRule { before: Holders::One(root), after: Holders::Every, .. } => root,
            ChunkRule { before: Holders::Every, after: Holders::One(root), combining: Combining::Sum } => {
                collected = true;
                root
            }
            _ => return None,
        };
        if problem.topology().is_alive(root) {
            rooted.push(Rooted { chunk, root: root.0 });
        }
    }
    Some((rooted, collected))
}

impl Planner for Trees {
    fn name(&self) -> &'static str {
        "trees"
    }

    fn summary(&self) -> &'static str {
        "all_gather, broadcast, reduce_scatter, reduce on any network with any failures: negotiated trees"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        let refuse = |reason: &str| PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() };
        match rooted_chunks(problem) {
            Some(_) if is_for_the_pipeline(problem) => {
                Err(refuse("with so many parts from or to one root, plan with `arborescences`"))
            }
            Some(_) => Ok(()),
            None => Err(refuse("it plans collectives in which every chunk goes from or to one rank and all others")),
        }
    }

    fn is_quick(&self, _problem: &Problem) -> bool {
        false
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        let least_steps = task.steps_or(task.bounds.least_steps())?;
        let Some((rooted, collected)) = rooted_chunks(problem).filter(|_| !problem.is_trivial()) else {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        };
        let network = Network::new(problem);
        problem.check_connected(&network.distances)?;
        let network = if collected { Network::reversed(problem) } else { network };
        let timed = TimedNetwork::new(network);
        let network = &timed.network;
        let roots: Vec<u32> = rooted.iter().map(|rooted| rooted.root).collect();
        let routing = TreeRouting {
            timed: &timed,
            roots: &roots,
            most_useful: most_useful_anywhere(problem, network, &roots),
            least_steps: task.steps.unwrap_or(least_steps),
            most_steps: task.steps.or(task.max_steps),
        };
        let least_width = task.bounds.least_width(problem.parts()).max(routing.least_width()).max(least_steps);
        let (mut widths, routed, stopped) = Search::new(self.name(), task, &routing, control).run(least_width)?;
        let op = if collected { Op::Reduce } else { Op::Copy };
        let mut moves = Moves::new(widths.len());
        for (rooted, tree) in rooted.iter().zip(routed.arrivals.chunks(network.rank_count())) {
            for arrival in tree.iter().filter(|arrival| arrival.link != WAIT) {
                moves.add(arrival.step.into(), network.ids[arrival.link as usize], op, [rooted.chunk]);
            }
        }
        if collected {
            moves.reverse();
            widths.reverse();
        }
        Ok(Outcome::new(moves.write(problem.topology(), |step, _| Some(widths[step])), stopped))
    }
}

struct TreeRouting<'a> {
    timed: &'a TimedNetwork,
    roots: &'a [u32],
    /// Per step, the sum of widths up to it that the best-placed rank can use.
    most_useful: Vec<u32>,
    least_steps: u32,
    most_steps: Option<u32>,
}

impl<'a> Strategy for TreeRouting<'a> {
    type Negotiation = Forest<'a>;

    fn begin(&self, start: Start, abandon: &(dyn Fn() -> bool + Sync)) -> Option<Forest<'a>> {
        let specs = self.roots.iter().map(|&root| TreeSpec::alone(root)).collect();
        Forest::new(std::slice::from_ref(self.timed), specs, start, abandon)
    }

    /// As even as possible without being too wide too early; the wider steps come early or late.
    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        let mut left = width;
        let mut widths = Vec::with_capacity(steps as usize);
        for step in 0..steps {
            let after = steps - step;
            let share = if number.is_multiple_of(2) { left.div_ceil(after) } else { left / after };
            let room = self.most_useful.get(step as usize).map_or(u32::MAX, |&most| most.saturating_sub(width - left));
            widths.push(if after == 1 { left } else { share.min(room).clamp(1, left - (after - 1)) });
            left -= widths[step as usize];
        }
        widths
    }

    /// The least number and a few more; with a single root many more, up to steps that all have width 1.
    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32> {
        let single = self.single_root().is_some();
        let more: &[u32] = match (aim == Aim::Any, single) {
            (true, _) => &[0, 1],
            (false, false) => &[0, 1, 2, 3],
            (false, true) => &[0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32],
        };
        let most = self.most_steps.unwrap_or(if single { width } else { self.least_steps + 3 }).min(width);
        let mut choices: Vec<u32> = more.iter().map(|more| self.least_steps + more).filter(|&s| s < most).collect();
        if most >= self.least_steps {
            choices.push(most);
        }
        choices
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Slots examined for an arrival in a step, roughly.
        const SLOTS: u64 = 3;
        (self.roots.len() * self.timed.network.rank_count()) as u64 * u64::from(steps) * SLOTS
    }
}

impl TreeRouting<'_> {
    /// The root, if all trees have the same.
    fn single_root(&self) -> Option<u32> {
        let root = *self.roots.first()?;
        self.roots.iter().all(|&other| other == root).then_some(root)
    }

    /// With a single root: its links need time to send every chunk, and the last one sent still has its whole path
    /// ahead.
    fn least_width(&self) -> u32 {
        let Some(root) = self.single_root() else { return 0 };
        let out = self.timed.network.capacity_out_of(root).max(1);
        self.roots.len().div_ceil(out as usize) as u32 + self.least_steps.saturating_sub(1)
    }
}

/// Per step, the chunks that the best-placed rank can have received by then, over the capacity of its links.
fn most_useful_anywhere(problem: &Problem, network: &Network, roots: &[u32]) -> Vec<u32> {
    let mut most: Vec<u32> = Vec::new();
    for rank in problem.topology().live_ranks() {
        let hops = roots.iter().map(|&root| network.distance(root, rank.0));
        for (step, useful) in most_useful(hops, network.capacity_into(rank.0)).into_iter().enumerate() {
            most.resize(most.len().max(step + 1), 0);
            most[step] = most[step].max(useful);
        }
    }
    most
}
