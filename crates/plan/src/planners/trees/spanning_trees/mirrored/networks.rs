//! The machine as networks over time, for trees down and trees up.

use super::translation::Translation;
use crate::model::network::{LiveLink, Network};
use crate::search::tree_routing::TimedNetwork;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, Topology};

pub(super) struct Networks<'a> {
    /// If every link has an opposite of its capacity, one network, folded: trees up mirror trees down, backward in
    /// time. Otherwise two: down, as the machine is; up, in reversed time over reversed links.
    pub timed: Vec<TimedNetwork>,
    pub live: &'a [u32],
    /// For each rank, the hops to the farthest other, in the longer direction; 0 for those that failed.
    hops: Vec<u32>,
}

impl<'a> Networks<'a> {
    pub fn new(problem: &Problem, network: Network, translation: Option<&Translation>, live: &'a [u32]) -> Self {
        let opposite = opposites(problem.topology(), &network.ids);
        let down = match translation {
            Some(known) => TimedNetwork::with_columns(network, known.column.clone(), known.capacity.clone()),
            None => TimedNetwork::new(network),
        };
        let timed = match opposite {
            Some(opposite) => vec![down.folded(&opposite)],
            None => vec![down, TimedNetwork::new(Network::reversed(problem)).backward()],
        };
        let mut hops = vec![0; timed[0].network.rank_count()];
        for &rank in live {
            hops[rank as usize] = timed.iter().map(|timed| u32::from(timed.farthest(rank))).max().unwrap_or(0);
        }
        Self { timed, live, hops }
    }

    /// Are trees up the mirror images of trees down?
    pub fn is_folded(&self) -> bool {
        self.timed.len() == 1
    }

    /// The hops between a rank and the farthest other, in the longer direction.
    pub fn hops(&self, rank: u32) -> u32 {
        self.hops[rank as usize]
    }

    pub fn least_hops(&self) -> u32 {
        self.live.iter().map(|&rank| self.hops(rank)).min().unwrap_or(0)
    }

    /// The link that carries a chunk up, given its number in the network of the tree that times it.
    pub fn link_up(&self, topology: &Topology, link: LiveLink) -> LinkId {
        let id = self.timed[0].network.ids[link as usize];
        if self.is_folded() { topology.opposite(id).unwrap_or(id) } else { id }
    }
}

/// The opposite of each live link; `None` unless all have a live opposite of the same capacity.
fn opposites(topology: &Topology, ids: &[LinkId]) -> Option<Vec<LiveLink>> {
    let opposite = |&id: &LinkId| {
        let back = topology.opposite(id).filter(|&back| topology.link(back).capacity == topology.link(id).capacity)?;
        ids.binary_search(&back).ok().map(|link| link as LiveLink)
    };
    ids.iter().map(opposite).collect()
}
