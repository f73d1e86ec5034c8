//! Traffic split evenly over shortest paths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use collsynth_core::topology::{LinkId, Topology};

/// Links, by the ranks that they leave and enter.
pub struct ShortestPaths {
    /// The ranks that each link joins, in the order of the links passed in.
    ends: Vec<(usize, usize)>,
    /// The links out of, and into, each rank.
    from: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
    /// Paths longer than the shortest by at most this factor also carry a share.
    as_short: f64,
}

impl ShortestPaths {
    pub fn new(topology: &Topology, links: &[LinkId], as_short: f64) -> Self {
        let ranks = topology.rank_count();
        let ends = links.iter().map(|&id| (topology.link(id).from.index(), topology.link(id).to.index())).collect();
        let mut paths = Self { ends, from: vec![Vec::new(); ranks], into: vec![Vec::new(); ranks], as_short };
        for (index, &(from, to)) in paths.ends.iter().enumerate() {
            paths.from[from].push(index);
            paths.into[to].push(index);
        }
        paths
    }

    /// Splits what one rank sends to each other, `demand`, evenly over its shortest paths: adds the loads of links, and
    /// `add` gets the demand and the distance of each rank reached. One Dijkstra search.
    pub fn spread(
        &self,
        origin: usize,
        length: &[f64],
        demand: &[f64],
        load: &mut [f64],
        mut add: impl FnMut(f64, f64),
    ) {
        let (distance, settled) = self.search(origin, length);
        // Traffic through each rank, for itself and for the ranks behind it; the farthest first.
        let mut passing = demand.to_vec();
        for &rank in settled.iter().skip(1).rev() {
            add(demand[rank], distance[rank]);
            let last_hop =
                |&&link: &&usize| distance[self.ends[link].0] + length[link] <= distance[rank] * self.as_short;
            let share = passing[rank] / self.into[rank].iter().filter(last_hop).count() as f64;
            for &link in self.into[rank].iter().filter(last_hop) {
                load[link] += share;
                passing[self.ends[link].0] += share;
            }
        }
    }

    /// The distance of each rank; infinite where there is no path. One Dijkstra search.
    pub fn distances(&self, origin: usize, length: &[f64]) -> Vec<f64> {
        self.search(origin, length).0
    }

    /// Dijkstra's algorithm; also the ranks reached by ascending distance, the origin first.
    fn search(&self, origin: usize, length: &[f64]) -> (Vec<f64>, Vec<usize>) {
        let mut distance = vec![f64::INFINITY; self.from.len()];
        let mut settled = Vec::with_capacity(distance.len());
        distance[origin] = 0.0;
        // Nonnegative floats order like their bits.
        let mut reached = BinaryHeap::from([Reverse((0.0_f64.to_bits(), origin))]);
        while let Some(Reverse((bits, rank))) = reached.pop() {
            if f64::from_bits(bits) > distance[rank] {
                continue;
            }
            settled.push(rank);
            for &link in &self.from[rank] {
                let (next, there) = (self.ends[link].1, distance[rank] + length[link]);
                if there < distance[next] {
                    distance[next] = there;
                    reached.push(Reverse((there.to_bits(), next)));
                }
            }
        }
        (distance, settled)
    }
}
