//! A tree of cheapest paths through the time-expanded network.
//!
//! Dynamic programming over the steps finds the cheapest path to every rank. The union of these paths need not be a
//! tree: a rank may be reached late on its own path and early on the path to another. The early arrival serves both, so
//! it replaces the late one. That leaves one arrival per rank, each later than its sender's.

use std::ops::Range;

use crate::model::network::{LiveLink, Network, WAIT};

const FAR: u32 = u32::MAX / 2;

/// The hop by which a rank gets a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The live link, or [`WAIT`].
    pub link: LiveLink,
    /// The step, from 0.
    pub step: u16,
}

impl Arrival {
    /// No hop: for the root, and for ranks that the tree does not reach.
    pub const NONE: Self = Self { link: WAIT, step: u16::MAX };
}

/// Scratch space, kept from tree to tree.
#[derive(Debug, Default)]
pub(crate) struct TreeRouter {
    before: Vec<u32>,
    after: Vec<u32>,
    /// `arrival[step * ranks + rank]`, counted from the first step: the link over which the cheapest path arrives there
    /// in this step, or [`WAIT`].
    arrival: Vec<LiveLink>,
}

impl TreeRouter {
    /// Writes a tree from `root` to every target it can reach in these steps, `tree[rank]`; `prices(step)(link)`. Ranks
    /// that the tree does not reach have no arrival. O(steps * links).
    pub fn route<P: Fn(LiveLink) -> u32>(
        &mut self,
        network: &Network,
        root: u32,
        steps: Range<u16>,
        prices: impl Fn(u16) -> P,
        targets: impl Fn(u32) -> bool,
        tree: &mut [Arrival],
    ) {
        let ranks = network.rank_count();
        self.relax(network, root, steps.clone(), prices);
        tree.fill(Arrival::NONE);
        // The farthest ranks first: their paths serve others.
        let reached = |&rank: &u32| self.before[rank as usize] < FAR && targets(rank);
        let mut leaves: Vec<u32> = (0..ranks as u32).filter(reached).collect();
        leaves.sort_by_key(|&rank| std::cmp::Reverse(network.distance(root, rank)));
        for leaf in leaves {
            let (mut at, mut step) = (leaf, steps.end);
            while at != root && tree[at as usize].step >= step {
                step -= 1;
                let link = self.arrival[usize::from(step - steps.start) * ranks + at as usize];
                if link != WAIT {
                    tree[at as usize] = Arrival { link, step };
                    at = network.from[link as usize];
                }
            }
        }
        prune(network, root, &targets, tree);
    }

    fn relax<P: Fn(LiveLink) -> u32>(
        &mut self,
        network: &Network,
        root: u32,
        steps: Range<u16>,
        prices: impl Fn(u16) -> P,
    ) {
        let ranks = network.rank_count();
        self.before.clear();
        self.before.resize(ranks, FAR);
        self.before[root as usize] = 0;
        self.arrival.clear();
        for step in steps {
            self.after.clone_from(&self.before);
            let price = prices(step);
            let first = self.arrival.len();
            self.arrival.resize(first + ranks, WAIT);
            for link in 0..network.link_count() {
                let (from, to) = (network.from[link] as usize, network.to[link] as usize);
                if self.before[from] >= FAR {
                    continue;
                }
                let cost = self.before[from].saturating_add(price(link as LiveLink));
                if cost < self.after[to] {
                    self.after[to] = cost;
                    self.arrival[first + to] = link as LiveLink;
                }
            }
            std::mem::swap(&mut self.before, &mut self.after);
        }
    }
}

/// Removes the arrivals at ranks that are no targets and pass nothing on: an earlier arrival may have left them behind.
fn prune(network: &Network, root: u32, targets: impl Fn(u32) -> bool, tree: &mut [Arrival]) {
    let mut children = vec![0_u32; tree.len()];
    for arrival in tree.iter().filter(|arrival| arrival.link != WAIT) {
        children[network.from[arrival.link as usize] as usize] += 1;
    }
    for start in 0..tree.len() as u32 {
        let mut at = start;
        while at != root && !targets(at) && children[at as usize] == 0 && tree[at as usize].link != WAIT {
            let arrival = std::mem::replace(&mut tree[at as usize], Arrival::NONE);
            at = network.from[arrival.link as usize];
            children[at as usize] -= 1;
        }
    }
}
