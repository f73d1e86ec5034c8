//! Overlapping trees: all-reduce in few parts, near its bound whatever failed.
//!
//! # Idea
//!
//! Every chunk has a root, a tree up to it and a tree down from it. The chunks meet in their roots one after another,
//! evenly spread over the time, so that trees up and trees down keep the links busy together from the first step to the
//! last. All trees negotiate for the same slots (see `negotiation`); up and down need not mirror each other, in time or
//! in place.
//!
//! ```text
//!   steps      0  1  2  3  4  5  6  7
//!   chunk 0   <------|------------->          up before it meets in its root, down from there
//!   chunk 1   <---------|---------->
//!   chunk 2   <------------|------->          ... a link carries chunk 0 down and chunk 2 up in turn
//! ```
//!
//! Where [`SpanningTrees`](crate::SpanningTrees) mirrors its halves, ranks that lost links must be roots of nearly all
//! trees, and links elsewhere idle while trees set out. [`PackedTrees`](crate::PackedTrees) packs first and schedules
//! then, which takes more parts to come as near.
//!
//! A rank with few links should be a leaf: a tree that passes through it takes its links twice. So roots are at most a
//! hop from such a rank in one half of the tries, and near the center in the other.
//!
//! # Applies
//!
//! All_reduce, in groups too, on any topology, with any failures. Links that carry several chunks at a time add in the
//! first half of the steps and copy in the second.
//!
//! # Steps and volume
//!
//! Steps of width 1: a link either adds or copies in a step. At least `P / c + h - 1` of them for `P` chunks, `c` links
//! of a rank and `h` hops to the farthest, and mostly a unit above the larger of that and the bound: in 48 parts, a 4x4
//! torus with two dead cables takes the 24 of the bound, and so it does with a dead rank.
//!
//! # Complexity
//!
//! O(steps * links) to route a tree; a round O(arrivals moved * degree * steps).
//!
//! # Reference
//!
//! McMurchie and Ebeling, "PathFinder", FPGA 1995, for the prices. Träff, Ripke, Siebert, Balaji, Thakur and Gropp, "A
//! pipelined algorithm for large, irregular all-gather problems", 2010, and Sanders, Speck and Träff, "Two-tree
//! algorithms for full bandwidth broadcast, reduction and scan", 2009, overlap up and down along fixed trees.

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{Network, WAIT};
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner, arrivals};
use crate::model::task::Task;
use crate::model::widths::even_widths;
use crate::search::negotiation::{Aim, Search, Start, Strategy};
use crate::search::tree_routing::{Arrival, Forest, RoutedTrees, TimedNetwork, TreeSpec};
use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use itertools::Itertools;

/// Trees, counted at every rank in every step: the most of which dozens of tries take a second, that are planned in
/// one, and that are worth their seconds if other planners have a schedule.
const SMALL_WORK: u64 = 20_000;
const QUICK_WORK: u64 = 200_000;
const MOST_WORK: u64 = 800_000;
/// The most steps, of which some more may be tried, and arrivals each way: 8 bytes each in every try.
const MOST_STEPS: u32 = 1 << 14;
const MOST_ARRIVALS: u64 = 1 << 26;
/// How far the pressure rises: trees settle best when it is high.
const PRESSURE_CAP: f64 = 20.0;

/// The planner of overlapping trees.
///
/// ```
/// use collsynth_core::{collective::Kind, topology::{Topology, TopologySpec}};
/// use collsynth_plan::{Control, Goal, OverlappingTrees, Parts, synthesize};
///
/// let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1), (8, 9)]))?;
/// let goal = Goal { parts: Parts::Fixed(48), planner: Some(&OverlappingTrees), ..Goal::default() };
/// let plan = synthesize(&torus, &Kind::AllReduce, &goal, &Control::unlimited())?;
/// // The bound: 2 * 15 vectors over 60 links.
/// assert_eq!(plan.schedule.total_width(), 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OverlappingTrees;

impl Planner for OverlappingTrees {
    fn name(&self) -> &'static str {
        "overlapping_trees"
    }

    fn summary(&self) -> &'static str {
        "all_reduce on any network with any failures: trees up and down at the same time"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_reduce"]).in_groups(&["all_reduce"])
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        u64::from(problem.parts()) * arrivals(problem) <= QUICK_WORK
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.steps_or(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let refuse = |limit: String| Err(PlanError::NotFound { planner: self.name(), limit });
        let overlap = Overlap::new(task)?;
        let least = overlap.least_width;
        if task.steps.or(task.max_steps).is_some_and(|most| most < least) {
            return refuse(format!("fewer than {least} steps, as steps are 1 wide"));
        }
        if least > MOST_STEPS || arrivals(problem) > MOST_ARRIVALS {
            return refuse(format!("{MOST_STEPS} steps and {MOST_ARRIVALS} arrivals of a chunk: use fewer parts"));
        }
        if let Some((_, known)) = task.incumbent.filter(|&incumbent| overlap.is_in_vain(incumbent)) {
            return refuse(format!("a total width below {known}, which another planner reached sooner"));
        }
        // The flow LP does not model sums.
        let task = &Task { sharper: None, ..task.clone() };
        let least = task.steps.unwrap_or(0).max(least);
        let (widths, routed, stopped) = Search::new(self.name(), task, &&overlap, control).run(least)?;
        if !overlap.is_complete(&routed) {
            return refuse(format!("{} steps in which all chunks reach all ranks", widths.len()));
        }
        let schedule = overlap.write(&widths, &routed);
        task.check_steps(self.name(), schedule.step_count())?;
        Ok(Outcome::new(schedule, stopped))
    }
}

impl OverlappingTrees {
    /// Is it planned in this number of parts, about this wide, if other planners have a schedule?
    pub(crate) fn is_worth_its_time(whole: &Problem, parts: u32, width: u32) -> bool {
        arrivals(whole) / u64::from(whole.parts()) * u64::from(parts) * u64::from(width) <= MOST_WORK
    }
}

/// The trees of all chunks, and where and when they may meet.
struct Overlap<'a> {
    task: &'a Task<'a>,
    /// Down, as the machine is; up, in reversed time over reversed links.
    networks: [TimedNetwork; 2],
    /// Of every group of several live ranks, or of all ranks.
    meetings: Vec<Meetings>,
    least_width: u32,
}

/// Where the chunks of a group may meet.
struct Meetings {
    /// The number of the group; `None` if all ranks are one.
    group: Option<u32>,
    chunks: Vec<ChunkId>,
    /// At most a hop from the members with the fewest links.
    near_weak: Vec<Root>,
    /// At most a hop farther from all than need be.
    central: Vec<Root>,
    /// May a slot have room for several chunks? In the first half of its time, no tree uses such a slot.
    has_wide_slots: bool,
}

/// A rank, its hops to the farthest of its group, and the hops of the farthest to it.
#[derive(Clone, Copy, Debug)]
struct Root {
    rank: u32,
    down: u32,
    up: u32,
}

impl<'a> Overlap<'a> {
    fn new(task: &'a Task<'a>) -> Result<Self, PlanError> {
        let problem = task.problem;
        let (down, up) = (Network::new(problem), Network::reversed(problem));
        problem.check_connected()?;
        let (mut meetings, mut targets) = (Vec::new(), Vec::new());
        let has_wide_slots = task.steps.or(task.max_steps).is_some() || down.capacity.iter().any(|&most| most > 1);
        for number in 0..problem.groups().map_or(1, |groups| groups.members().len() as u32) {
            let group = problem.groups().map(|_| number);
            let holders = group.map_or(Holders::Every, Holders::Group);
            let members: Vec<u32> = problem.holders(holders).map(|rank| rank.0).collect();
            let mut is_member = vec![false; problem.topology().rank_count()];
            members.iter().for_each(|&rank| is_member[rank as usize] = true);
            targets.push(is_member);
            if members.len() > 1 {
                let chunks = (0..problem.chunk_count()).map(ChunkId);
                let chunks = chunks.filter(|&chunk| problem.rule(chunk).after == holders).collect();
                meetings.push(Meetings::new(group, chunks, &members, [&down, &up], has_wide_slots));
            }
        }
        let least_steps = meetings.iter().map(Meetings::least_steps).max().unwrap_or(0);
        let down = TimedNetwork::new(down).with_targets(targets.clone());
        let networks = [down, TimedNetwork::new(up).with_targets(targets).backward()];
        let bound = task.bounds.least_width(problem.parts()).max(least_steps);
        let everywhere = problem.topology().live_ranks().filter(|_| problem.groups().is_none());
        let needed = everywhere.cartesian_product(&networks).map(|(rank, timed)| {
            // Its links need time for every chunk.
            timed.least_width(problem.parts(), rank.0)
        });
        let least_width = needed.fold(bound, u32::max);
        Ok(Self { task, networks, meetings, least_width })
    }

    /// Is a schedule of these steps and this total width known to be as good as any of ours, or nearly so and ours
    /// would take long?
    fn is_in_vain(&self, (steps, width): (usize, u64)) -> bool {
        let problem = self.task.problem;
        let (least, parts) = (u64::from(self.least_width), f64::from(problem.parts()));
        let pays = self.task.price.is_none_or(|price| {
            let seconds = |steps: usize, width: u64| price.seconds_for(steps, width as f64 / parts);
            seconds(least as usize, least) < seconds(steps, width)
        });
        width <= least || !pays || !OverlappingTrees::is_worth_its_time(problem, problem.parts(), self.least_width)
    }

    fn specs(&self, steps: u32, number: u64) -> Vec<TreeSpec> {
        let mut specs = Vec::new();
        for meetings in &self.meetings {
            let in_time = |root: &&Root| meetings.steps_of(root) <= steps;
            let near_weak: Vec<&Root> = meetings.near_weak.iter().filter(in_time).collect();
            let central: Vec<&Root> = meetings.central.iter().filter(in_time).collect();
            let roots = if number.is_multiple_of(2) && !near_weak.is_empty() { near_weak } else { central };
            let chunks = meetings.chunks.len() as u64;
            for (place, &&Root { rank, down, up }) in (0..chunks).zip(roots.iter().cycle()) {
                let later = u64::from(steps - down - up + 1) * (2 * place + 1) / (2 * chunks);
                let tree = TreeSpec { targets: meetings.group, ..TreeSpec::alone(rank) };
                let first = specs.len();
                let met = (u64::from(up) + later) as u16;
                specs.push(TreeSpec { partner: Some(first + 1), parts_in: Some(met), ..tree });
                specs.push(TreeSpec { network: 1, partner: Some(first), parts_in: Some(steps as u16 - met), ..tree });
            }
        }
        specs
    }

    /// Does every chunk have both trees, and does each of them reach all members?
    fn is_complete(&self, routed: &RoutedTrees) -> bool {
        let ranks = self.task.problem.topology().rank_count();
        let trees: usize = self.meetings.iter().map(|meetings| 2 * meetings.chunks.len()).sum();
        let is_reached = |spec: &TreeSpec, arrivals: &[Arrival]| {
            let holders = spec.targets.map_or(Holders::Every, Holders::Group);
            let mut members = self.task.problem.holders(holders);
            members.all(|rank| rank.0 == spec.root || arrivals[rank.index()].link != WAIT)
        };
        routed.specs.len() == trees
            && routed.specs.iter().zip(routed.arrivals.chunks(ranks)).all(|(spec, arrivals)| is_reached(spec, arrivals))
    }

    fn steps(&self, width: u32) -> u32 {
        self.task.steps.unwrap_or(width.min(self.task.max_steps.unwrap_or(u32::MAX)))
    }

    fn write(&self, widths: &[u32], routed: &RoutedTrees) -> Schedule {
        let topology = self.task.problem.topology();
        let mut moves = Moves::new(widths.len());
        let trees = routed.specs.iter().zip(routed.arrivals.chunks(topology.rank_count()));
        let chunks = self.meetings.iter().flat_map(|meetings| &meetings.chunks).flat_map(|&chunk| [chunk; 2]);
        for ((spec, arrivals), chunk) in trees.zip(chunks) {
            for arrival in arrivals.iter().filter(|arrival| arrival.link != WAIT) {
                let step = usize::from(arrival.step);
                let collects = spec.network == 1;
                let (step, op) = if collects { (widths.len() - 1 - step, Op::Reduce) } else { (step, Op::Copy) };
                moves.add(step, self.networks[spec.network].network.ids[arrival.link as usize], op, [chunk]);
            }
        }
        let keeps_idle = self.task.steps.is_some();
        moves.write(topology, |step, needed| (needed > 0 || keeps_idle).then_some(widths[step]))
    }
}

impl Meetings {
    fn new(
        group: Option<u32>,
        chunks: Vec<ChunkId>,
        members: &[u32],
        [down, up]: [&Network; 2],
        has_wide_slots: bool,
    ) -> Self {
        let farthest = |network: &Network, rank: u32| members.iter().map(|&to| network.distance(rank, to)).max();
        let root =
            |&rank: &u32| Root { rank, down: farthest(down, rank).unwrap_or(0), up: farthest(up, rank).unwrap_or(0) };
        let roots: Vec<Root> = members.iter().map(root).collect();
        let links = |rank: u32| down.capacity_into(rank).min(down.capacity_out_of(rank));
        let fewest = members.iter().map(|&rank| links(rank)).min().unwrap_or(0);
        let weak: Vec<u32> = members.iter().copied().filter(|&rank| links(rank) == fewest).collect();
        let is_near_weak = |root: &&Root| weak.iter().any(|&weak| down.distance(weak, root.rank) <= 1);
        let hops = |root: &Root| root.down.max(root.up);
        let least = roots.iter().map(hops).min().unwrap_or(0);
        Self {
            group,
            chunks,
            near_weak: roots.iter().filter(is_near_weak).copied().collect(),
            central: roots.iter().filter(|root| hops(root) <= least + 1).copied().collect(),
            has_wide_slots,
        }
    }

    fn least_steps(&self) -> u32 {
        self.central.iter().map(|root| self.steps_of(root)).min().unwrap_or(0)
    }

    /// The steps that suffice for both trees of a root. Over wide slots, each has half of them.
    fn steps_of(&self, root: &Root) -> u32 {
        if self.has_wide_slots { 2 * root.down.max(root.up) } else { root.down + root.up }
    }
}

impl<'a> Strategy for &'a Overlap<'_> {
    type Negotiation = Forest<'a>;

    fn begin(&self, start: Start, abandon: &(dyn Fn() -> bool + Sync)) -> Option<Forest<'a>> {
        let specs = self.specs(start.widths.len() as u32, start.number);
        Forest::new(&self.networks, specs, Start { pressure_cap: PRESSURE_CAP, ..start }, abandon)
    }

    fn widths(&self, steps: u32, width: u32, _number: u64) -> Vec<u32> {
        even_widths(width, steps)
    }

    /// As many as the total width, if they are free. What two patient tries miss, more tries hardly ever reach; on
    /// small machines they cost little.
    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32> {
        let is_small = arrivals(self.task.problem) * u64::from(width) <= SMALL_WORK;
        let is_tried = aim == Aim::Any || (aim == Aim::Narrower && is_small);
        if is_tried { vec![self.steps(width)] } else { Vec::new() }
    }

    fn patient_steps(&self, width: u32) -> Option<u32> {
        Some(self.steps(width))
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Slots examined for an arrival in a step, roughly.
        const SLOTS: u64 = 6;
        arrivals(self.task.problem) * u64::from(steps) * SLOTS
    }
}
