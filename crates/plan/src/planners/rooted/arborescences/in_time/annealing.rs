//! Annealing of trees in time: moves that lower a smooth bound on the total width, and now and then one that does not.

use fastrand::Rng;

use super::trees::{Hop, TreesInTime};

/// Stages of a run: between them the rate rises, and rounding errors are removed.
const STAGES: u64 = 200;
/// The largest exponent: beyond, the terms of idle links would vanish.
const MOST_EXPONENT: f64 = 600.0;

/// How the bound sharpens, and what rises of it are accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// The rate of the first stage and of the last, per bundle.
    pub first: f64,
    pub last: f64,
    /// The temperature, times the rate.
    pub temperature: f64,
}

impl Default for Rates {
    /// Of eight tried in 4 to 24 steps of 4x4 and 4x4x4 tori, these gave the least widths.
    fn default() -> Self {
        Self { first: 0.5, last: 6.0, temperature: 0.001 }
    }
}

/// A run.
pub(super) struct Annealing<'a> {
    trees: TreesInTime<'a>,
    rng: Rng,
    rates: Rates,
    /// What one more bundle on a link multiplies its terms by.
    factor: Vec<f64>,
    /// At `step * link_count + link`: the exponential of the load.
    term: Vec<f64>,
    /// The sum of the terms of a step.
    sum: Vec<f64>,
    shifted: Vec<Hop>,
    /// Terms before a move, to be restored if it is refused.
    before: Vec<(usize, f64)>,
}

impl<'a> Annealing<'a> {
    pub fn new(trees: TreesInTime<'a>, rng: Rng, rates: Rates) -> Self {
        Self {
            trees,
            rng,
            rates,
            factor: Vec::new(),
            term: Vec::new(),
            sum: Vec::new(),
            shifted: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Tries this number of moves, or fewer if `stop` says so, which hears of the stages left. Returns the narrowest
    /// trees seen at the end of a stage.
    pub fn run(&mut self, moves: u64, stop: &mut dyn FnMut(u64) -> bool) -> TreesInTime<'a> {
        let mut best = (self.trees.width(), self.trees.clone());
        for stage in 0..STAGES {
            if stop(STAGES - stage) {
                break;
            }
            let done = stage as f64 / (STAGES - 1) as f64;
            self.sharpen(self.rates.first * (self.rates.last / self.rates.first).powf(done));
            for _ in 0..moves.div_ceil(STAGES) {
                self.try_move();
            }
            let width = self.trees.width();
            if width < best.0 {
                best = (width, self.trees.clone());
            }
        }
        best.1
    }

    /// Computes all terms anew at this rate.
    fn sharpen(&mut self, rate: f64) {
        let loads = self.trees.loads();
        let widths = self.trees.widths(&loads);
        let widest = widths.iter().copied().max().unwrap_or(0).max(1);
        let rate = rate.min(MOST_EXPONENT / f64::from(widest));
        let capacity = &self.trees.network.capacity;
        self.factor = capacity.iter().map(|&capacity| (rate / f64::from(capacity)).exp()).collect();
        self.term.clear();
        self.sum.clear();
        for (loads, &width) in loads.chunks(capacity.len()).zip(&widths) {
            let begin = self.term.len();
            let term = |above: f64| (rate * (above - f64::from(width))).exp();
            // Most links are idle in most steps of a large machine.
            let idle = term(0.0);
            let used = |load: u32, capacity: u32| term(f64::from(load) / f64::from(capacity));
            let terms = loads.iter().zip(capacity);
            self.term.extend(terms.map(|(&load, &capacity)| if load == 0 { idle } else { used(load, capacity) }));
            self.sum.push(self.term[begin..].iter().sum());
        }
    }

    /// Proposes a hop and accepts or refuses it.
    fn try_move(&mut self) {
        let (trees, rng) = (&self.trees, &mut self.rng);
        let bundle = rng.u32(..trees.bundles);
        let rank = trees.ranks[rng.usize(..trees.ranks.len())];
        let entering = trees.network.entering(rank);
        let link = entering[rng.usize(..entering.len())];
        let from = trees.network.from[link as usize];
        let alone = rng.bool();
        let steps = if alone { trees.free_steps(bundle, rank, from) } else { trees.possible_steps(from) };
        if steps.is_empty() {
            return;
        }
        let hop = Hop { rank, link, step: rng.u32(steps) };
        if trees.hop(bundle, rank) == (link, hop.step) {
            return;
        }
        self.shifted.clear();
        self.shifted.push(hop);
        if !alone && !trees.shift(bundle, &mut self.shifted) {
            return;
        }
        if self.is_accepted(bundle) {
            self.shifted.iter().for_each(|&hop| self.trees.set(bundle, hop));
            return;
        }
        let links = self.factor.len();
        while let Some((slot, term)) = self.before.pop() {
            self.sum[slot / links] += term - self.term[slot];
            self.term[slot] = term;
        }
    }

    /// Changes the terms as the shifted hops do, and decides on them.
    fn is_accepted(&mut self, bundle: u32) -> bool {
        // The product over the steps of what their sums are multiplied by: its logarithm is the rise of the bound.
        let mut ratio = 1.0;
        self.before.clear();
        for index in 0..self.shifted.len() {
            let Hop { rank, link, step } = self.shifted[index];
            let (old_link, old_step) = self.trees.hop(bundle, rank);
            ratio *= self.multiply(old_step, old_link, 1.0 / self.factor[old_link as usize]);
            ratio *= self.multiply(step, link, self.factor[link as usize]);
        }
        ratio <= 1.0 || ratio.ln() <= -self.rates.temperature * self.rng.f64().max(f64::MIN_POSITIVE).ln()
    }

    /// Multiplies the term of a link in a step; returns what that multiplies the sum of the step by.
    fn multiply(&mut self, step: u32, link: u32, factor: f64) -> f64 {
        let slot = step as usize * self.factor.len() + link as usize;
        let (term, sum) = (&mut self.term[slot], &mut self.sum[step as usize]);
        let before = *sum;
        self.before.push((slot, *term));
        *sum += *term * (factor - 1.0);
        *term *= factor;
        *sum / before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::network::Network;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{RankId, Topology};

    /// Refused moves leave no trace, and accepted ones are counted: the sums are those of the loads.
    #[test]
    fn sums_follow_the_loads() {
        let torus = Topology::torus(&[3, 4]).unwrap().fail_cable(0, 1).unwrap();
        let problem = Problem::new(torus, Collective { kind: Kind::Broadcast(RankId(0)), parts: 20 }).unwrap();
        let network = Network::new(&problem);
        let mut rng = Rng::with_seed(3);
        let trees = TreesInTime::new(&network, 0, (6, 20), &mut rng);
        let first = trees.width();
        let rates = Rates { temperature: 0.1, ..Rates::default() };
        let mut annealing = Annealing::new(trees, rng, rates);
        annealing.sharpen(2.0);
        let widths = annealing.trees.widths(&annealing.trees.loads());
        (0..50_000).for_each(|_| annealing.try_move());
        let links = network.link_count();
        for (step, loads) in annealing.trees.loads().chunks(links).enumerate() {
            let exponent = |&load: &u32| 2.0 * (f64::from(load) - f64::from(widths[step]));
            let sum: f64 = loads.iter().map(|load| exponent(load).exp()).sum();
            assert!((sum / annealing.sum[step] - 1.0).abs() < 1e-6, "step {step}: {sum} {}", annealing.sum[step]);
        }
        assert!(annealing.run(50_000, &mut |_| false).width() < first);
    }
}
