//! Arbitrary metrics: weights of links that rise where the shortest paths crowd.
//!
//! The best metric is the dual solution of the multi-commodity-flow linear program. Multiplicative weights approximate
//! it: all messages take their shortest paths, links with more than the average load become longer, and so on. The
//! lengths are rounded to small integers in a few ways, and the bound those prove is computed exactly, so it holds
//! however rough the search. On small tori with many failures it is mostly the value of the linear program, even where
//! no cut reaches that.
//!
//! The floating-point search runs in a fixed order with basic operations only: same problem, same bound.

use super::crowding::Crowding;
use super::rounding::{Rounding, Weights, joined_pairs, weights};
use collsynth_core::certificate::{self, Evidence, Rational};
use collsynth_core::problem::Problem;
use collsynth_core::topology::LinkId;

/// Ranks times live links of the largest problem to try.
const LARGEST: usize = 10_000;

/// Rounds, times ranks, times live links.
const WORK: usize = 600_000;
const MOST_ROUNDS: usize = 80;

/// The initial learning rate of the lengths.
const RATE: f64 = 0.25;

/// Rounding to integers: the greatest weights.
const GREATEST: [u32; 2] = [2, 3];

/// The best metric found and the volume it proves; `None` for large problems, and for kinds that some cut bounds as
/// well.
pub fn best_metric(problem: &Problem) -> Option<(Rational, Weights)> {
    let links: Vec<LinkId> = problem.topology().live_links().collect();
    let size = problem.topology().rank_count() * links.len();
    if problem.collective().kind.owners() != 2 || size == 0 || size > LARGEST {
        return None;
    }
    // Links that join the same ranks are one pair, with the length of the first.
    let ends = |link: usize| (problem.topology().link(links[link]).from, problem.topology().link(links[link]).to);
    let firsts: Vec<usize> = (0..links.len()).filter(|&link| link == 0 || ends(link) != ends(link - 1)).collect();
    let pairs = joined_pairs(problem);
    let mut rounding =
        Rounding::new(|rounded: &[u32]| certificate::value(problem, &Evidence::metric(weights(&pairs, rounded))).ok());
    for lengths in raise(problem, &links, (WORK / size).min(MOST_ROUNDS)) {
        rounding.add(&firsts.iter().map(|&link| lengths[link]).collect::<Vec<f64>>(), &GREATEST);
    }
    rounding.best.map(|(volume, rounded)| (volume, weights(&pairs, &rounded)))
}

/// Lengths of the links: the best of all rounds, and the average.
fn raise(problem: &Problem, links: &[LinkId], rounds: usize) -> [Vec<f64>; 2] {
    let mut crowding = Crowding::new(problem, links);
    let mut length = vec![1.0; links.len()];
    let mut average = vec![0.0; links.len()];
    let (mut best, mut greatest) = (length.clone(), 0.0);
    for round in 0..rounds {
        // Normalized, so that the sum of the distances is the proven bound.
        let scale: f64 = length.iter().zip(&crowding.capacity).map(|(length, capacity)| length * capacity).sum();
        length.iter_mut().for_each(|length| *length /= scale);
        let proven = crowding.route(&length);
        if proven > greatest {
            (best, greatest) = (length.clone(), proven);
        }
        let rate = RATE / (1.0 + round as f64 / 10.0).sqrt();
        for (index, length) in length.iter_mut().enumerate() {
            average[index] += *length;
            let excess = crowding.load[index] / (crowding.capacity[index] * proven) - 1.0;
            *length = (*length * (1.0 + (rate * excess).min(1.5))).max(f64::MIN_POSITIVE);
        }
    }
    [best, average]
}
