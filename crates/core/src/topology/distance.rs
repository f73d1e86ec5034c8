//! Hop distances over live links.

use std::collections::VecDeque;

use super::{RankId, Topology};

/// The distance between ranks that cannot reach each other.
pub const UNREACHABLE: u16 = u16::MAX;

/// All-pairs hop distances over live links: `N * N` entries of two bytes, one breadth-first search per rank, O(N *
/// links) time. Distances of 65535 and more count as unreachable.
#[derive(Clone, Debug)]
pub struct Distances {
    ranks: usize,
    hops: Vec<u16>,
}

impl Distances {
    /// Measures a topology.
    pub fn new(topology: &Topology) -> Self {
        let ranks = topology.rank_count();
        let hops = (0..).map(RankId).take(ranks).flat_map(|origin| topology.hops_from(origin)).collect();
        Self { ranks, hops }
    }

    /// The number of hops from one rank to another, or [`UNREACHABLE`].
    ///
    /// # Panics
    ///
    /// If a rank is out of range.
    pub fn get(&self, from: RankId, to: RankId) -> u16 {
        self.row(from)[to.index()]
    }

    /// The number of hops from one rank to every other, indexed by rank.
    ///
    /// # Panics
    ///
    /// If the rank is out of range.
    pub fn row(&self, from: RankId) -> &[u16] {
        &self.hops[from.index() * self.ranks..][..self.ranks]
    }
}

impl Topology {
    /// The number of hops from a rank to every rank, or [`UNREACHABLE`]; a failed rank reaches none. O(ranks + links).
    pub fn hops_from(&self, origin: RankId) -> Vec<u16> {
        let mut hops = vec![UNREACHABLE; self.rank_count()];
        if !self.is_alive(origin) {
            return hops;
        }
        hops[origin.index()] = 0;
        let mut queue = VecDeque::from([origin]);
        while let Some(rank) = queue.pop_front() {
            let next = hops[rank.index()].saturating_add(1);
            for id in self.links_from(rank) {
                let link = self.link(id);
                if link.alive && next < hops[link.to.index()] {
                    hops[link.to.index()] = next;
                    queue.push_back(link.to);
                }
            }
        }
        hops
    }
}
