//! A tree in time for each bundle: the link over which each rank gets it, and the step.

use std::ops::Range;

use fastrand::Rng;

use crate::model::network::{LiveLink, Network, WAIT};

/// Ranks that one move may change.
const MOST_SHIFTED: usize = 64;

/// A rank gets a bundle over a link in a step, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub rank: u32,
    pub link: LiveLink,
    pub step: u32,
}

/// Trees from one root to all live ranks.
#[derive(Clone, Debug)]
pub(super) struct TreesInTime<'a> {
    pub network: &'a Network,
    root: u32,
    pub steps: u32,
    pub bundles: u32,
    /// The live ranks but the root.
    pub ranks: Vec<u32>,
    /// At `bundle * rank_count + rank`: the link, [`WAIT`] for the root and failed ranks, and the step.
    via: Vec<LiveLink>,
    at: Vec<u32>,
}

impl<'a> TreesInTime<'a> {
    /// Random trees that begin in random steps, a level per step, over as few links of the root as reach all ranks in
    /// time. There must be steps enough for the farthest rank.
    pub fn new(network: &'a Network, root: u32, (steps, bundles): (u32, u32), rng: &mut Rng) -> Self {
        let all = 0..network.rank_count() as u32;
        let ranks: Vec<u32> = all.filter(|&rank| rank != root && !network.entering(rank).is_empty()).collect();
        let deepest = ranks.iter().map(|&rank| network.distance(root, rank)).max().unwrap_or(0);
        let places = bundles as usize * network.rank_count();
        let (mut via, mut at) = (vec![WAIT; places], vec![0; places]);
        let mut first = network.out(root).to_vec();
        for base in (0..places).step_by(network.rank_count()) {
            let begin = rng.u32(..steps - deepest + 1);
            rng.shuffle(&mut first);
            let over = |count: usize| levels(network, root, &first[..count]);
            let in_time = |levels: &[u32]| ranks.iter().all(|&rank| levels[rank as usize] <= steps - begin);
            let count = (1..first.len()).find(|&count| in_time(&over(count))).unwrap_or(first.len());
            let levels = over(count);
            for &rank in &ranks {
                let level = levels[rank as usize];
                let above = |link: LiveLink| levels[network.from[link as usize] as usize];
                let is_parent = |link: &LiveLink| above(*link) + 1 == level;
                let parents: Vec<LiveLink> = network.entering(rank).iter().copied().filter(is_parent).collect();
                let place = base + rank as usize;
                via[place] = parents[rng.usize(..parents.len())];
                at[place] = begin + level - 1;
            }
        }
        Self { network, root, steps, bundles, ranks, via, at }
    }

    pub fn hop_count(&self) -> u64 {
        u64::from(self.bundles) * self.ranks.len() as u64
    }

    /// The hops of a bundle: link and step.
    pub fn hops(&self, bundle: u32) -> impl Iterator<Item = (LiveLink, u32)> + '_ {
        self.ranks.iter().map(move |&rank| self.hop(bundle, rank))
    }

    pub fn hop(&self, bundle: u32, rank: u32) -> (LiveLink, u32) {
        let place = self.place(bundle, rank);
        (self.via[place], self.at[place])
    }

    /// Bundles over each link in each step, at `step * link_count + link`.
    pub fn loads(&self) -> Vec<u32> {
        let links = self.network.link_count();
        let mut loads = vec![0; self.steps as usize * links];
        for (link, step) in (0..self.bundles).flat_map(|bundle| self.hops(bundle)) {
            loads[step as usize * links + link as usize] += 1;
        }
        loads
    }

    /// The width of each step, in bundles.
    pub fn widths(&self, loads: &[u32]) -> Vec<u32> {
        let width = |loads: &[u32]| {
            let widths = loads.iter().zip(&self.network.capacity).map(|(load, &capacity)| load.div_ceil(capacity));
            widths.max().unwrap_or(0)
        };
        loads.chunks(self.network.link_count()).map(width).collect()
    }

    /// The sum of the widths, in bundles.
    pub fn width(&self) -> u64 {
        self.widths(&self.loads()).into_iter().map(u64::from).sum()
    }

    /// The steps in which a rank may get a bundle from another and still pass it on as it does; none if the other gets
    /// it through the rank.
    pub fn free_steps(&self, bundle: u32, rank: u32, from: u32) -> Range<u32> {
        let next = self.next(bundle, rank).map(|next| self.hop(bundle, next).1);
        self.first_step(bundle, from)..next.min().unwrap_or(self.steps)
    }

    /// The steps in which a rank may get a bundle from another at all.
    pub fn possible_steps(&self, from: u32) -> Range<u32> {
        self.network.distance(self.root, from)..self.steps
    }

    /// Adds to the one hop that is to change those it forces to: what the rank passes on is delayed, and what it gets
    /// is hurried. False if the steps do not allow it, if too many hops are concerned, or if the sender gets the bundle
    /// through the rank.
    pub fn shift(&self, bundle: u32, shifted: &mut Vec<Hop>) -> bool {
        let hop = shifted[0];
        let from = self.network.from[hop.link as usize];
        if self.is_below(bundle, from, hop.rank) {
            return false;
        }
        let mut done = 0;
        while let Some(&Hop { rank, step, .. }) = shifted.get(done) {
            done += 1;
            for next in self.next(bundle, rank) {
                let (link, at) = self.hop(bundle, next);
                if at <= step {
                    if step + 1 >= self.steps || shifted.len() >= MOST_SHIFTED {
                        return false;
                    }
                    shifted.push(Hop { rank: next, link, step: step + 1 });
                }
            }
        }
        let (mut rank, mut before) = (from, hop.step);
        while self.first_step(bundle, rank) > before {
            if before == 0 || shifted.len() >= MOST_SHIFTED {
                return false;
            }
            before -= 1;
            let (link, _) = self.hop(bundle, rank);
            shifted.push(Hop { rank, link, step: before });
            rank = self.network.from[link as usize];
        }
        true
    }

    pub fn set(&mut self, bundle: u32, hop: Hop) {
        let place = self.place(bundle, hop.rank);
        (self.via[place], self.at[place]) = (hop.link, hop.step);
    }

    /// The ranks that get a bundle from a rank.
    fn next(&self, bundle: u32, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let out = self.network.out(rank).iter();
        out.map(|&link| (link, self.network.to[link as usize]))
            .filter(move |&(link, to)| self.via[self.place(bundle, to)] == link)
            .map(|(_, to)| to)
    }

    /// The first step in which a rank can pass a bundle on.
    fn first_step(&self, bundle: u32, rank: u32) -> u32 {
        if rank == self.root { 0 } else { self.hop(bundle, rank).1 + 1 }
    }

    /// Does a bundle reach a rank through another, or are they the same?
    fn is_below(&self, bundle: u32, mut rank: u32, above: u32) -> bool {
        // Those below get it later.
        while rank != self.root && self.hop(bundle, rank).1 > self.hop(bundle, above).1 {
            rank = self.network.from[self.hop(bundle, rank).0 as usize];
        }
        rank == above
    }

    fn place(&self, bundle: u32, rank: u32) -> usize {
        bundle as usize * self.network.rank_count() + rank as usize
    }
}

/// The hops from the root to each rank over paths that begin with one of these links; much for ranks that have none.
fn levels(network: &Network, root: u32, first: &[LiveLink]) -> Vec<u32> {
    /// Half of the largest, so that one more is a number too.
    const NEVER: u32 = u32::MAX / 2;
    let mut levels = vec![NEVER; network.rank_count()];
    levels[root as usize] = 0;
    let mut reached = vec![root];
    let mut done = 0;
    while let Some(&rank) = reached.get(done) {
        done += 1;
        for &link in if rank == root { first } else { network.out(rank) } {
            let to = network.to[link as usize];
            if levels[to as usize] == NEVER {
                levels[to as usize] = levels[rank as usize] + 1;
                reached.push(to);
            }
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{RankId, Topology};

    /// Whatever hops are shifted, every rank gets every bundle from a rank that had it before.
    #[test]
    fn trees_stay_trees() {
        let torus = Topology::torus(&[4, 3]).unwrap().fail_cable(0, 1).unwrap();
        let problem = Problem::new(torus, Collective { kind: Kind::Broadcast(RankId(0)), parts: 3 }).unwrap();
        let network = Network::new(&problem);
        let mut rng = Rng::with_seed(7);
        let mut trees = TreesInTime::new(&network, 0, (6, 3), &mut rng);
        let (mut shifted, mut made, mut most) = (Vec::new(), 0, 0);
        for _ in 0..20_000 {
            let (bundle, rank) = (rng.u32(..3), trees.ranks[rng.usize(..11)]);
            let link = *rng.choice(network.entering(rank)).unwrap();
            let free = trees.free_steps(bundle, rank, network.from[link as usize]);
            assert!(free.is_empty() || !trees.is_below(bundle, network.from[link as usize], rank));
            shifted.clear();
            shifted.push(Hop { rank, link, step: rng.u32(..6) });
            if trees.shift(bundle, &mut shifted) {
                shifted.iter().for_each(|&hop| trees.set(bundle, hop));
                (made, most) = (made + 1, shifted.len().max(most));
            }
            for &rank in &trees.ranks {
                let (link, step) = trees.hop(bundle, rank);
                let from = network.from[link as usize];
                assert!(step < 6 && network.to[link as usize] == rank && trees.first_step(bundle, from) <= step);
            }
        }
        assert!(made > 1000 && most > 3, "{made} {most}");
    }
}
