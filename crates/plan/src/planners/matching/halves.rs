//! What is spread and what is collected, over which network, and the root of each chunk.

use super::centers::{Centers, link_between};
use super::deadlines::reach;
use crate::model::network::Network;
use crate::model::task::Task;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{ChunkId, Combining, Holders, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, Topology};
use itertools::Itertools;

/// Links looked at for centers of the fewest steps, roughly; a dimension each.
const MOST_WORK: usize = 4_000_000;

/// The halves of a collective: chunks are collected at their roots, then spread from there.
pub(super) struct Halves<'a> {
    problem: &'a Problem,
    pub down: Option<Network>,
    pub up: Up,
    centers: Centers,
}

/// How chunks get to their roots.
pub(super) enum Up {
    /// They are there.
    Never,
    /// As they are spread, backward in time over the opposite of each live link.
    Mirrored { links: Vec<LinkId> },
    /// Spread from them backward in time over this network of reversed links.
    Own(Box<Network>),
}

/// Chunks and the ranks they spread from.
pub(super) struct Roots {
    pub chunks: Vec<ChunkId>,
    /// The members of the center of each chunk, `2^doublings` each.
    pub ranks: Vec<u32>,
    pub doublings: usize,
}

impl Roots {
    /// The chunks and their centers.
    pub fn centers(&self) -> impl Iterator<Item = (ChunkId, &[u32])> {
        self.chunks.iter().copied().zip(self.ranks.chunks(1 << self.doublings))
    }
}

impl<'a> Halves<'a> {
    /// Without kinds in which a chunk goes from one rank to one rank.
    pub fn new(problem: &'a Problem) -> Self {
        let collects = problem.collective().kind.combining() == Combining::Sum;
        let spreads = problem.collective().kind.pattern() != Pattern::EveryToOne;
        let down = spreads.then(|| Network::new(problem));
        let up = match &down {
            _ if !collects => Up::Never,
            Some(network) => match opposites(problem.topology(), network) {
                Some(links) => Up::Mirrored { links },
                None => Up::Own(Box::new(Network::reversed(problem))),
            },
            None => Up::Own(Box::new(Network::reversed(problem))),
        };
        Self { problem, down, up, centers: Centers::new(problem.topology()) }
    }

    /// The steps that a half takes at least, from these roots.
    pub fn least_steps(&self, roots: &Roots) -> u32 {
        roots.centers().map(|(_, members)| self.reach(members)).max().unwrap_or(0)
    }

    /// The steps that a half takes at least, from this center.
    fn reach(&self, members: &[u32]) -> u32 {
        self.networks().map(|network| reach(network, members)).max().unwrap_or(0)
    }

    fn networks(&self) -> impl Iterator<Item = &Network> {
        let up = if let Up::Own(network) = &self.up { Some(network.as_ref()) } else { None };
        self.down.iter().chain(up)
    }

    /// The total width that another planner reached, if no plan in halves is as narrow and only the volume counts.
    pub fn is_hopeless(&self, task: &Task<'_>) -> Option<u64> {
        let free = task.price.is_none() && task.steps.or(task.max_steps).is_none();
        let (_, known) = task.incumbent.filter(|_| free && self.has_free_roots())?;
        let least = match self.may_overlap(task.bounds) {
            true => task.bounds.least_width(self.problem.parts()).into(),
            false => 2 * u64::from(self.least_width(task.bounds, 0)),
        };
        (least > known && task.near.is_none_or(|near| least > near)).then_some(known)
    }

    /// The least total width of a half. Where roots are free, there must be enough chunks for the roots that each rank
    /// needs, if roots are doubled this often.
    pub fn least_width(&self, bounds: &Bounds, doublings: usize) -> u32 {
        let parts = self.problem.parts();
        let least = bounds.least_width(parts);
        if !self.has_free_roots() {
            return least;
        }
        let topology = self.problem.topology();
        let capacity: u64 = topology.live_links().map(|id| u64::from(topology.link(id).capacity)).sum();
        let arrivals = u64::from(parts) * topology.live_rank_count().saturating_sub(1 << doublings) as u64;
        let least = if doublings == 0 { least.div_ceil(2) } else { arrivals.div_ceil(capacity.max(1)) as u32 };
        let (mut low, mut high) = (least.max(1), parts.max(least).max(1));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.needed(middle, doublings) <= u64::from(parts) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// If roots are free: must ranks with few links be the roots of most chunks, in the least total width?
    pub fn is_crowded(&self, bounds: &Bounds) -> bool {
        self.has_free_roots() && 2 * self.needed(self.least_width(bounds, 0), 0) > u64::from(self.problem.parts())
    }

    /// May halves overlap, and would ranks short of links be the roots of most chunks if they did not?
    pub fn may_overlap(&self, bounds: &Bounds) -> bool {
        let mirrored = matches!((&self.down, &self.up), (Some(_), Up::Mirrored { .. }));
        let half = bounds.least_width(self.problem.parts()).div_ceil(2);
        let beyond = self.own_needs(half, 0).into_iter().map(|need| need.saturating_sub(self.even()));
        mirrored && self.has_free_roots() && 2 * beyond.map(u64::from).sum::<u64>() > u64::from(self.problem.parts())
    }

    /// The chunks of which a rank is the root if all are alike.
    pub fn even(&self) -> u32 {
        self.problem.parts().div_ceil(self.problem.topology().live_rank_count().max(1) as u32)
    }

    /// Are chunks both collected and spread?
    pub fn has_both(&self) -> bool {
        self.down.is_some() && !matches!(self.up, Up::Never)
    }

    fn has_free_roots(&self) -> bool {
        self.problem.collective().kind.owners() == 0
    }

    /// By rank: the chunks that cannot come in over its links in this total width. It must be their root, or in the
    /// center of others.
    pub fn own_needs(&self, width: u32, doublings: usize) -> Vec<u32> {
        let topology = self.problem.topology();
        let mut needs = vec![0; topology.rank_count()];
        let ranks = topology.live_rank_count().max(1) as u64;
        let centers = u64::from(self.problem.parts()) * ((1 << doublings) - 1) / ranks;
        for rank in topology.live_ranks() {
            let entering = self.networks().map(|network| network.capacity_into(rank.0)).min().unwrap_or(0);
            let need = self.problem.parts().saturating_sub(entering.saturating_mul(width));
            needs[rank.index()] = need.saturating_sub(u32::try_from(centers).unwrap_or(u32::MAX));
        }
        needs
    }

    /// All of these chunks.
    fn needed(&self, width: u32, doublings: usize) -> u64 {
        self.own_needs(width, doublings).into_iter().map(u64::from).sum()
    }

    /// How often a root can be doubled.
    pub fn most_doublings(&self) -> usize {
        if self.has_free_roots() { self.centers.most() } else { 0 }
    }

    /// The root of each chunk: its owner, or, if roots are free, as many at each rank as it needs in halves of this
    /// total width, and the others as evenly as possible; each doubled this often. `None` if the network does not allow
    /// that.
    pub fn roots(&self, width: u32, doublings: usize) -> Option<Roots> {
        let topology = self.problem.topology();
        if !self.has_free_roots() {
            let owner = |chunk: ChunkId| match self.problem.rule(chunk) {
                rule if matches!(self.up, Up::Never) => rule.before,
                rule => rule.after,
            };
            let of = |chunk| match owner(chunk) {
                Holders::One(rank) => Some((chunk, rank.0)).filter(|_| topology.is_alive(rank)),
                Holders::Every | Holders::Group(_) => None,
            };
            let (chunks, ranks) = (0..self.problem.chunk_count()).map(ChunkId).filter_map(of).unzip();
            return Some(Roots { chunks, ranks, doublings: 0 });
        }
        let needs = self.own_needs(width, doublings);
        let needed: u32 = needs.iter().sum();
        let counts = filled(topology, needs, self.problem.parts().saturating_sub(needed));
        // Where every rank is the root of as many chunks, centers with the same turn are translations of each other.
        let roots = (0..).zip(&counts).flat_map(|(rank, &count)| (0..count as usize).map(move |turn| (rank, turn)));
        let centers = roots.map(|(root, turn)| self.centers.around(topology, root, turn, doublings).next());
        Some(self.rooted(centers.collect::<Option<Vec<_>>>()?, doublings))
    }

    /// Roots, if they are free, doubled this often, of the fewest steps: centers as near to all others as any, so that
    /// swaps load links evenly. `None` if the network does not allow that, or it takes long to find them.
    pub fn near_roots(&self, doublings: usize) -> Option<Roots> {
        let topology = self.problem.topology();
        let work = topology.live_rank_count().saturating_mul(topology.links().len()) << doublings;
        let ranks = topology.live_ranks().filter(|_| self.has_free_roots() && work <= MOST_WORK);
        let centers = ranks.flat_map(|rank| self.centers.around(topology, rank.0, 0, doublings));
        let centers: Vec<(u32, Vec<u32>)> = centers.unique().map(|members| (self.reach(&members), members)).collect();
        let least = centers.iter().map(|&(reach, _)| reach).min()?;
        let near = centers.into_iter().filter(|&(reach, _)| reach == least).map(|(_, members)| members).collect();
        Some(self.rooted(evenly(topology, near, doublings, self.problem.parts()), doublings))
    }

    fn rooted(&self, centers: Vec<Vec<u32>>, doublings: usize) -> Roots {
        Roots { chunks: (0..self.problem.parts()).map(ChunkId).collect(), ranks: centers.concat(), doublings }
    }
}

/// A center for each chunk: the one whose swaps meet the least load so far, step by step and link by link.
fn evenly(topology: &Topology, centers: Vec<Vec<u32>>, doublings: usize, chunks: u32) -> Vec<Vec<u32>> {
    let links = topology.links().len();
    let swaps = |members: &Vec<u32>| -> Vec<usize> {
        let ends = (0..doublings).cartesian_product(0..members.len());
        let swap = |(stage, member): (usize, usize)| {
            let link = link_between(topology, members[member], members[member ^ 1 << stage])?;
            Some(stage * links + link.index())
        };
        ends.filter_map(swap).collect()
    };
    let swaps: Vec<Vec<usize>> = centers.iter().map(swaps).collect();
    let mut load = vec![0_u64; doublings * links];
    let mut choose = || {
        let met = |&index: &usize| swaps[index].iter().map(|&swap| load[swap]).sum::<u64>();
        let best = (0..centers.len()).min_by_key(met)?;
        swaps[best].iter().for_each(|&swap| load[swap] += 1);
        Some(centers[best].clone())
    };
    (0..chunks).filter_map(|_| choose()).collect()
}

/// Gives `more` roots to the ranks that have fewest: as high as all can be filled, and the rest far from each other.
fn filled(topology: &Topology, mut counts: Vec<u32>, more: u32) -> Vec<u32> {
    let live: Vec<usize> = topology.live_ranks().map(|rank| rank.index()).collect();
    let missing = |counts: &[u32], level: u32| {
        live.iter().map(|&rank| u64::from(level.saturating_sub(counts[rank]))).sum::<u64>()
    };
    let (mut level, mut above) = (0, more.saturating_add(counts.iter().max().copied().unwrap_or(0)).saturating_add(1));
    while level + 1 < above {
        let middle = level + (above - level) / 2;
        if missing(&counts, middle) <= u64::from(more) { level = middle } else { above = middle }
    }
    let rest = more - missing(&counts, level) as u32;
    live.iter().for_each(|&rank| counts[rank] = counts[rank].max(level));
    let lowest: Vec<usize> = live.iter().copied().filter(|&rank| counts[rank] == level).collect();
    for number in 0..rest as usize {
        counts[lowest[number * lowest.len() / rest as usize]] += 1;
    }
    counts
}

/// The opposite of each live link; `None` unless all have a live opposite of the same capacity.
fn opposites(topology: &Topology, network: &Network) -> Option<Vec<LinkId>> {
    let opposite = |&id: &LinkId| {
        let (back, capacity) = (topology.opposite(id)?, topology.link(id).capacity);
        Some(back).filter(|&back| topology.link(back).alive && topology.link(back).capacity == capacity)
    };
    network.ids.iter().map(opposite).collect()
}
