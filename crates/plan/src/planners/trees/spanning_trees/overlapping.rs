//! Overlapping trees: chunks go up and down at the same time, near the bound in few parts.
//!
//! The chunks meet in their roots one after another, evenly spread over the time; up and down need not mirror each
//! other, in time or in place. Where halves are mirrored, ranks that lost links must be roots of nearly all trees, and
//! links elsewhere idle while trees set out.
//!
//! A rank with few links should be a leaf: a tree that passes through it takes its links twice. So roots are at most a
//! hop from such a rank in one half of the tries, and near the center in the other. A link either adds or copies in a
//! step, so steps are 1 wide; links that carry several chunks at a time add in the first half of the steps and copy in
//! the second.

use super::{MOST_WIDTH, NAME, SpanningTrees};
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{Network, WAIT};
use crate::model::planner::{Outcome, arrivals};
use crate::model::task::Task;
use crate::model::widths::even_widths;
use crate::search::negotiation::{Aim, Search, Start, Strategy};
use crate::search::tree_routing::{Arrival, Forest, RoutedTrees, TimedNetwork, TreeSpec};
use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use itertools::Itertools;

/// Trees, counted at every rank in every step: the most of which dozens of tries take a second, and that are planned in
/// one.
const SMALL_WORK: u64 = 20_000;
const QUICK_WORK: u64 = 200_000;
/// How far the pressure rises: trees settle best when it is high.
const PRESSURE_CAP: f64 = 20.0;

/// Does planning take about a second?
pub(super) fn is_quick(problem: &Problem) -> bool {
    u64::from(problem.parts()) * arrivals(problem) <= QUICK_WORK
}

/// Plans an all_reduce on a connected network, in groups too.
///
/// # Errors
///
/// [`PlanError::NotFound`] if the steps stated are too few, or another planner's schedule is as good.
pub(super) fn plan(task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
    let refuse = |limit: String| Err(PlanError::NotFound { planner: NAME, limit });
    let overlap = Overlap::new(task);
    let least = overlap.least_width;
    if task.steps.or(task.max_steps).is_some_and(|most| most < least) {
        return refuse(format!("fewer than {least} steps, as steps are 1 wide"));
    }
    if least > MOST_WIDTH {
        return refuse(format!("{MOST_WIDTH} steps: use fewer parts"));
    }
    if let Some((_, known)) = task.incumbent.filter(|&incumbent| overlap.is_in_vain(incumbent)) {
        return refuse(format!("a total width below {known}, which another planner reached sooner"));
    }
    let least = task.steps.unwrap_or(0).max(least);
    let strategy = &overlap;
    let search = Search::new(NAME, task, &strategy, control).of("overlapping trees");
    let (widths, routed, stopped) = search.run(least)?;
    if !overlap.is_complete(&routed) {
        return refuse(format!("{} steps in which all chunks reach all ranks", widths.len()));
    }
    let schedule = overlap.write(&widths, &routed);
    task.check_steps(NAME, schedule.step_count())?;
    Ok(Outcome::new(schedule, stopped))
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
    fn new(task: &'a Task<'a>) -> Self {
        let problem = task.problem;
        let (down, up) = (Network::new(problem), Network::reversed(problem));
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
        Self { task, networks, meetings, least_width }
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
        width <= least || !pays || !SpanningTrees::may_overlap(problem, problem.parts(), self.least_width)
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
