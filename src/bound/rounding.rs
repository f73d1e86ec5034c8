//! From lengths in floating point to integer weights, and what those prove exactly.

use std::collections::BTreeSet;

use crate::certificate::{self, Evidence, Rational};
use crate::problem::Problem;
use crate::topology::RankId;

/// Rounding to 0 and 1: from which share of the greatest length on a link counts.
const THRESHOLDS: [f64; 4] = [0.5, 0.9, 0.7, 0.3];

/// A metric as evidence states it.
pub(super) type Weights = Vec<(RankId, RankId, u32)>;

/// The best metric among roundings of lengths, one per pair of ranks joined by live links: to 0 and 1 by thresholds, and
/// to integers with each of these greatest weights. Among equals, the first.
pub(super) struct Rounding<'a> {
    problem: &'a Problem,
    pairs: &'a [(RankId, RankId)],
    tried: BTreeSet<Vec<u32>>,
    /// What the best so far proves, and its weights.
    pub best: Option<(Rational, Weights)>,
}

impl<'a> Rounding<'a> {
    /// No rounding yet.
    pub fn new(problem: &'a Problem, pairs: &'a [(RankId, RankId)]) -> Self {
        Self { problem, pairs, tried: BTreeSet::new(), best: None }
    }

    /// Tries the roundings of these lengths.
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
        if self.tried.contains(&rounded) {
            return;
        }
        let weights: Weights = (self.pairs.iter().zip(&rounded))
            .filter(|&(_, &weight)| weight > 0)
            .map(|(&(from, to), &weight)| (from, to, weight))
            .collect();
        self.tried.insert(rounded);
        let evidence = Evidence::Metric { weights };
        // A metric that proves nothing is an error, and no bound.
        if let Ok(volume) = certificate::value(self.problem, &evidence)
            && self.best.as_ref().is_none_or(|(least, _)| volume > *least)
            && let Evidence::Metric { weights } = evidence
        {
            self.best = Some((volume, weights));
        }
    }
}

fn round(lengths: &[f64], scale: f64, greatest: u32) -> Vec<u32> {
    lengths.iter().map(|length| ((length * scale).round() as u32).min(greatest)).collect()
}

/// The pairs of ranks that live links join, ascending, each once.
pub(super) fn joined_pairs(problem: &Problem) -> Vec<(RankId, RankId)> {
    let topology = problem.topology();
    let mut pairs: Vec<_> =
        topology.live_links().map(|id| topology.link(id)).map(|link| (link.from, link.to)).collect();
    pairs.dedup();
    pairs
}
