//! The number of trees rooted at each rank.
//!
//! Trees with free roots fit in a network if and only if no set of ranks is short of them (Frank 1978, after Edmonds
//! 1973). A tree rooted outside a set has to enter it over a link, so for every set
//!
//! ```text
//!   roots in the set  >=  trees - width * capacity into the set
//! ```
//!
//! A rank with few links must be a root more often than others: trees rooted elsewhere have to come in over these
//! links. At first every rank is the root of all trees. Then each rank gives up roots, first down to an equal share of
//! all trees, then further, as long as no set becomes short, which takes one minimum cut per rank.
//!
//! Complexity: O(ranks * (equal share + 1)) maximum flows in the network.

use petgraph::graph::{DiGraph, EdgeIndex};

use crate::model::control::Control;
use crate::model::network::Network;

/// Levels between the equal share and nothing: they only make the counts more equal.
const LEVELS: u32 = 8;

/// The number of trees rooted at each rank, so that `trees` trees, leading away from their roots, fit in links of room
/// `width * capacity` in each of the networks. Only ranks that `may` are roots. `None` if they do not fit, or to stop.
pub(super) fn root_counts(
    networks: &[&Network],
    may: &[bool],
    trees: u32,
    width: u32,
    control: &Control,
) -> Option<Vec<u32>> {
    let candidates = || (0..may.len()).filter(|&rank| may[rank]);
    let mut counts: Vec<u32> = may.iter().map(|&may| if may { trees } else { 0 }).collect();
    let mut cuts: Vec<Cuts> = networks.iter().map(|network| Cuts::new(network, &counts, width)).collect();
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
            if left > u64::from(trees) && counts[rank] > least {
                if control.stop().is_some() {
                    return None;
                }
                let entering = cuts.iter().map(|cuts| cuts.least_into(rank)).min().unwrap_or(0);
                let count = trees.saturating_sub(entering).max(least);
                left -= u64::from(counts[rank] - count);
                counts[rank] = count;
                cuts.iter_mut().for_each(|cuts| cuts.set_count(rank, count));
            }
        }
    }
    (left == u64::from(trees)).then_some(counts)
}

/// The sets of ranks, as the cuts of a flow network: a source above all ranks, and the live links.
struct Cuts {
    graph: DiGraph<(), u32>,
    source: u32,
}

impl Cuts {
    /// The first edges are those from the source to each rank.
    fn new(network: &Network, counts: &[u32], width: u32) -> Self {
        let source = counts.len() as u32;
        let roots = counts.iter().zip(0..).map(|(&count, rank)| (source, rank, count));
        let ends = network.from.iter().zip(&network.to).zip(&network.capacity);
        let links = ends.map(|((&from, &to), capacity)| (from, to, capacity.saturating_mul(width)));
        Self { graph: DiGraph::from_edges(roots.chain(links)), source }
    }

    fn set_count(&mut self, rank: usize, count: u32) {
        self.graph[EdgeIndex::new(rank)] = count;
    }

    /// The minimum, over the sets with this rank, of the trees that can enter over links or are rooted at its other
    /// ranks.
    fn least_into(&self, rank: usize) -> u32 {
        let mut graph = self.graph.clone();
        graph[EdgeIndex::new(rank)] = 0;
        petgraph::algo::dinics(&graph, self.source.into(), (rank as u32).into()).0
    }
}
