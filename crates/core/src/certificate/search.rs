//! Weighted distances over the live links of a topology, one search per centre.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::topology::{RankId, Topology};

/// The distance between ranks that cannot reach each other.
pub(super) const INFINITE: u64 = u64::MAX;

/// Which way links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Distances from the centre.
    Out,
    /// Distances to the centre.
    In,
}

/// Dijkstra's algorithm on flat arrays. Its memory is kept between searches.
pub(super) struct Search {
    /// `arcs[start[rank]..start[rank + 1]]`: the neighbors of a rank, and the weight of the link.
    start: Vec<usize>,
    arcs: Vec<(u32, u32)>,
    distance: Vec<u64>,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    near: Vec<u32>,
}

impl Search {
    /// Prepares searches over live links; `weight` has one entry per link.
    pub(super) fn new(topology: &Topology, weight: &[u32], way: Way) -> Self {
        let mut start = vec![0];
        let mut arcs = Vec::with_capacity(topology.links().len());
        for rank in (0..topology.rank_count() as u32).map(RankId) {
            let mut add = |id| {
                let link = topology.link(id);
                if link.alive {
                    arcs.push((if way == Way::Out { link.to.0 } else { link.from.0 }, weight[id.index()]));
                }
            };
            match way {
                Way::Out => topology.links_from(rank).for_each(&mut add),
                Way::In => topology.links_into(rank).for_each(&mut add),
            }
            start.push(arcs.len());
        }
        let distance = vec![INFINITE; topology.rank_count()];
        Self { start, arcs, distance, far: BinaryHeap::new(), near: Vec::new() }
    }

    /// The distance between the centre and every rank, indexed by rank; [`INFINITE`] where there is no way.
    ///
    /// Ranks reached over links of weight 0 are as near as the rank at hand and go to a stack, the others to a heap:
    /// for the weights of a cut, nearly all ranks avoid the heap. O(links log links).
    pub(super) fn from(&mut self, centre: RankId) -> &[u64] {
        self.distance.fill(INFINITE);
        self.distance[centre.index()] = 0;
        self.near.push(centre.0);
        loop {
            while let Some(rank) = self.near.pop() {
                let here = self.distance[rank as usize];
                for &(next, weight) in &self.arcs[self.start[rank as usize]..self.start[rank as usize + 1]] {
                    let there = here + u64::from(weight);
                    if there < self.distance[next as usize] {
                        self.distance[next as usize] = there;
                        match weight {
                            0 => self.near.push(next),
                            _ => self.far.push(Reverse((there, next))),
                        }
                    }
                }
            }
            match self.far.pop() {
                Some(Reverse((there, rank))) if there == self.distance[rank as usize] => self.near.push(rank),
                Some(_) => {}
                None => return &self.distance,
            }
        }
    }
}
