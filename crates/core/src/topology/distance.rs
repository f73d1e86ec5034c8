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
        let mut hops = vec![UNREACHABLE; ranks * ranks];
        let mut queue = VecDeque::new();
        for origin in topology.live_ranks() {
            let row = &mut hops[origin.index() * ranks..][..ranks];
            row[origin.index()] = 0;
            queue.push_back(origin);
            while let Some(rank) = queue.pop_front() {
                let next = row[rank.index()].saturating_add(1);
                for id in topology.links_from(rank) {
                    let link = topology.link(id);
                    if link.alive && next < row[link.to.index()] {
                        row[link.to.index()] = next;
                        queue.push_back(link.to);
                    }
                }
            }
        }
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

    /// The distances if every link were reversed.
    pub fn transposed(&self) -> Self {
        let ranks = self.ranks;
        let hops = (0..ranks * ranks).map(|pair| self.hops[pair % ranks * ranks + pair / ranks]).collect();
        Self { ranks, hops }
    }
}
