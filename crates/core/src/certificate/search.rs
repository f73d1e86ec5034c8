//! Weighted distances over the live links of a topology, one search per center.

use crate::exact::narrow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::work::QUEUED;
use crate::topology::{RankId, Topology};

/// The distance between ranks that cannot reach each other.
pub(super) const INFINITE: u64 = u64::MAX;

/// Whether links are followed forward or backward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orientation {
    /// Distances from the center.
    Out,
    /// Distances to the center.
    In,
}

/// Dijkstra's algorithm on flat arrays; reuses its memory between searches.
pub(super) struct Search {
    /// `arcs[start[rank]..start[rank + 1]]`: the neighbors of a rank, and the weight of the link.
    start: Vec<usize>,
    arcs: Vec<(u32, u32)>,
    distance: Vec<u64>,
    far: BinaryHeap<Reverse<(u64, u32)>>,
    near: Vec<u32>,
    steps: u64,
}

impl Search {
    /// `weight` has one entry per link.
    pub(super) fn new(topology: &Topology, weight: &[u32], orientation: Orientation) -> Self {
        let mut start = vec![0];
        let mut arcs = Vec::with_capacity(topology.links().len());
        for rank in (0..narrow(topology.rank_count())).map(RankId) {
            let mut add = |id| {
                let link = topology.link(id);
                if link.alive {
                    let next = if orientation == Orientation::Out { link.to } else { link.from };
                    arcs.push((next.0, weight[id.index()]));
                }
            };
            match orientation {
                Orientation::Out => topology.links_from(rank).for_each(&mut add),
                Orientation::In => topology.links_into(rank).for_each(&mut add),
            }
            start.push(arcs.len());
        }
        let distance = vec![INFINITE; topology.rank_count()];
        Self { start, arcs, distance, far: BinaryHeap::new(), near: Vec::new(), steps: 0 }
    }

    /// The steps taken since the last call, for [`Work`](super::Work).
    pub(super) fn steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// The distance between the center and every rank, indexed by rank; [`INFINITE`] where there is no path.
    pub(super) fn from(&mut self, center: RankId) -> &[u64] {
        let mut distance = std::mem::take(&mut self.distance);
        distance.fill(INFINITE);
        distance[center.index()] = 0;
        self.spread(&mut distance);
        self.distance = distance;
        &self.distance
    }

    /// Lowers the distance of every rank to the least there is by way of another: its distance and that between them.
    ///
    /// Ranks reached over links of weight 0 are as near as the current rank and go to a stack, the others to a heap:
    /// with the weights of a cut, nearly all ranks avoid the heap. O(links log links).
    #[expect(clippy::arithmetic_side_effects, reason = "paths have fewer than 2^20 links, each of a weight below 2^32")]
    pub(super) fn spread(&mut self, distance: &mut [u64]) {
        self.steps += distance.len() as u64;
        for (rank, &here) in (0..).zip(distance.iter()).filter(|&(_, &here)| here != INFINITE) {
            let mut arcs = self.arcs[self.start[rank as usize]..self.start[rank as usize + 1]].iter();
            self.steps += arcs.len() as u64;
            if arcs.any(|&(next, weight)| here + u64::from(weight) < distance[next as usize]) {
                self.far.push(Reverse((here, rank)));
            }
        }
        while let Some(Reverse((there, rank))) = self.far.pop() {
            self.steps += QUEUED;
            if there > distance[rank as usize] {
                continue;
            }
            self.near.push(rank);
            while let Some(rank) = self.near.pop() {
                let here = distance[rank as usize];
                self.steps += (self.start[rank as usize + 1] - self.start[rank as usize]) as u64;
                for &(next, weight) in &self.arcs[self.start[rank as usize]..self.start[rank as usize + 1]] {
                    let there = here + u64::from(weight);
                    if there < distance[next as usize] {
                        distance[next as usize] = there;
                        match weight {
                            0 => self.near.push(next),
                            _ => self.far.push(Reverse((there, next))),
                        }
                    }
                }
            }
        }
    }
}

/// The number of hops from one rank to another over live links, or [`INFINITE`].
pub(super) fn hops(topology: &Topology, from: RankId, to: RankId) -> u64 {
    Search::new(topology, &vec![1; topology.links().len()], Orientation::Out).from(from)[to.index()]
}
