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
//! with few parts: [`Arborescences`](crate::Arborescences) plan the others.
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

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{Network, WAIT, most_useful};
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner, arrivals};
use crate::model::task::Task;
use crate::search::negotiation::{Aim, Search, Start, Strategy};
use crate::search::tree_routing::{Forest, TimedNetwork, TreeSpec};
use collsynth_core::collective::{ChunkId, ChunkRule, Combining, Holders, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{LinkId, RankId};

/// Beyond either limit, [`Arborescences`](crate::Arborescences) plan a broadcast or reduce better, and at once. Steps
/// of width 1 that the links of the root need for all parts:
const MOST_ROUNDS: u32 = 8;
/// Parts, counted at every rank:
const MOST_ARRIVALS: usize = 1024;
/// Parts in groups, beyond which [`PackedTrees`](crate::PackedTrees) are as good and quicker.
const MOST_IN_GROUPS: u32 = 24;
/// Arrivals that take some tenths of a second.
const QUICK_WORK: u64 = 20_000;

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

/// Are there more parts of a vector than are worth negotiating about?
fn has_many_in_groups(problem: &Problem) -> bool {
    problem.groups().is_some() && problem.collective().kind.owners() == 0 && problem.parts() > MOST_IN_GROUPS
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

/// A chunk, the root of its tree and, in groups, the group that it is for.
#[derive(Clone, Copy)]
struct Rooted {
    chunk: ChunkId,
    root: u32,
    group: Option<u32>,
}

/// What trees do with their chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Spread,
    Collect,
    /// One after the other.
    Both,
}

/// The chunks and what to do with them, without those of failed ranks; `None` for other collectives.
fn rooted_chunks(problem: &Problem) -> Option<(Vec<Rooted>, Way)> {
    let mut rooted = Vec::new();
    let mut way = Way::Spread;
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let group = problem.collective().group_of(chunk);
        let root = match problem.rule(chunk) {
            ChunkRule { before: Holders::One(root), after: Holders::Every | Holders::Group(_), .. } => root,
            ChunkRule {
                before: Holders::Every | Holders::Group(_),
                after: Holders::One(root),
                combining: Combining::Sum,
            } => {
                way = Way::Collect;
                root
            }
            // The members of a group take turns as roots.
            ChunkRule { before: all @ Holders::Group(_), after: Holders::Group(_), combining: Combining::Sum } => {
                way = Way::Both;
                let part = (chunk.0 % problem.parts()) as usize;
                let Some(root) = problem.holders(all).nth(part % problem.holder_count(all).max(1)) else { continue };
                root
            }
            _ => return None,
        };
        if problem.topology().is_alive(root) {
            rooted.push(Rooted { chunk, root: root.0, group });
        }
    }
    Some((rooted, way))
}

/// The kinds planned; from [`ONLY_IN_GROUPS`] on, in groups only.
const KINDS: [&str; 6] = ["all_gather", "all_reduce_gathered", "broadcast", "reduce_scatter", "reduce", "all_reduce"];
const ONLY_IN_GROUPS: usize = 5;

impl Planner for Trees {
    fn name(&self) -> &'static str {
        "trees"
    }

    fn summary(&self) -> &'static str {
        "all_gather, broadcast, reduce_scatter, reduce on any network, in groups all_reduce too: negotiated trees"
    }

    fn scope(&self) -> Scope {
        Scope::of(KINDS.split_at(ONLY_IN_GROUPS).0).in_groups(&KINDS)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        let reason = if is_for_the_pipeline(problem) {
            "with this number of parts from or to one root, plan with `arborescences`"
        } else if has_many_in_groups(problem) {
            "in groups and this number of parts, plan with `packed_trees`"
        } else {
            return Ok(());
        };
        Err(PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() })
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        arrivals(problem) <= QUICK_WORK
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        let least_steps = task.steps_or(task.bounds.least_steps())?;
        let Some((rooted, way)) = rooted_chunks(problem).filter(|_| !problem.is_trivial()) else {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        };
        problem.check_connected()?;
        let least_width = task.bounds.least_width(problem.parts());
        if way != Way::Both {
            let routed = route(self.name(), task, &rooted, way == Way::Collect, (least_steps, least_width), control)?;
            return Ok(routed.into_outcome(problem));
        }
        // The halves do not share a step.
        let half = |steps: Option<u32>, more: u32| steps.map(|steps| (steps + more) / 2);
        let half = |more| Task {
            sharper: None,
            incumbent: None,
            near: None,
            price: None,
            steps: half(task.steps, more),
            max_steps: half(task.max_steps, more),
            ..task.clone()
        };
        let (first, second) = (half(0), half(1));
        let least = |task: &Task<'_>| (task.steps.unwrap_or(task.bounds.least_steps()), least_width.div_ceil(2));
        if let Some(steps) = first.steps.or(first.max_steps).filter(|&steps| steps < task.bounds.least_steps()) {
            let limit = format!("{steps} steps for each half: it takes {}", task.bounds.least_steps());
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let up = route(self.name(), &first, &rooted, true, least(&first), control)?;
        let down = route(self.name(), &second, &rooted, false, least(&second), control)?;
        Ok(up.then(down).into_outcome(problem))
    }
}

/// Hops of chunks in steps of some widths.
struct Routed {
    widths: Vec<u32>,
    hops: Vec<(usize, LinkId, Op, ChunkId)>,
    stopped: StopReason,
}

impl Routed {
    fn then(mut self, later: Self) -> Self {
        let begin = self.widths.len();
        self.widths.extend(later.widths);
        self.hops.extend(later.hops.into_iter().map(|(step, link, op, chunk)| (begin + step, link, op, chunk)));
        let stopped = if self.stopped == StopReason::Finished { later.stopped } else { self.stopped };
        Self { stopped, ..self }
    }

    fn into_outcome(self, problem: &Problem) -> Outcome {
        let mut moves = Moves::new(self.widths.len());
        self.hops.into_iter().for_each(|(step, link, op, chunk)| moves.add(step, link, op, [chunk]));
        Outcome::new(moves.write(problem.topology(), |step, _| Some(self.widths[step])), self.stopped)
    }
}

/// Routes the trees away from their roots or, collected, toward them.
fn route(
    planner: &'static str,
    task: &Task<'_>,
    rooted: &[Rooted],
    collected: bool,
    (least_steps, least_width): (u32, u32),
    control: &Control,
) -> Result<Routed, PlanError> {
    let problem = task.problem;
    let network = if collected { Network::reversed(problem) } else { Network::new(problem) };
    let members = |members: &Vec<RankId>| {
        let mut set = vec![false; network.rank_count()];
        members.iter().filter(|&&rank| problem.topology().is_alive(rank)).for_each(|rank| set[rank.index()] = true);
        set
    };
    let targets = problem.groups().map_or(Vec::new(), |groups| groups.members().iter().map(members).collect());
    let timed = TimedNetwork::new(network).with_targets(targets);
    let network = &timed.network;
    let routing = TreeRouting {
        timed: &timed,
        rooted,
        most_useful: most_useful_anywhere(problem, network, rooted),
        least_steps: task.steps.unwrap_or(least_steps),
        most_steps: task.steps.or(task.max_steps),
    };
    let least_width = least_width.max(routing.least_width()).max(least_steps);
    let (mut widths, routed, stopped) = Search::new(planner, task, &routing, control).run(least_width)?;
    let op = if collected { Op::Reduce } else { Op::Copy };
    let last = widths.len() - 1;
    let mut hops = Vec::new();
    for (rooted, tree) in rooted.iter().zip(routed.arrivals.chunks(network.rank_count())) {
        for arrival in tree.iter().filter(|arrival| arrival.link != WAIT) {
            let step = usize::from(arrival.step);
            let step = if collected { last - step } else { step };
            hops.push((step, network.ids[arrival.link as usize], op, rooted.chunk));
        }
    }
    if collected {
        widths.reverse();
    }
    Ok(Routed { widths, hops, stopped })
}

struct TreeRouting<'a> {
    timed: &'a TimedNetwork,
    rooted: &'a [Rooted],
    /// Per step, the sum of widths up to it that the best-placed rank can use.
    most_useful: Vec<u32>,
    least_steps: u32,
    most_steps: Option<u32>,
}

impl<'a> Strategy for TreeRouting<'a> {
    type Negotiation = Forest<'a>;

    fn begin(&self, start: Start, abandon: &(dyn Fn() -> bool + Sync)) -> Option<Forest<'a>> {
        let spec = |rooted: &Rooted| TreeSpec { targets: rooted.group, ..TreeSpec::alone(rooted.root) };
        let specs = self.rooted.iter().map(spec).collect();
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
        (self.rooted.len() * self.timed.network.rank_count()) as u64 * u64::from(steps) * SLOTS
    }
}

impl TreeRouting<'_> {
    /// The root, if all trees have the same.
    fn single_root(&self) -> Option<u32> {
        let root = self.rooted.first()?.root;
        self.rooted.iter().all(|other| other.root == root).then_some(root)
    }

    /// With a single root: its links need time to send every chunk, and the last one sent still has its whole path
    /// ahead.
    fn least_width(&self) -> u32 {
        let Some(root) = self.single_root() else { return 0 };
        let out = self.timed.network.capacity_out_of(root).max(1);
        self.rooted.len().div_ceil(out as usize) as u32 + self.least_steps.saturating_sub(1)
    }
}

/// Per step, the chunks that the best-placed rank can have received by then, over the capacity of its links.
fn most_useful_anywhere(problem: &Problem, network: &Network, rooted: &[Rooted]) -> Vec<u32> {
    let mut most: Vec<u32> = Vec::new();
    for rank in problem.topology().live_ranks() {
        let hops = rooted.iter().map(|rooted| network.distance(rooted.root, rank.0));
        for (step, useful) in most_useful(hops, network.capacity_into(rank.0)).into_iter().enumerate() {
            most.resize(most.len().max(step + 1), 0);
            most[step] = most[step].max(useful);
        }
    }
    most
}
