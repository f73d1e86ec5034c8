//! Offsets and directions on a torus that looks the same from every rank.

use super::twisted;
use collsynth_core::topology::{Direction, LinkId, RankId, Topology, Torus};

/// Hops between the ranks farthest apart on a symmetric torus without failures.
pub(super) fn diameter(torus: &Torus) -> u32 {
    match torus.is_twisted() {
        true => twisted::shortest(torus).iter().map(|ways| ways[0].iter().map(|hops| hops.unsigned_abs()).sum()).max(),
        false => Some(torus.extents.iter().map(|extent| extent / 2).sum()),
    }
    .unwrap_or(0)
}

/// Beyond this number of jobs (parts of rank 0 times offsets) a template is assembled from smaller ones.
const BLOCK_JOBS: u32 = 8192;

/// The number of parts to plan at once, and how often to repeat them: all of them once, unless that makes too many
/// jobs. Repeating loses nothing if loads are integers, as they are for multiples of `whole` parts.
pub(super) fn block_parts(whole: Option<u32>, parts: u32, ranks: u32) -> (u32, u32) {
    let most = (BLOCK_JOBS / ranks).max(1);
    if parts <= 2 * most {
        return (parts, 1);
    }
    let block = match whole {
        Some(unit) if unit < most => most - most % unit,
        Some(unit) if unit <= parts => unit,
        _ => parts,
    };
    (block, parts / block)
}

/// The link that leaves a rank in a direction. The single cable of an extent of 2 serves both directions: `x+` leaves
/// the first position, `x-` the second.
pub(crate) fn link_towards(topology: &Topology, rank: RankId, direction: Direction) -> LinkId {
    let leaves = |wanted: Direction| topology.links_from(rank).find(|&id| topology.link(id).direction == Some(wanted));
    leaves(direction).or_else(|| leaves(direction.opposite())).expect("a symmetric torus has a link in each dimension")
}

/// The directions of a template: both of a wrapped dimension, one for a single cable.
pub(super) fn directions(torus: &Torus) -> Vec<Direction> {
    let mut directions = Vec::new();
    for (dim, (&extent, &wrap)) in (0..).zip(torus.extents.iter().zip(&torus.wrap)) {
        let both: &[bool] = if wrap { &[true, false] } else { &[true] };
        if extent > 1 {
            directions.extend(both.iter().map(|&positive| Direction { dim, positive }));
        }
    }
    directions
}
