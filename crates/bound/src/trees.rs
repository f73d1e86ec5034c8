//! The tree bound: what messages to, or from, several ranks of a group cost at least, however their trees are chosen.
//!
//! Where other ranks relay, no cut need be tight: in 2x2 blocks of 4x4, broadcasts take 2/5 of a vector, and cuts prove
//! 3/8. The linear program that divides chunks among trees (`divided_trees`) has a price for each link as its dual
//! solution; rounded to integers, they prove what the lightest trees weigh, exactly.

use std::collections::HashMap;

use collsynth_core::certificate::{self, Evidence, VolumeBound};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

use crate::divided_trees::{Cables, Demand, Divided};
use crate::finding::{BoundFinding, Claim};
use crate::flows::rounding::{FINE, Rounding, joined_pairs, weights};
use crate::words;
use collsynth_lp::Limit;

/// Parts to find the prices with.
const PARTS: u32 = 100;

/// The best bound that prices of links prove for broadcast, reduce, all_gather, reduce_scatter and
/// all_reduce_gathered in groups.
///
/// `None` for other kinds and without groups, where cuts prove as much; for large groups and machines, whose lightest
/// trees take long to find; and when the limit is reached. Links without an opposite that carries as much are not
/// counted on, so that cuts may prove more there. Deterministic. Takes up to seconds.
pub fn tree_bound(problem: &Problem, limit: &Limit) -> Option<BoundFinding> {
    let kind = &problem.collective().kind;
    let to_several = matches!(kind.pattern(), Pattern::OneToEvery | Pattern::EveryToOne);
    if problem.groups().is_none() || !to_several || problem.is_trivial() {
        return None;
    }
    // Prices do not depend on the parts; the solver prefers loads that are not small.
    let whole = problem.with_parts(PARTS).ok()?;
    let cables = Cables::new(whole.topology());
    let divided = Divided::new(&Demand::new(&whole, &cables), limit)?;
    let ends = |link: usize| {
        let [first, second] = cables.ends[link / 2].map(RankId);
        if link.is_multiple_of(2) { (first, second) } else { (second, first) }
    };
    let prices: HashMap<_, f64> =
        divided.best_prices.iter().enumerate().map(|(link, &price)| (ends(link), price)).collect();
    let pairs = joined_pairs(problem);
    let lengths: Vec<f64> = pairs.iter().map(|pair| prices.get(pair).copied().unwrap_or(0.0)).collect();
    let mut rounding =
        Rounding::new(|rounded: &[u32]| certificate::value(&whole, &Evidence::metric(weights(&pairs, rounded))).ok());
    rounding.add(&lengths, &FINE);
    let (at_least, rounded) = rounding.best?;
    let weights = weights(&pairs, &rounded);
    let words = words::metric(problem, &weights, at_least);
    let claim = Claim::Volume(VolumeBound { at_least, evidence: Evidence::metric(weights) });
    Some(BoundFinding { name: "tree LP", claim, words })
}
