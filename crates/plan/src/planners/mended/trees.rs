//! Repairing the trees of an all_gather around failures.
//!
//! A chunk's tree reaches each rank once, over one link in one step. Where a tree of the pattern crosses a link that
//! failed, the rank behind it is *attached* anew: over the link into it, and in the step, that are cheapest.
//!
//! ```text
//!   root --1--> a --2--> b --5--> c       b may be reached from d in steps 4 to 12: the cheapest of these slots wins;
//!     `---2--> e --3--> d                 later than in step 4, c has to be attached anew, too
//! ```
//!
//! A rank beside a failure must receive all chunks over fewer links, so steps are wider there than anyone else needs.
//! The pattern leaves that room free all along (see [`TemplateTrees::within`]), and only ranks near a failure move.
//! Overfull slots negotiate as those of an all-to-all do. A reduce_scatter is the same backward in time, around the
//! same failures turned around.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use fastrand::Rng;
use itertools::Itertools;

use collsynth_core::collective::{ChunkId, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Op, Schedule};
use collsynth_core::topology::{DimRef, RankId, Topology};

use super::hops::Hops;
use super::pattern::{gather, intact, without};
use super::within::Within;
use crate::model::account::StopReason;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{LiveLink, Network, WAIT, most_useful};
use crate::model::widths::bounded_widths;
use crate::planners::template::TemplateTrees;
use crate::search::negotiation::Slots;
use crate::search::tree_routing::{Arrival, TreeRouter};

/// The pressure at first and at last.
const PRESSURE: RangeInclusive<f64> = 2.0..=10.0;
/// A step is widened after this many rounds in which the number of chunks too many did not fall; more if few are.
const PATIENCE: u64 = 20;
const PATIENCE_WITH_ONE: u64 = 60;
/// The price of a rank that has to be attached anew, because its sender gets the chunk later.
const LATE: u32 = 3;
/// Chunks of a slot looked at, to find one that many others do not depend on.
const DRAWS: usize = 12;
/// Ranks attached between two looks at the clock.
const POLLED: usize = 256;

/// What becomes of the chunks of failed ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphans {
    /// Nobody needs them.
    Left,
    /// They begin at a neighbor, as parts of a vector that belong to nobody else.
    Adopted,
}

/// A schedule in exactly these steps, and why the search stopped; `None` if there is no pattern.
pub(super) fn in_steps(
    problem: &Problem,
    orphans: Orphans,
    Within { bounds, steps, seed, control }: Within<'_>,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    let is_collected = problem.collective().kind.pattern() == Pattern::EveryToOne;
    let topology = if is_collected { turned(problem.machine()) } else { problem.machine().clone() };
    let parts = problem.parts();
    let gather = gather(topology, parts)?;
    let network = Network::new(&gather);
    gather.check_connected()?;
    let widths = widths(&gather, &network, bounds.least_width(parts), steps);
    let torus = gather.machine().as_torus().expect("it has translations");
    let Some(trees) = TemplateTrees::within(torus, parts, &widths, seed) else { return Ok(None) };
    let intact = intact(problem.machine());
    let hops = Hops::new(&gather, &network, &trees.pattern(&intact, parts, false));
    let mut growth = Growth::new(&network, &hops, orphans, widths, seed);
    growth.run(control);
    growth.slots.fit_widths();
    let stopped = control.stop().unwrap_or(StopReason::Finished);
    let pattern = trees.pattern(&intact, parts, is_collected);
    Ok(growth.finish(problem, &pattern, is_collected).map(|schedule| (schedule, stopped)))
}

/// The machine with every failed link turned around.
pub(super) fn turned(machine: &Topology) -> Topology {
    let mut spec = machine.spec().clone();
    for link in spec.failed_links.iter_mut().filter(|link| !link.both) {
        (link.from, link.to) = (link.to, link.from);
        link.dim = link.dim.map(|dim| match dim {
            DimRef::Direction(direction) => DimRef::Direction(direction.opposite()),
            DimRef::Dim(_) => dim,
        });
    }
    Topology::new(spec).expect("each cable has a link in either direction")
}

/// Even widths, but no wider in the first steps than the rank with the fewest links, which needs all of them, can use.
pub(super) fn widths(problem: &Problem, network: &Network, total: u32, steps: u32) -> Vec<u32> {
    let live = || problem.topology().live_ranks();
    let least = live().map(|rank| network.capacity_into(rank.0)).min().unwrap_or(0);
    let mut early: Vec<u32> = Vec::new();
    for rank in live().filter(|rank| network.capacity_into(rank.0) == least) {
        let roots = live().flat_map(|root| (0..problem.parts()).map(move |_| root));
        let useful = most_useful(roots.map(|root| network.distance(root.0, rank.0)), least);
        early.resize(early.len().max(useful.len()), 0);
        early.iter_mut().zip(useful).for_each(|(most, useful)| *most = useful.max(*most));
    }
    bounded_widths(total.max(steps), steps, &early, &[])
}

/// A chunk that left the pattern.
struct Exception {
    chunk: ChunkId,
    root: u32,
    /// How each rank gets the chunk.
    tree: Vec<Arrival>,
}

/// A try at some widths.
struct Growth<'a> {
    network: &'a Network,
    hops: &'a Hops<'a>,
    orphans: Orphans,
    slots: Slots,
    router: TreeRouter,
    rng: Rng,
    exceptions: Vec<Exception>,
    number: HashMap<ChunkId, u32>,
    /// The exceptions that were attached in each slot.
    held: Vec<Vec<u32>>,
    /// Does the pattern pass a part of rank 0 on at this offset? `[part * ranks + offset]`.
    is_passed_on: Vec<bool>,
}

impl<'a> Growth<'a> {
    fn new(network: &'a Network, hops: &'a Hops<'a>, orphans: Orphans, widths: Vec<u32>, seed: u64) -> Self {
        let mut slots = Slots::new(widths, network.capacity.clone(), PRESSURE);
        for (step, (link, &direction)) in (0..hops.steps).cartesian_product(hops.direction.iter().enumerate()) {
            let chunks = hops.senders(step, direction as usize).len() as u32;
            slots.add_all(step * network.link_count() + link, chunks);
        }
        let mut is_passed_on = vec![false; hops.of_chunk.len() * hops.ranks];
        for (part, sent) in hops.of_chunk.iter().enumerate() {
            sent.iter().for_each(|&(_, _, sender)| is_passed_on[part * hops.ranks + sender.index()] = true);
        }
        let mut this = Self {
            network,
            hops,
            orphans,
            slots,
            router: TreeRouter::default(),
            rng: Rng::with_seed(seed),
            exceptions: Vec::new(),
            number: HashMap::new(),
            held: vec![Vec::new(); hops.steps * network.link_count()],
            is_passed_on,
        };
        let mut broken = hops.broken();
        let is_orphan = |chunk: &ChunkId| !this.is_alive(hops.translation.owner(*chunk).0);
        broken.extend((0..hops.problem.chunk_count()).map(ChunkId).filter(is_orphan));
        for chunk in broken {
            if !this.number.contains_key(&chunk) {
                this.except(chunk);
            }
        }
        this
    }

    fn is_alive(&self, rank: u32) -> bool {
        self.hops.problem.topology().is_alive(RankId(rank))
    }

    fn is_needed(&self, chunk: ChunkId) -> bool {
        self.orphans == Orphans::Adopted || self.is_alive(self.hops.translation.owner(chunk).0)
    }

    /// The rank that a chunk begins at: its owner or, if that failed, a neighbor of it, the next for the next part.
    fn root(&self, chunk: ChunkId) -> u32 {
        let owner = self.hops.translation.owner(chunk);
        let machine = self.hops.problem.machine();
        let near = machine.links_from(owner).map(|id| machine.link(id).to.0).filter(|&rank| self.is_alive(rank));
        let near: Vec<u32> = near.collect();
        let is_orphan = !self.is_alive(owner.0) && !near.is_empty();
        if is_orphan { near[chunk.index() % near.len()] } else { owner.0 }
    }

    /// Takes a chunk out of the pattern. It keeps its slots there, but for those of links that failed; a chunk of a
    /// failed rank keeps none.
    fn except(&mut self, chunk: ChunkId) -> u32 {
        let (hops, links) = (self.hops, self.network.link_count());
        let root = self.root(chunk);
        let mut tree = vec![Arrival::NONE; hops.ranks];
        for slot in hops.slots(chunk, links) {
            let (step, link) = ((slot / links) as u16, (slot % links) as LiveLink);
            match root == hops.translation.owner(chunk).0 {
                true => tree[self.network.to[link as usize] as usize] = Arrival { link, step },
                false => self.slots.take(slot),
            }
        }
        let exception = self.exceptions.len() as u32;
        self.exceptions.push(Exception { chunk, root, tree });
        self.number.insert(chunk, exception);
        exception
    }

    /// Attaches all ranks that lost their sender, then moves others until no slot is overfull, or time is up. Whenever
    /// patience ends, the step with the most chunks too many becomes wider.
    fn run(&mut self, control: &Control) {
        let mut lost = Vec::new();
        for (number, exception) in (0..).zip(&self.exceptions).filter(|(_, exception)| self.is_needed(exception.chunk))
        {
            let is_lost = |&rank: &u32| rank != exception.root && exception.tree[rank as usize].link == WAIT;
            lost.extend(
                (0..self.hops.ranks as u32)
                    .filter(|&rank| self.is_alive(rank))
                    .filter(is_lost)
                    .map(|rank| (number, rank)),
            );
        }
        self.rng.shuffle(&mut lost);
        for (exception, rank) in lost {
            if self.exceptions[exception as usize].tree[rank as usize].link == WAIT {
                self.attach(exception, rank);
            }
        }
        let (mut least, mut stale) = (u64::MAX, 0);
        for round in 0.. {
            let remaining = self.slots.overfull();
            let width: u32 = self.slots.widths().iter().sum();
            let label = format!("{} steps, width {width}", self.hops.steps);
            control.report(Progress { planner: super::CompactPlan::PLANNER, attempt: &label, round, remaining });
            if remaining == 0 || control.stop().is_some() {
                return;
            }
            (least, stale) = if remaining < least { (remaining, 0) } else { (least, stale + 1) };
            if stale > PATIENCE + PATIENCE_WITH_ONE / remaining {
                self.slots.widen();
                (least, stale) = (u64::MAX, 0);
            }
            self.round(control);
            self.slots.raise();
        }
    }

    fn round(&mut self, control: &Control) {
        let mut overfull: Vec<usize> = (0..self.held.len()).filter(|&slot| self.slots.is_overfull(slot)).collect();
        self.rng.shuffle(&mut overfull);
        for (index, slot) in overfull.into_iter().enumerate() {
            if index % POLLED == 0 && control.stop().is_some() {
                return;
            }
            for _ in 0..self.slots.excess(slot) {
                if !self.slots.is_overfull(slot) {
                    break;
                }
                let Some(chunk) = self.draw(slot) else { break };
                let exception = self.number.get(&chunk).copied().unwrap_or_else(|| self.except(chunk));
                let rank = self.network.to[slot % self.network.link_count()];
                self.detach(exception, rank);
                self.attach(exception, rank);
            }
        }
    }

    /// A chunk in a slot: of some drawn at random, one that left the pattern before, and that is not passed on.
    fn draw(&mut self, slot: usize) -> Option<ChunkId> {
        let links = self.network.link_count();
        let (step, link) = (slot / links, slot % links);
        let (from, to) = (RankId(self.network.from[link]), self.network.to[link]);
        let senders = self.hops.senders(step, self.hops.direction[link] as usize);
        let mut best = None;
        for _ in 0..DRAWS {
            let drawn = self.rng.usize(..senders.len() + self.held[slot].len());
            let chunk = match senders.get(drawn) {
                Some(&sent) => self.hops.translated(sent, from),
                None => self.exceptions[self.held[slot][drawn - senders.len()] as usize].chunk,
            };
            let cost = match self.number.get(&chunk) {
                Some(&number) => {
                    let tree = &self.exceptions[number as usize].tree;
                    let arrival = tree[to as usize];
                    if arrival.link as usize != link || usize::from(arrival.step) != step {
                        continue;
                    }
                    2 * u32::from(self.children(number, to).next().is_some())
                }
                None => {
                    let owner = self.hops.translation.owner(chunk);
                    let offset = self.hops.translation.between(owner, RankId(to));
                    let part = chunk.index() % self.hops.of_chunk.len();
                    1 + 2 * u32::from(self.is_passed_on[part * self.hops.ranks + offset.index()])
                }
            };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, chunk));
            }
            if cost == 0 {
                break;
            }
        }
        best.map(|(_, chunk)| chunk)
    }

    /// The ranks that a rank sends a chunk to, with the step.
    fn children(&self, exception: u32, rank: u32) -> impl Iterator<Item = (u32, u16)> + '_ {
        let tree = &self.exceptions[exception as usize].tree;
        self.network.out(rank).iter().filter_map(move |&link| {
            let to = self.network.to[link as usize];
            let arrival = tree[to as usize];
            (arrival.link == link).then_some((to, arrival.step))
        })
    }

    /// Does a rank get the chunk from the root, and not through this other rank?
    fn is_reached(&self, exception: u32, mut rank: u32, other: u32) -> bool {
        let Exception { root, tree, .. } = &self.exceptions[exception as usize];
        while rank != *root {
            let arrival = tree[rank as usize];
            if rank == other || arrival.link == WAIT {
                return false;
            }
            rank = self.network.from[arrival.link as usize];
        }
        true
    }

    fn detach(&mut self, exception: u32, rank: u32) {
        let arrival = std::mem::replace(&mut self.exceptions[exception as usize].tree[rank as usize], Arrival::NONE);
        if arrival.link != WAIT {
            let slot = usize::from(arrival.step) * self.network.link_count() + arrival.link as usize;
            self.slots.take(slot);
            self.held[slot].retain(|&other| other != exception);
        }
    }

    /// Attaches a rank at the cheapest price, then those that it would send to too early.
    fn attach(&mut self, exception: u32, rank: u32) {
        let mut waiting = vec![rank];
        while let Some(rank) = waiting.pop() {
            let Some(arrival) = self.cheapest(exception, rank) else {
                self.reroute(exception);
                return;
            };
            self.settle(exception, rank, arrival);
            let late = self.children(exception, rank).filter(|&(_, step)| step <= arrival.step).map(|(child, _)| child);
            let late: Vec<u32> = late.collect();
            for child in late {
                self.detach(exception, child);
                waiting.push(child);
            }
        }
    }

    fn settle(&mut self, exception: u32, rank: u32, arrival: Arrival) {
        let slot = usize::from(arrival.step) * self.network.link_count() + arrival.link as usize;
        self.slots.add(slot);
        self.held[slot].push(exception);
        self.exceptions[exception as usize].tree[rank as usize] = arrival;
    }

    /// The cheapest slot in which a rank can get a chunk from one that has it.
    fn cheapest(&mut self, exception: u32, rank: u32) -> Option<Arrival> {
        let (links, steps) = (self.network.link_count(), self.hops.steps as u16);
        let Exception { root, tree, .. } = &self.exceptions[exception as usize];
        let mut sending: Vec<u16> = self.children(exception, rank).map(|(_, step)| step).collect();
        sending.sort_unstable();
        let entering = self.network.entering(rank);
        let turn = self.rng.usize(..entering.len().max(1));
        let mut best: Option<(u32, Arrival)> = None;
        for &link in entering[turn..].iter().chain(&entering[..turn]) {
            let sender = self.network.from[link as usize];
            if !self.is_reached(exception, sender, rank) {
                continue;
            }
            let first = if sender == *root { 0 } else { tree[sender as usize].step + 1 };
            let mut late = sending.partition_point(|&step| step < first);
            for step in first..steps {
                while sending.get(late).is_some_and(|&sent| sent <= step) {
                    late += 1;
                }
                let price = self.slots.prices()[usize::from(step) * links + link as usize];
                let price = price.saturating_add(late as u32 * LATE);
                if best.is_none_or(|(least, _)| price < least) {
                    best = Some((price, Arrival { link, step }));
                }
            }
        }
        best.map(|(_, arrival)| arrival)
    }

    /// A new tree, at the current prices. O(steps * links).
    fn reroute(&mut self, exception: u32) {
        let (ranks, links) = (self.hops.ranks as u32, self.network.link_count());
        (0..ranks).for_each(|rank| self.detach(exception, rank));
        let mut tree = vec![Arrival::NONE; ranks as usize];
        let prices = self.slots.prices();
        let topology = self.hops.problem.topology();
        let alive = |rank| topology.is_alive(RankId(rank));
        let price = |step: u16| move |link: LiveLink| prices[usize::from(step) * links + link as usize];
        let root = self.exceptions[exception as usize].root;
        self.router.route(self.network, root, 0..self.hops.steps as u16, price, alive, &mut tree);
        for (rank, arrival) in (0..).zip(tree).filter(|(_, arrival)| arrival.link != WAIT) {
            self.settle(exception, rank, arrival);
        }
    }

    /// The schedule, with the widths that it needs.
    fn finish(self, problem: &Problem, pattern: &Schedule, is_collected: bool) -> Option<CompactSchedule> {
        let mut widths = self.slots.widths().to_vec();
        let mut exceptions: Vec<ChunkId> = self.exceptions.iter().map(|exception| exception.chunk).collect();
        exceptions.sort_unstable();
        let op = if is_collected { Op::Reduce } else { Op::Copy };
        let mut moves = Moves::new(widths.len());
        for Exception { chunk, tree, .. } in self.exceptions {
            for arrival in tree.iter().filter(|arrival| arrival.link != WAIT) {
                let link = self.network.ids[arrival.link as usize];
                let back = || problem.machine().opposite(link).expect("a cable of a torus has two links");
                moves.add(usize::from(arrival.step), if is_collected { back() } else { link }, op, [chunk]);
            }
        }
        if is_collected {
            moves.reverse();
            widths.reverse();
        }
        let own = moves.write(problem.topology(), |step, _| Some(widths[step]));
        without(problem, pattern, &widths, exceptions, own)
    }
}
