//! Offsets and directions on a torus that looks the same from every rank.

use super::twisted;
use collsynth_core::topology::{Direction, LinkId, RankId, Topology, Torus};

/// Does the intact torus look the same from every rank?
pub(crate) fn is_symmetric(torus: &Torus) -> bool {
    torus.extents.iter().zip(&torus.wrap).all(|(&extent, &wrap)| wrap || extent <= 2)
}

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

/// The rank at an offset from another rank; an offset is the number of the rank there as seen from rank 0.
pub(crate) fn at_offset(torus: &Torus, rank: RankId, offset: RankId) -> RankId {
    if torus.is_twisted() {
        let sums = torus.unrolled(rank).into_iter().zip(torus.unrolled(offset)).map(|(rank, offset)| rank + offset);
        return torus.rank_at(&sums.collect::<Vec<_>>());
    }
    let moved =
        |dim| (torus.position(rank, dim) + torus.position(offset, dim)) % torus.extents[dim] * torus.stride(dim);
    RankId((0..torus.extents.len()).map(moved).sum())
}

/// The offset between two ranks, as the number of the rank at that offset from rank 0.
pub(super) fn offset(torus: &Torus, origin: RankId, dest: RankId) -> u32 {
    if torus.is_twisted() {
        let apart = torus.unrolled(dest).into_iter().zip(torus.unrolled(origin)).map(|(dest, origin)| dest - origin);
        return torus.rank_at(&apart.collect::<Vec<_>>()).0;
    }
    let apart = |dim| torus.position(dest, dim) + torus.extents[dim] - torus.position(origin, dim);
    (0..torus.extents.len()).map(|dim| apart(dim) % torus.extents[dim] * torus.stride(dim)).sum()
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
