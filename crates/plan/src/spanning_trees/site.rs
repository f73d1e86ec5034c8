//! The machine to plan for, as grounds on which trees grow.

use super::translation::Translation;
use crate::negotiation::{LiveLink, Network};
use crate::trees::Ground;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, Topology};

/// Where trees grow.
pub(super) struct Site<'a> {
    /// Where every link has an opposite link like it, one ground, folded: what goes up is what goes down, seen
    /// backwards. Elsewhere two: downwards, as things are; upwards, in reversed time, links turned round.
    pub grounds: Vec<Ground>,
    /// The live ranks.
    pub live: &'a [u32],
}

impl<'a> Site<'a> {
    /// The site of a problem, whose live ranks these are, given its network.
    pub fn new(problem: &Problem, network: Network, translation: Option<&Translation>, live: &'a [u32]) -> Self {
        let opposite = opposites(problem.topology(), &network.ids);
        let ground = match translation {
            Some(known) => Ground::with_columns(network, known.column.clone(), known.capacity.clone()),
            None => Ground::new(network),
        };
        let grounds = match opposite {
            Some(opposite) => vec![ground.folded(&opposite)],
            None => vec![ground, Ground::new(Network::reversed(problem)).backwards()],
        };
        Self { grounds, live }
    }

    /// Is what goes up the mirror image of what goes down?
    pub fn is_folded(&self) -> bool {
        self.grounds.len() == 1
    }

    /// The hops it takes from a rank to all others, or from them to it, whichever is more.
    pub fn hops(&self, rank: u32) -> u32 {
        self.grounds.iter().map(|ground| u32::from(ground.farthest(rank))).max().unwrap_or(0)
    }

    /// The hops of the rank that has the fewest.
    pub fn least_hops(&self) -> u32 {
        self.live.iter().map(|&rank| self.hops(rank)).min().unwrap_or(0)
    }

    /// The link that carries a chunk up, given its number on the ground of the tree that tells when.
    pub fn link_up(&self, topology: &Topology, link: LiveLink) -> LinkId {
        let id = self.grounds[0].network.ids[link as usize];
        if self.is_folded() { topology.opposite(id).unwrap_or(id) } else { id }
    }
}

/// The opposite of each live link; `None` if some has none that is alive and of the same capacity.
fn opposites(topology: &Topology, ids: &[LinkId]) -> Option<Vec<LiveLink>> {
    let opposite = |&id: &LinkId| {
        let back = topology.opposite(id).filter(|&back| topology.link(back).capacity == topology.link(id).capacity)?;
        ids.binary_search(&back).ok().map(|link| link as LiveLink)
    };
    ids.iter().map(opposite).collect()
}
