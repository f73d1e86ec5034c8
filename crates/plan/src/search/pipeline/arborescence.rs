//! An arborescence: a directed tree from a root to all live ranks.

use crate::model::network::Network;

/// In place of a link: none.
const NO_LINK: u32 = u32::MAX;

/// The link by which each rank is reached; [`NO_LINK`] for the root and failed ranks.
pub(crate) type Parents = Vec<u32>;

/// An arborescence and the depth of every rank in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arborescence {
    parents: Parents,
    depths: Vec<u32>,
}

impl Arborescence {
    /// Of these links, which lead from the root to every rank that one of them enters.
    pub fn new(network: &Network, root: u32, parents: Parents) -> Self {
        const UNKNOWN: u32 = u32::MAX;
        let mut depths = vec![UNKNOWN; parents.len()];
        depths[root as usize] = 0;
        let mut walk = Vec::new();
        for rank in 0..parents.len() as u32 {
            let mut at = rank;
            while depths[at as usize] == UNKNOWN && parents[at as usize] != NO_LINK {
                walk.push(at);
                at = network.from[parents[at as usize] as usize];
            }
            let mut depth = depths[at as usize];
            while let Some(above) = walk.pop() {
                depth += 1;
                depths[above as usize] = depth;
            }
        }
        Self { parents, depths }
    }

    /// Parents before anything is reached.
    pub fn nothing_reached(network: &Network) -> Parents {
        vec![NO_LINK; network.rank_count()]
    }

    pub fn is_reached(parents: &Parents, rank: u32) -> bool {
        parents[rank as usize] != NO_LINK
    }

    pub fn depth(&self) -> u32 {
        self.reached().map(|(_, depth)| depth).max().unwrap_or(0)
    }

    /// Its links, each with the depth of the rank that it enters.
    pub fn reached(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let pairs = self.parents.iter().copied().zip(self.depths.iter().copied());
        pairs.filter(|&(link, _)| link != NO_LINK)
    }

    /// The link by which a rank is reached.
    pub fn parent(&self, rank: u32) -> u32 {
        self.parents[rank as usize]
    }

    pub fn depth_of(&self, rank: u32) -> u32 {
        self.depths[rank as usize]
    }

    /// The same with another link to a rank, which must not come from below it.
    pub fn rerouted(&self, network: &Network, root: u32, rank: u32, link: u32) -> Self {
        let mut parents = self.parents.clone();
        parents[rank as usize] = link;
        Self::new(network, root, parents)
    }
}
