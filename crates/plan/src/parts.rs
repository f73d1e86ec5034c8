//! Numbers of parts: which are worth planning, and the best each could give.

use super::PlanError;
use crate::bound;
use crate::cost::Price;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{Collective, Kind, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// The largest number of chunk hops that `Parts::Auto` plans for.
const AUTO_HOPS: u64 = 4_000_000;
/// The largest number of parts that `Parts::Auto` considers. An all_reduce gets `AUTO_PARTS_PER_RANK` for each rank if
/// that is more, unless its trees would exceed `AUTO_TREE_HOPS`.
const AUTO_PARTS: u32 = 128;
const AUTO_PARTS_PER_RANK: u32 = 4;
const AUTO_TREE_HOPS: u32 = 800_000;

/// The numbers of parts worth trying if none is stated: powers of two up to the number at which the volume bound can be
/// met, then twice and four times that number; 1 where cutting changes nothing.
///
/// # Errors
///
/// As [`synthesize`](super::synthesize).
pub fn useful_parts(topology: &Topology, kind: &Kind) -> Result<Vec<u32>, PlanError> {
    if !kind.can_be_cut() {
        return Ok(vec![1]);
    }
    let whole = Problem::new(topology.clone(), Collective::new(kind.clone()))?;
    let bounds = bound::find(&whole)?;
    let (exact, most) = best_parts(&whole, &bounds, None);
    let powers = (0..).map(|exponent| 1 << exponent).take_while(|&parts| parts < exact);
    Ok(powers.chain([exact, 2 * exact, 4 * exact]).filter(|&parts| parts <= most).collect())
}

/// The fewest parts that could cost least, and the most within the limits.
pub(crate) fn best_parts(whole: &Problem, bounds: &Bounds, price: Option<Price>) -> (u32, u32) {
    let hops = u64::from(whole.chunk_count()) * u64::from(bounds.least_steps().max(1));
    let most = if reduces_to_all(whole) {
        let ranks = whole.topology().live_rank_count().max(1) as u32;
        (AUTO_TREE_HOPS / ranks / 2).clamp(1, AUTO_PARTS.max(AUTO_PARTS_PER_RANK * ranks))
    } else {
        u32::try_from(AUTO_HOPS / hops.max(1)).unwrap_or(u32::MAX).clamp(1, AUTO_PARTS)
    };
    let cost = |parts: u32| least_cost(whole, bounds, parts, price);
    let best = (1..=most).min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    (best.unwrap_or(1), most)
}

/// The seconds that the best conceivable schedule takes; without a price, its volume.
pub(crate) fn least_cost(whole: &Problem, bounds: &Bounds, parts: u32, price: Option<Price>) -> f64 {
    let (steps, width) = least_figures(whole, bounds, parts);
    let volume = f64::from(width) / f64::from(parts);
    price.map_or(volume, |price| price.seconds_for(steps as usize, volume))
}

/// Does every rank need every sum?
fn reduces_to_all(problem: &Problem) -> bool {
    let kind = &problem.collective().kind;
    kind.pattern() == Pattern::EveryToEvery && kind.has_volume()
}

/// Steps and width of the best conceivable schedule. From or to one rank, a pipeline of steps of width 1 must first
/// fill. An all_reduce reduces, then broadcasts, each in whole widths; unless all ranks do the same, each half is about
/// 1 wider, since some links idle at its ends.
fn least_figures(whole: &Problem, bounds: &Bounds, parts: u32) -> (u32, u32) {
    let (steps, width) = (bounds.least_steps(), bounds.least_width(parts));
    if reduces_to_all(whole) {
        let topology = whole.topology();
        let intact = topology.live_links().count() == topology.links().len();
        let alike = intact && parts.is_multiple_of(topology.rank_count() as u32);
        let half = width.div_ceil(2).max(steps).saturating_add(u32::from(!alike));
        return (steps.saturating_mul(2), half.saturating_mul(2));
    }
    let kind = &whole.collective().kind;
    let pipelined = kind.root().is_some() && kind.owners() == 0;
    match bounds.volume.as_ref().filter(|_| pipelined && steps > 1) {
        Some(bound) => {
            let rounds = (bound.at_least * i128::from(parts)).ceil().to_integer();
            let width = u32::try_from(rounds).unwrap_or(u32::MAX).saturating_add(steps - 1);
            (width, width)
        }
        None => (steps, width),
    }
}
