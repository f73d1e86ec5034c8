//! The narrowest steps through which everything flows.
//!
//! Every cut of the time-expanded network is a constraint on the widths: this amount must cross these links in these
//! steps. Cuts are collected as flows run into them, and the search moves units of width from step to step while that
//! reduces the shortfall over all of them (min-conflicts: Minton et al. 1992). Widths that satisfy all known cuts are
//! tried: either everything flows, or there are new cuts. Bisection finds the total width, between the bound and the
//! result of widening the most contended steps.

use fastrand::Rng;

use super::flow::{Cut, Flow};
use crate::model::control::Control;
use crate::model::network::Network;
use crate::model::widths::even_widths;

/// Units moved before a total width is given up.
const MOVES: u32 = 150;

/// The demand, the number of steps, and the known cuts.
pub(super) struct Narrow<'a> {
    network: &'a Network,
    root: u32,
    demand: &'a [u32],
    steps: usize,
    cuts: Vec<Cut>,
    rng: Rng,
}

impl<'a> Narrow<'a> {
    pub fn new(network: &'a Network, root: u32, demand: &'a [u32], steps: u32, seed: u64) -> Self {
        Self { network, root, demand, steps: steps as usize, cuts: Vec::new(), rng: Rng::with_seed(seed) }
    }

    /// The flow through the least total width found, at least `least`; `None` if `control` stops it before there is
    /// any.
    pub fn run(mut self, least: u32, control: &Control) -> Option<Flow<'a>> {
        let mut best = self.widened(control)?;
        let mut least = least.max(self.steps as u32);
        while least < total(best.widths()) && control.stop().is_none() {
            let middle = least + (total(best.widths()) - least) / 2;
            match self.at(middle, control) {
                Some(flow) => best = flow,
                None => least = middle + 1,
            }
        }
        Some(best)
    }

    /// The widths that the root needs, each widened while it has the most links in the cuts.
    fn widened(&mut self, control: &Control) -> Option<Flow<'a>> {
        let mut flow = self.flow(self.needed_at_the_root());
        while !flow.fill() {
            if control.stop().is_some() {
                return None;
            }
            let cuts = flow.cuts();
            let weight = |step: usize| cuts.iter().map(|cut| cut.weights[step]).sum::<u64>();
            let step = (0..self.steps).max_by_key(|&step| (weight(step), std::cmp::Reverse(flow.widths()[step])))?;
            // Half of the shortfall at once, so that large widths do not take long.
            let missing = cuts[0].violation(flow.widths());
            flow.widen(step, (missing / (2 * weight(step)).max(1)).clamp(1, 1 << 20) as u32);
            self.learn(cuts);
        }
        Some(flow)
    }

    /// The least widths, as late as may be, in which all that is to arrive at a distance leaves the root in time.
    fn needed_at_the_root(&self) -> Vec<u32> {
        let capacity = self.network.capacity_out_of(self.root).max(1);
        let mut farther = vec![0; self.steps + 1];
        for (rank, &demand) in (0..).zip(self.demand).filter(|(_, demand)| **demand > 0) {
            farther[(self.network.distance(self.root, rank) as usize).min(self.steps)] += demand;
        }
        let (mut left, mut sent) = (0, 0);
        let widths = (0..self.steps).map(|step| {
            left += farther[self.steps - step];
            let width = left.div_ceil(capacity).saturating_sub(sent).max(1);
            sent += width;
            width
        });
        widths.collect()
    }

    pub fn at(&mut self, width: u32, control: &Control) -> Option<Flow<'a>> {
        let mut widths = even_widths(width, self.steps as u32);
        for _ in 0..MOVES {
            if control.stop().is_some() {
                return None;
            }
            if self.violation(&widths) == 0 {
                let mut flow = self.flow(widths.clone());
                if flow.fill() {
                    return Some(flow);
                }
                self.learn(flow.cuts());
            }
            self.shift(&mut widths)?;
        }
        None
    }

    /// Moves width from one step to another so as to minimize the shortfall; `None` if nothing can be moved.
    fn shift(&mut self, widths: &mut [u32]) -> Option<()> {
        let worst = self.cuts.iter().max_by_key(|cut| cut.violation(widths))?.clone();
        let missing = worst.violation(widths);
        let mut best = None;
        for from in (0..widths.len()).filter(|&step| widths[step] > 1) {
            for to in (0..widths.len()).filter(|&step| worst.weights[step] > worst.weights[from]) {
                let gain = worst.weights[to] - worst.weights[from];
                let by = missing.div_ceil(gain).clamp(1, u64::from(widths[from] - 1)) as u32;
                let mut moved = widths.to_vec();
                moved[from] -= by;
                moved[to] += by;
                let cost = (self.violation(&moved), self.rng.u32(..));
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, moved));
                }
            }
        }
        widths.copy_from_slice(&best?.1);
        Some(())
    }

    fn violation(&self, widths: &[u32]) -> u64 {
        self.cuts.iter().map(|cut| cut.violation(widths)).sum()
    }

    fn learn(&mut self, cuts: [Cut; 2]) {
        for cut in cuts {
            if !self.cuts.contains(&cut) {
                self.cuts.push(cut);
            }
        }
    }

    fn flow(&self, widths: Vec<u32>) -> Flow<'a> {
        Flow::new(self.network, self.root, self.demand, widths)
    }
}

pub(super) fn total(widths: &[u32]) -> u32 {
    widths.iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Flow, Narrow, total};
    use crate::model::control::Control;
    use crate::model::network::Network;
    use crate::model::widths::even_widths;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{GraphLink, RankId, Shape, Topology, TopologySpec};

    /// All widths of a sum.
    fn all_widths(steps: u32, width: u32) -> Vec<Vec<u32>> {
        if steps == 1 {
            return vec![vec![width]];
        }
        let with_first =
            |first: u32| all_widths(steps - 1, width - first).into_iter().map(move |rest| [vec![first], rest].concat());
        (1..=width - (steps - 1)).flat_map(with_first).collect()
    }

    fn network(ranks: u32, chords: &[(u32, u32, u32)]) -> Network {
        let mut links: Vec<GraphLink> = Vec::new();
        let ring = (0..ranks).map(|rank| (rank, (rank + 1) % ranks, 1));
        for (from, to, capacity) in ring.chain(chords.iter().map(|&(a, b, c)| (a % ranks, b % ranks, c))) {
            if from != to && !links.iter().any(|link| (link.from.0, link.to.0) == (from, to)) {
                links.push(GraphLink { from: RankId(from), to: RankId(to), capacity });
            }
        }
        let topology = Topology::new(TopologySpec::new(Shape::Graph { ranks, links })).unwrap();
        Network::new(&Problem::new(topology, Collective::new(Kind::Scatter(RankId(0)))).unwrap())
    }

    /// Networks, and demands below `most` from rank 0 to all others.
    fn cases(most: u32) -> impl Strategy<Value = (Network, Vec<u32>)> {
        let chords = prop::collection::vec((0_u32..6, 0_u32..6, 1_u32..3), 0..6);
        (2_u32..6, chords, prop::collection::vec(0..most, 6)).prop_map(|(ranks, chords, mut demand)| {
            demand.truncate(ranks as usize);
            demand[0] = 0;
            (network(ranks, &chords), demand)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn no_widths_are_narrower((network, demand) in cases(4), more_steps in 0_u32..3) {
            let ranks = demand.len() as u32;
            let steps = (0..ranks).map(|rank| network.distance(0, rank)).max().unwrap() + more_steps;
            let found = Narrow::new(&network, 0, &demand, steps, 1).run(0, &Control::unlimited()).unwrap();
            let found = total(found.widths());
            prop_assert!(found >= steps);
            if found > steps {
                for widths in all_widths(steps, found - 1) {
                    prop_assert!(!Flow::new(&network, 0, &demand, widths.clone()).fill(), "{widths:?}, not {found}");
                }
            }
        }

        #[test]
        fn a_flow_that_is_not_enough_is_limited_by_a_cut((network, demand) in cases(9), width in 5_u32..12) {
            let mut flow = Flow::new(&network, 0, &demand, even_widths(width, 5));
            if flow.fill() {
                let mut delivered = vec![0; demand.len()];
                for (rank, amount, hops) in flow.into_paths() {
                    delivered[rank as usize] += amount;
                    let mut at = 0;
                    for link in hops.into_iter().flatten() {
                        prop_assert_eq!(network.from[link as usize], at);
                        at = network.to[link as usize];
                    }
                    prop_assert_eq!(at, rank);
                }
                prop_assert_eq!(delivered, demand);
            } else {
                let missing: Vec<u64> = flow.cuts().iter().map(|cut| cut.violation(flow.widths())).collect();
                prop_assert!(missing[0] > 0 && missing[0] == missing[1]);
            }
        }
    }
}
