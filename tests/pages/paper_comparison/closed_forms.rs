//! The closed forms of Qin et al., MICRO 2025, as exact figures. Written down from the paper, without any planner.

use collsynth::certificate::Rational;

use crate::support::plans::ratio;

/// With one dead cable along dimension `dim`: the sum of the loads of a planner's phases.
/// Extents may differ: `T0` is the volume of the longest dimension, `own` that of the dead cable's.
pub fn load(planner: &str, extents: &[u32], dim: usize) -> Option<Rational> {
    let (n, others): (u32, u32) = (extents.iter().product(), extents.len() as u32 - 1);
    let half_ring = |k: u32| match k.is_multiple_of(2) {
        true => ratio(n * k, 8),
        false => ratio(n * (k * k - 1), 8 * k),
    };
    let k = extents[dim];
    let t0 = extents.iter().map(|&extent| half_ring(extent)).max()?;
    let own = half_ring(k);
    let r = match k.is_multiple_of(2) {
        _ if planner.contains("open") => ratio(1, 2),
        true => ratio(k, 4 * (k - 1)),
        false => ratio(k + 1, 4 * k),
    };
    let accelerated = own / (r + ratio(others, 1));
    match planner {
        "dim_rotation" => Some(t0),
        "folded_ring" | "open_ring" => Some(t0.max(own / r)),
        "mate" | "mate_open" => Some(t0 + accelerated),
        "mate_e" | "mate_e_open" => Some(t0 + accelerated * (ratio(1, 1) - (r * t0 / own).min(ratio(1, 1)))),
        _ => None,
    }
}
