//! The load of links when all messages take their shortest paths.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId};

/// Paths longer than the shortest by at most this factor also carry a share.
const AS_SHORT: f64 = 1.0 + 1e-6;

/// Loads of links under given lengths, in the order of the links passed in.
pub(super) struct Crowding {
    pub capacity: Vec<f64>,
    /// Messages over each link in the last routing.
    pub load: Vec<f64>,
    ends: Vec<(usize, usize)>,
    /// The links out of, and into, each rank.
    from: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
    /// Messages from each rank to each, row by row.
    demand: Vec<f64>,
}

impl Crowding {
    pub fn new(problem: &Problem, links: &[LinkId]) -> Self {
        let topology = problem.topology();
        let ranks = topology.rank_count();
        let links: Vec<_> = links.iter().map(|&id| topology.link(id)).collect();
        let (mut from, mut into) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for (index, link) in links.iter().enumerate() {
            from[link.from.index()].push(index);
            into[link.to.index()].push(index);
        }
        let pair = |pair: usize| (RankId((pair / ranks) as u32), RankId((pair % ranks) as u32));
        let amount = |(origin, dest)| f64::from(problem.owed(origin, dest)) / f64::from(problem.parts());
        Self {
            capacity: links.iter().map(|link| f64::from(link.capacity)).collect(),
            load: vec![0.0; links.len()],
            ends: links.iter().map(|link| (link.from.index(), link.to.index())).collect(),
            from,
            into,
            demand: (0..ranks * ranks).map(|index| amount(pair(index))).collect(),
        }
    }

    /// Splits every message evenly over its shortest paths; returns the sum of their lengths. One Dijkstra search per
    /// rank.
    pub fn route(&mut self, length: &[f64]) -> f64 {
        let ranks = self.from.len();
        self.load.fill(0.0);
        let mut total = 0.0;
        let mut distance = vec![f64::INFINITY; ranks];
        let mut settled = Vec::with_capacity(ranks);
        for origin in 0..ranks {
            self.search(origin, length, &mut distance, &mut settled);
            // Traffic through each rank, for itself and for the ranks behind it; the farthest first.
            let mut passing = self.demand[origin * ranks..][..ranks].to_vec();
            for &rank in settled.iter().skip(1).rev() {
                total += self.demand[origin * ranks + rank] * distance[rank];
                let last_hop =
                    |&&link: &&usize| distance[self.ends[link].0] + length[link] <= distance[rank] * AS_SHORT;
                let share = passing[rank] / self.into[rank].iter().filter(last_hop).count() as f64;
                for &link in self.into[rank].iter().filter(last_hop) {
                    self.load[link] += share;
                    passing[self.ends[link].0] += share;
                }
            }
        }
        total
    }

    /// Dijkstra's algorithm; `settled` lists the ranks reached by ascending distance, the origin first.
    fn search(&self, origin: usize, length: &[f64], distance: &mut [f64], settled: &mut Vec<usize>) {
        distance.fill(f64::INFINITY);
        settled.clear();
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
    }
}
