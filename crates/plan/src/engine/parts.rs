//! Numbers of parts: which are worth planning, and the best each could give.

use crate::model::control::Control;
use crate::model::cost::Price;
use crate::model::error::PlanError;
use crate::planners::trees::spanning_trees::SpanningTrees;
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::collective::{Collective, Kind, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// The largest number of chunk hops that `Parts::Auto` plans for.
const AUTO_HOPS: u64 = 4_000_000;
/// The largest number of parts that `Parts::Auto` considers; of vectors that all ranks share, as long as their trees
/// have at most `AUTO_TREE_HOPS`: of an all_reduce, whose trees go up and down, 1536 on 4096 ranks.
const AUTO_PARTS: u32 = 128;
const AUTO_TREES: u32 = 1024;
const AUTO_TREES_UP_AND_DOWN: u32 = 1536;
/// The same in groups, for each.
const AUTO_GROUP_TREES: u32 = 1024;
const AUTO_TREE_HOPS: u32 = 2 * 4096 * 1536;
/// How far above the least volume that any parts promise fewer parts will do: of an all_reduce, where some parts just
/// fit, and of a pipeline, which gains ever less from more.
const NEARLY_FITTING: f64 = 1.0005;
const NEARLY_FULL: f64 = 1.01;

/// The numbers of parts worth trying if none is stated: powers of two up to the number at which the volume bound can be
/// met, then twice and four times that number; 1 where cutting changes nothing.
///
/// # Errors
///
/// As [`synthesize`](crate::synthesize).
pub fn useful_parts(topology: &Topology, kind: &Kind, control: &Control) -> Result<Vec<u32>, PlanError> {
    if !kind.can_be_cut() {
        return Ok(vec![1]);
    }
    let whole = Problem::new(topology.clone(), Collective::new(kind.clone()))?;
    let bounds = control.bounds(&whole)?;
    let (exact, most) = best_parts(&whole, &bounds, None);
    let powers = (0..).map(|exponent| 1 << exponent).take_while(|&parts| parts < exact);
    let most = most.min(AUTO_PARTS).max(exact);
    Ok(powers.chain([exact, 2 * exact, 4 * exact]).filter(|&parts| parts <= most).collect())
}

/// The fewest parts that could cost least, and the most within the limits. Of vectors that all ranks share, without a
/// price, the fewest that could come close to it: more parts save ever less.
pub(crate) fn best_parts(whole: &Problem, bounds: &Bounds, price: Option<Price>) -> (u32, u32) {
    let most = most_parts(whole, bounds);
    let cost = |parts: u32| least_cost(whole, bounds, parts, price);
    let best = (1..=most).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(1);
    let nearly = match price {
        None if reduces_to_all(whole) => NEARLY_FITTING,
        None if shares_vectors(&whole.collective().kind) => NEARLY_FULL,
        _ => 1.0,
    };
    let close = cost(best) * nearly;
    ((1..=best).find(|&parts| cost(parts) <= close).unwrap_or(best), most)
}

/// Numbers of parts, about twice as many each time, whose best conceivable volume is within this gap of the bound; at
/// least the last.
pub(crate) fn rungs(whole: &Problem, bounds: &Bounds, gap: f64) -> Vec<u32> {
    let most = most_parts(whole, bounds);
    let volume = |parts: u32| {
        let width = bounds.least_width(parts);
        let overlap = SpanningTrees::may_overlap(whole, parts, width);
        let ends = if overlap { Ends::Overlapping } else { Ends::Packed };
        f64::from(least_figures(whole, bounds, parts, ends).1) / f64::from(parts)
    };
    let bound = bounds.volume.as_ref().map_or(0.0, |bound| as_float(bound.at_least));
    let limits = (0..).map(|exponent| 1 << exponent).take_while(|&limit: &u32| limit < most).chain([most]);
    let best_up_to = |limit: u32| {
        let better = |a: &u32, b: &u32| volume(*a).total_cmp(&volume(*b));
        match limit == most && whole.groups().is_some() {
            // The last: of those that fit as well, the most share what is lost at both ends.
            true => (limit / 2 + 1..=limit).rev().min_by(better),
            false => (limit / 2 + 1..=limit).min_by(better),
        }
    };
    let (near, far): (Vec<u32>, Vec<u32>) =
        limits.filter_map(best_up_to).partition(|&parts| volume(parts) <= bound * (1.0 + gap));
    if near.is_empty() { far.last().copied().into_iter().collect() } else { near }
}

/// About the steps of the quickest schedule at this price, of pipelines, which are planned as they are estimated: from
/// or to one rank, vectors in parts.
pub fn likely_steps(whole: &Problem, bounds: &Bounds, price: Price) -> Option<u32> {
    let parts = || best_parts(whole, bounds, Some(price)).0;
    is_pipelined(whole).then(|| least_figures(whole, bounds, parts(), Ends::Packed).0)
}

/// The seconds that the best conceivable pipeline takes, in the parts of this problem.
pub(crate) fn least_of_pipeline(problem: &Problem, bounds: &Bounds, price: Price) -> Option<f64> {
    is_pipelined(problem).then(|| least_cost(problem, bounds, problem.parts(), Some(price)))
}

fn is_pipelined(problem: &Problem) -> bool {
    let kind = &problem.collective().kind;
    kind.stated_root().is_some() && shares_vectors(kind)
}

/// The seconds that the best conceivable schedule takes; without a price, its volume.
pub(crate) fn least_cost(whole: &Problem, bounds: &Bounds, parts: u32, price: Option<Price>) -> f64 {
    let (steps, width) = least_figures(whole, bounds, parts, Ends::Packed);
    let volume = f64::from(width) / f64::from(parts);
    price.map_or(volume, |price| price.seconds_for(steps as usize, volume))
}

/// A volume for estimates.
pub(crate) fn as_float(volume: Rational) -> f64 {
    *volume.numer() as f64 / *volume.denom() as f64
}

/// The most parts worth their chunks.
fn most_parts(whole: &Problem, bounds: &Bounds) -> u32 {
    if shares_vectors(&whole.collective().kind) {
        // In groups too, about a hop for each rank.
        let ranks = whole.topology().live_rank_count().max(1) as u32;
        let most = match whole.groups() {
            Some(_) => AUTO_GROUP_TREES,
            None if reduces_to_all(whole) => AUTO_TREES_UP_AND_DOWN,
            None => AUTO_TREES,
        };
        return (AUTO_TREE_HOPS / ranks / 2).clamp(1, most);
    }
    let hops = u64::from(whole.chunk_count()) * u64::from(bounds.least_steps().max(1));
    u32::try_from(AUTO_HOPS / hops.max(1)).unwrap_or(u32::MAX).clamp(1, AUTO_PARTS)
}

/// Do all ranks share vectors that may be cut, as in all_reduce, broadcast and reduce? Whole, they leave links idle.
pub fn shares_vectors(kind: &Kind) -> bool {
    kind.owners() == 0 && kind.can_be_cut()
}

/// Does every rank need every sum?
pub(crate) fn reduces_to_all(problem: &Problem) -> bool {
    let kind = &problem.collective().kind;
    kind.pattern() == Pattern::EveryToEvery && kind.has_volume()
}

/// The trees that leave links idle at both ends of a schedule, the less the longer it is.
#[derive(Clone, Copy)]
enum Ends {
    Overlapping,
    Packed,
}

impl Ends {
    /// The second number's share of the units by which the first, for each step of the distance, exceeds the total
    /// width. Measured with 1 to 5 dead cables, on 9 to 64 ranks for overlapping trees and 36 to 512 for packed ones.
    fn idle(self) -> (u32, u32) {
        match self {
            Self::Overlapping => (7, 8),
            Self::Packed => (21, 16),
        }
    }
}

/// Steps and width of the best conceivable schedule. From or to one rank, a pipeline of steps of width 1 must first
/// fill. An all_reduce in which all ranks do the same reduces, then broadcasts, each in whole widths; otherwise links
/// idle at the ends.
fn least_figures(whole: &Problem, bounds: &Bounds, parts: u32, ends: Ends) -> (u32, u32) {
    let (steps, width) = (bounds.least_steps(), bounds.least_width(parts));
    if reduces_to_all(whole) {
        let topology = whole.topology();
        let intact = topology.live_links().count() == topology.links().len();
        if intact && parts.is_multiple_of(topology.rank_count() as u32) {
            return (steps.saturating_mul(2), width.div_ceil(2).max(steps).saturating_mul(2));
        }
        let (per_step, share) = ends.idle();
        let idle = steps.saturating_mul(per_step).saturating_sub(width).div_ceil(share);
        return (steps.saturating_mul(2), width.saturating_add(idle));
    }
    match bounds.volume.as_ref().filter(|_| is_pipelined(whole) && steps > 1) {
        Some(bound) => {
            let rounds = (bound.at_least * i128::from(parts)).ceil().to_integer();
            let width = u32::try_from(rounds).unwrap_or(u32::MAX).saturating_add(steps - 1);
            (width, width)
        }
        None => (steps, width),
    }
}
