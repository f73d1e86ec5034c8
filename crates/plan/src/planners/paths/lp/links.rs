//! The loads of the live links so far, step by step.

use crate::model::network::{LiveLink, Network, WAIT};
use collsynth_bound::FlowNetwork;
use collsynth_core::topology::RankId;

/// The live links of each arc; of two, the emptier one is taken.
pub(super) struct Links {
    of: Vec<Vec<LiveLink>>,
    capacity: Vec<u32>,
    /// `[step * links + link]`
    used: Vec<u32>,
}

impl Links {
    pub fn new(flow: &FlowNetwork, network: &Network, steps: usize) -> Self {
        let mut of = vec![Vec::new(); flow.pairs.len()];
        for link in 0..network.link_count() {
            let pair = (RankId(network.from[link]), RankId(network.to[link]));
            if let Ok(arc) = flow.pairs.binary_search(&pair) {
                of[arc].push(link as LiveLink);
            }
        }
        Self { of, capacity: network.capacity.clone(), used: vec![0; steps * network.link_count()] }
    }

    /// Moves a chunk over an arc in a step; returns the link it takes.
    pub fn take(&mut self, step: usize, arc: usize) -> LiveLink {
        let (fullness, link) = self.emptiest(step, arc);
        if fullness.is_finite() {
            self.used[step * self.capacity.len() + link as usize] += 1;
        }
        link
    }

    /// Moves a chunk over arcs in sequence, in the steps in which they are emptiest: the placement of the hops of least
    /// total fullness. O(hops * steps).
    pub fn spread(&mut self, arcs: &[usize], path: &mut [LiveLink]) {
        let steps = path.len();
        // `best[hop * (steps + 1) + step]`: the least sum of the first hops, done before this step.
        let mut best = vec![0.0; (arcs.len() + 1) * (steps + 1)];
        for (hop, &arc) in arcs.iter().enumerate() {
            best[(hop + 1) * (steps + 1)] = f64::INFINITY;
            for step in 0..steps {
                let now = best[hop * (steps + 1) + step] + self.emptiest(step, arc).0;
                best[(hop + 1) * (steps + 1) + step + 1] = now.min(best[(hop + 1) * (steps + 1) + step]);
            }
        }
        let mut before = steps;
        for (hop, &arc) in arcs.iter().enumerate().rev() {
            let sums = &best[(hop + 1) * (steps + 1)..][..steps + 1];
            while before > 0 && sums[before - 1] == sums[before] {
                before -= 1;
            }
            let Some(step) = before.checked_sub(1) else { break };
            path[step] = self.take(step, arc);
            before = step;
        }
    }

    /// The emptier link of an arc in a step, with its fullness in chunks per capacity.
    fn emptiest(&self, step: usize, arc: usize) -> (f64, LiveLink) {
        let fullness = |&link: &LiveLink| {
            f64::from(self.used[step * self.capacity.len() + link as usize]) / f64::from(self.capacity[link as usize])
        };
        let links = self.of[arc].iter().map(|link| (fullness(link), *link));
        links.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, WAIT))
    }
}
