//! From floating-point lengths to integer weights, and the bound those prove exactly.

use std::collections::BTreeSet;

use collsynth_core::certificate::{Rational, Window};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// Rounding to 0 and 1: the least share of the greatest length that becomes 1.
const THRESHOLDS: [f64; 4] = [0.5, 0.9, 0.7, 0.3];

/// The greatest weights to round the solution of a linear program to, small ones first: simple proofs are better.
pub const FINE: [u32; 18] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 60, 1_000, 100_000, 10_000_000];

pub type Weights = Vec<(RankId, RankId, u32)>;

/// The best of several roundings of lengths to weights; among equals, the first.
pub struct Rounding<P> {
    /// The bound that weights prove, if any.
    prove: P,
    tried: BTreeSet<Vec<u32>>,
    /// The best weights so far, with the bound they prove.
    pub best: Option<(Rational, Vec<u32>)>,
}

impl<P: Fn(&[u32]) -> Option<Rational>> Rounding<P> {
    pub fn new(prove: P) -> Self {
        Self { prove, tried: BTreeSet::new(), best: None }
    }

    /// Tries these lengths, rounded to 0 and 1 by thresholds, and to integers with each of these greatest weights.
    pub fn add(&mut self, lengths: &[f64], greatest: &[u32]) {
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        if longest <= 0.0 {
            return;
        }
        for share in THRESHOLDS {
            self.check(round(lengths, 0.5 / (share * longest), 1));
        }
        for &greatest in greatest {
            self.check(round(lengths, f64::from(greatest) / longest, greatest));
        }
    }

    fn check(&mut self, rounded: Vec<u32>) {
        if !self.tried.insert(rounded.clone()) {
            return;
        }
        if let Some(value) = (self.prove)(&rounded)
            && self.best.as_ref().is_none_or(|(least, _)| value > *least)
        {
            self.best = Some((value, rounded));
        }
    }
}

fn round(lengths: &[f64], scale: f64, greatest: u32) -> Vec<u32> {
    lengths.iter().map(|length| ((length * scale).round() as u32).min(greatest)).collect()
}

/// The pairs of ranks that live links join, ascending, each once.
pub fn joined_pairs(problem: &Problem) -> Vec<(RankId, RankId)> {
    let topology = problem.topology();
    let mut pairs: Vec<_> =
        topology.live_links().map(|id| topology.link(id)).map(|link| (link.from, link.to)).collect();
    pairs.dedup();
    pairs
}

/// Weights as evidence states them: the nonzero ones.
pub fn weights(pairs: &[(RankId, RankId)], rounded: &[u32]) -> Weights {
    let weighted = pairs.iter().zip(rounded).map(|(&(from, to), &weight)| (from, to, weight));
    weighted.filter(|&(.., weight)| weight > 0).collect()
}

/// Time-varying weights, `[layer * pairs + pair]`, as windows; `spans` has the first and the last unit of each layer,
/// in order.
pub fn windows(pairs: &[(RankId, RankId)], rounded: &[u32], spans: &[(u32, u32)]) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for (index, &(from, to)) in pairs.iter().enumerate() {
        let mut before = 0;
        for (layer, &(first, last)) in spans.iter().enumerate() {
            let weight = rounded[layer * pairs.len() + index];
            match windows.last_mut() {
                Some(window) if before > 0 && before == weight => window.last = last,
                _ if weight > 0 => windows.push(Window { from, to, first, last, weight }),
                _ => {}
            }
            before = weight;
        }
    }
    windows
}
