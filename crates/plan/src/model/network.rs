//! The live network in flat arrays, and the messages to be routed through it.

use std::collections::BTreeSet;

use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::topology::LinkId;

use collsynth_bound::hops::Hops;

/// The number of a live link.
pub(crate) type LiveLink = u32;

/// In place of a live link: none.
pub(crate) const WAIT: LiveLink = LiveLink::MAX;

/// Live links numbered `0..len`, with those that leave and enter each rank.
#[derive(Debug)]
pub(crate) struct Network {
    /// The id in the topology of each live link.
    pub ids: Vec<LinkId>,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    pub capacity: Vec<u32>,
    out: ByRank,
    into: ByRank,
    hops: Hops,
    /// Are ranks as far apart in both directions?
    is_symmetric: bool,
}

/// Live links grouped by rank: `links[start[r]..start[r + 1]]` are those of rank `r`, ascending.
#[derive(Debug)]
struct ByRank {
    start: Vec<usize>,
    links: Vec<LiveLink>,
}

impl ByRank {
    fn new(ranks: usize, rank_of: &[u32]) -> Self {
        let mut links: Vec<LiveLink> = (0..rank_of.len() as LiveLink).collect();
        links.sort_by_key(|&link| rank_of[link as usize]);
        let start = |rank| links.partition_point(|&link| (rank_of[link as usize] as usize) < rank);
        Self { start: (0..=ranks).map(start).collect(), links }
    }

    fn of(&self, rank: u32) -> &[LiveLink] {
        &self.links[self.start[rank as usize]..self.start[rank as usize + 1]]
    }
}

/// A chunk that must go from one rank to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub origin: u32,
    pub dest: u32,
    pub chunk: ChunkId,
}

impl Network {
    pub fn new(problem: &Problem) -> Self {
        let topology = problem.topology();
        let joins = |id| (topology.link(id).from.0, topology.link(id).to.0);
        Self::joining(problem, joins)
    }

    /// The same with every link reversed: paths away from a root here lead toward it on the machine.
    pub fn reversed(problem: &Problem) -> Self {
        let topology = problem.topology();
        let joins = |id| (topology.link(id).to.0, topology.link(id).from.0);
        Self::joining(problem, joins)
    }

    fn joining(problem: &Problem, joins: impl Fn(LinkId) -> (u32, u32)) -> Self {
        let topology = problem.topology();
        let ids: Vec<LinkId> = topology.live_links().collect();
        let (from, to): (Vec<u32>, Vec<u32>) = ids.iter().map(|&id| joins(id)).unzip();
        let [out, into] = [&from, &to].map(|ends| ByRank::new(topology.rank_count(), ends));
        let capacity = ids.iter().map(|&id| topology.link(id).capacity).collect();
        let [forth, back] = [(&from, &to), (&to, &from)]
            .map(|(from, to)| -> BTreeSet<(u32, u32)> { from.iter().copied().zip(to.iter().copied()).collect() });
        let hops = Hops::new(topology.rank_count(), &from, &to);
        Self { ids, from, to, capacity, out, into, hops, is_symmetric: forth == back }
    }

    pub fn link_count(&self) -> usize {
        self.ids.len()
    }

    pub fn rank_count(&self) -> usize {
        self.out.start.len() - 1
    }

    pub fn out(&self, rank: u32) -> &[LiveLink] {
        self.out.of(rank)
    }

    pub fn entering(&self, rank: u32) -> &[LiveLink] {
        self.into.of(rank)
    }

    /// Chunks that can leave a rank in a step of width 1.
    pub fn capacity_out_of(&self, rank: u32) -> u32 {
        self.out(rank).iter().map(|&link| self.capacity[link as usize]).sum()
    }

    /// Chunks that can enter a rank in a step of width 1.
    pub fn capacity_into(&self, rank: u32) -> u32 {
        self.entering(rank).iter().map(|&link| self.capacity[link as usize]).sum()
    }

    pub fn distance(&self, from: u32, to: u32) -> u32 {
        u32::from(self.hops.from(from)[to as usize])
    }

    /// The distances from one rank to all.
    pub fn distances_from(&self, from: u32) -> &[u16] {
        self.hops.from(from)
    }

    /// The distances from all ranks to one: those back, where they are the same, as others ask for these, too.
    pub fn distance_to(&self, to: u32) -> impl Fn(u32) -> u32 + '_ {
        let hops = if self.is_symmetric { self.hops.from(to) } else { self.hops.to(to) };
        move |from| u32::from(hops[from as usize])
    }
}

/// For a rank that receives chunks from these hops away over links of this total capacity: per step, the sum of widths
/// up to it that its links can fill. Beyond that they idle, because nothing more can have arrived.
pub(crate) fn most_useful(hops: impl Iterator<Item = u32>, capacity: u32) -> Vec<u32> {
    let mut arriving: Vec<u32> = Vec::new();
    for hops in hops.map(|hops| hops as usize).filter(|&hops| hops > 0) {
        arriving.resize(arriving.len().max(hops), 0);
        arriving[hops - 1] += 1;
    }
    let mut held = 0;
    let mut until = |arriving: u32| {
        held += arriving;
        held.div_ceil(capacity.max(1))
    };
    arriving.into_iter().map(&mut until).collect()
}

/// The messages of a problem in which every chunk goes from one rank to one rank, by ascending chunk, without those of
/// failed ranks or already at their destination; `None` for other collectives.
pub(crate) fn messages(problem: &Problem) -> Option<Vec<Message>> {
    let mut messages = Vec::new();
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(chunk);
        let (Holders::One(origin), Holders::One(dest)) = (rule.before, rule.after) else {
            return None;
        };
        let alive = problem.topology().is_alive(origin) && problem.topology().is_alive(dest);
        if alive && origin != dest {
            messages.push(Message { origin: origin.0, dest: dest.0, chunk });
        }
    }
    Some(messages)
}
