//! The load of links when all messages take their shortest paths.

use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId};

use super::shortest::ShortestPaths;

/// Paths longer than the shortest by at most this factor also carry a share.
const AS_SHORT: f64 = 1.0 + 1e-6;

/// Loads of links under given lengths, in the order of the links passed in.
pub(super) struct Crowding {
    pub capacity: Vec<f64>,
    /// Messages over each link in the last routing.
    pub load: Vec<f64>,
    paths: ShortestPaths,
    /// Messages from each rank to each, row by row.
    demand: Vec<f64>,
}

impl Crowding {
    pub fn new(problem: &Problem, links: &[LinkId]) -> Self {
        let topology = problem.topology();
        let ranks = topology.rank_count();
        let pair = |pair: usize| (RankId((pair / ranks) as u32), RankId((pair % ranks) as u32));
        let amount = |(origin, dest)| f64::from(problem.owed(origin, dest)) / f64::from(problem.parts());
        Self {
            capacity: links.iter().map(|&id| f64::from(topology.link(id).capacity)).collect(),
            load: vec![0.0; links.len()],
            paths: ShortestPaths::new(topology, links, AS_SHORT),
            demand: (0..ranks * ranks).map(|index| amount(pair(index))).collect(),
        }
    }

    /// Splits every message evenly over its shortest paths; returns the sum of their lengths. One Dijkstra search per
    /// rank.
    pub fn route(&mut self, length: &[f64]) -> f64 {
        self.load.fill(0.0);
        let mut total = 0.0;
        let ranks = self.demand.len().isqrt();
        for (origin, demand) in self.demand.chunks(ranks).enumerate() {
            self.paths.spread(origin, length, demand, &mut self.load, |demand, distance| total += demand * distance);
        }
        total
    }
}
