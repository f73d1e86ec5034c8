//! How many trees are rooted at each rank.
//!
//! Trees with free roots fit in a network exactly if no set of ranks is short of them (Frank 1978, after Edmonds 1973).
//! A tree that is not rooted in a set has to enter it over a link, so for every set
//!
//! ```text
//!   roots in the set  >=  trees - width * capacity into the set
//! ```
//!
//! A rank with few links must be a root more often than others: what is rooted elsewhere has to come in over them. To
//! begin with, everybody is the root of everything. Then roots are taken away, rank by rank, first down to an equal
//! share of all trees, then down to ever fewer: as many as no set misses, which is a minimum cut per rank.
//!
//! Complexity: O(ranks * (equal share + 1)) maximum flows in the network.

use petgraph::graph::{DiGraph, EdgeIndex};

use crate::negotiation::Network;

/// Levels between the equal share and nothing that are looked at, at most: they only make shares more equal.
const LEVELS: u32 = 8;

/// The number of trees rooted at each rank, so that `trees` trees fit in links of room `width * capacity`, spread
/// away from the roots in each of the networks. Only ranks that `may` are roots. `None` if they do not fit.
pub(super) fn shares(networks: &[&Network], may: &[bool], trees: u32, width: u32) -> Option<Vec<u32>> {
    let candidates = || (0..may.len()).filter(|&rank| may[rank]);
    let mut shares: Vec<u32> = may.iter().map(|&may| if may { trees } else { 0 }).collect();
    let mut cuts: Vec<Cuts> = networks.iter().map(|network| Cuts::new(network, &shares, width)).collect();
    let own_need = |rank: usize| {
        let entering = networks.iter().map(|network| network.capacity_into(rank as u32)).min().unwrap_or(0);
        trees.saturating_sub(entering.saturating_mul(width))
    };
    let mut left = candidates().count() as u64 * u64::from(trees);
    let equal = trees / candidates().count().max(1) as u32;
    let levels = LEVELS.min(equal);
    for level in (0..=levels).rev().map(|level| level * equal / levels.max(1)) {
        for rank in candidates() {
            let least = own_need(rank) + level;
            if left > u64::from(trees) && shares[rank] > least {
                let entering = cuts.iter().map(|cuts| cuts.least_into(rank)).min().unwrap_or(0);
                let share = trees.saturating_sub(entering).max(least);
                left -= u64::from(shares[rank] - share);
                shares[rank] = share;
                cuts.iter_mut().for_each(|cuts| cuts.set_share(rank, share));
            }
        }
    }
    (left == u64::from(trees)).then_some(shares)
}

/// The sets of ranks, as the cuts of a flow network: a source above all ranks, and the live links.
struct Cuts {
    graph: DiGraph<(), u32>,
    source: u32,
}

impl Cuts {
    /// The first edges are those from the source to each rank.
    fn new(network: &Network, shares: &[u32], width: u32) -> Self {
        let mut graph = DiGraph::with_capacity(shares.len() + 1, shares.len() + network.link_count());
        for _ in 0..=shares.len() {
            graph.add_node(());
        }
        let source = shares.len() as u32;
        for (rank, &share) in shares.iter().enumerate() {
            graph.add_edge(source.into(), (rank as u32).into(), share);
        }
        for ((&from, &to), &capacity) in network.from.iter().zip(&network.to).zip(&network.capacity) {
            graph.add_edge(from.into(), to.into(), capacity.saturating_mul(width));
        }
        Self { graph, source }
    }

    fn set_share(&mut self, rank: usize, share: u32) {
        self.graph[EdgeIndex::new(rank)] = share;
    }

    /// Of the sets with this rank in them: the least that enters over links and is rooted at the other ranks of the
    /// set.
    fn least_into(&self, rank: usize) -> u32 {
        let mut graph = self.graph.clone();
        graph[EdgeIndex::new(rank)] = 0;
        petgraph::algo::dinics(&graph, self.source.into(), (rank as u32).into()).0
    }
}
