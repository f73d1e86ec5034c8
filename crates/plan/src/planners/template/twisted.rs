//! Shortest ways on a twisted torus.
//!
//! Unrolled, the torus is a lattice: positions that differ by a turn around a dimension (its extent, less what its wrap
//! shifts) are one rank. The shortest ways to an offset are the nearest of its positions:
//!
//! ```text
//!   4x8, the wrap of x shifts y by 4:   (2,4) = (-2,0)       offset (2,0) is two hops away, in x+ or x-
//!                                       (2,0) = (-2,4) = (-2,-4)
//! ```
//!
//! They may use different dimensions, so the loads of all directions can be made even: each part of each offset takes
//! one of its ways, at first in turn. Then one or two of them change it, those that lower the sum of the squares of the
//! loads the most, until none do.

use std::collections::BTreeMap;

use itertools::Itertools;

use collsynth_core::topology::{Direction, RankId, Torus};

/// Hops along each dimension, negative for down.
type Way = Vec<i32>;

/// The shortest ways to every offset, by offset. O(ways * D).
pub(in crate::planners) fn shortest(torus: &Torus) -> Vec<Vec<Way>> {
    let ranks: u32 = torus.extents.iter().product();
    let mut ways: Vec<Vec<Way>> = vec![Vec::new(); ranks as usize];
    let mut missing = ranks;
    for length in 0.. {
        let mut found: Vec<(RankId, Way)> = Vec::new();
        for_each_way(torus, length, &mut Vec::new(), &mut |way| {
            let unrolled: Vec<i64> = way.iter().map(|&hops| hops.into()).collect();
            found.push((torus.rank_at(&unrolled), way.to_vec()));
        });
        found.retain(|(offset, _)| ways[offset.index()].is_empty());
        for (offset, way) in found {
            missing -= u32::from(ways[offset.index()].is_empty());
            ways[offset.index()].push(way);
        }
        if missing == 0 {
            break;
        }
    }
    ways
}

/// Visits all ways of a length in hops; a single cable is crossed at most once.
fn for_each_way(torus: &Torus, length: i32, way: &mut Way, visit: &mut impl FnMut(&[i32])) {
    let dim = way.len();
    if dim == torus.extents.len() {
        return if length == 0 {
            visit(way)
        };
    }
    let range = match torus.wrap[dim] {
        true => -length..=length,
        false => 0..=length.min(torus.extents[dim] as i32 - 1),
    };
    // The last dimension takes what is left.
    let last = dim + 1 == torus.extents.len();
    for hops in range.filter(|hops| !last || hops.abs() == length) {
        way.push(hops);
        for_each_way(torus, length - hops.abs(), way, visit);
        way.pop();
    }
}

/// How often each job moves in each direction, `[job * directions + direction]`, with even loads.
///
/// A change takes O(ways + changes^2), where there are few different changes of the loads: tens on three dimensions.
pub(super) fn visits(torus: &Torus, directions: &[Direction], capacity: &[u32], offsets: &[u32]) -> Option<Vec<u8>> {
    let hops = |way: &Way| -> Vec<i64> {
        let along = |direction: &Direction| way[usize::from(direction.dim)] * if direction.positive { 1 } else { -1 };
        directions.iter().map(|direction| i64::from(along(direction).max(0))).collect()
    };
    let ways: Vec<Vec<Vec<i64>>> = shortest(torus).iter().map(|ways| ways.iter().map(hops).collect()).collect();
    let jobs: Vec<&Vec<Vec<i64>>> = offsets.iter().map(|&offset| &ways[offset as usize]).collect();
    let mut taken = vec![0; ways.len()];
    let mut chosen: Vec<usize> = Vec::with_capacity(jobs.len());
    for &offset in offsets {
        chosen.push((taken[offset as usize] + offset as usize) % ways[offset as usize].len());
        taken[offset as usize] += 1;
    }
    let mut loads = vec![0; directions.len()];
    jobs.iter().zip(&chosen).for_each(|(ways, &way)| add(&mut loads, &ways[way]));
    while let Some(changes) = best_changes(&jobs, &chosen, &loads, capacity) {
        for (job, way) in changes {
            jobs[job][chosen[job]].iter().zip(&mut loads).for_each(|(hops, load)| *load -= hops);
            add(&mut loads, &jobs[job][way]);
            chosen[job] = way;
        }
    }
    let hops = jobs.iter().zip(&chosen).flat_map(|(ways, &way)| &ways[way]);
    hops.map(|&hops| u8::try_from(hops).ok()).collect()
}

fn add(loads: &mut [i64], hops: &[i64]) {
    loads.iter_mut().zip(hops).for_each(|(load, hops)| *load += hops);
}

/// One or two jobs, and the way each is to take; `None` if no change makes the loads more even.
fn best_changes(
    jobs: &[&Vec<Vec<i64>>],
    chosen: &[usize],
    loads: &[i64],
    capacity: &[u32],
) -> Option<Vec<(usize, usize)>> {
    // Two jobs that can make each change; the second serves where the first makes the other change.
    let mut changes: BTreeMap<Vec<i64>, Vec<(usize, usize)>> = BTreeMap::new();
    for (job, (ways, &now)) in jobs.iter().zip(chosen).enumerate() {
        for (way, hops) in ways.iter().enumerate().filter(|&(way, _)| way != now) {
            let able = changes.entry(hops.iter().zip(&ways[now]).map(|(to, from)| to - from).collect()).or_default();
            if able.len() < 2 && able.iter().all(|&(other, _)| other != job) {
                able.push((job, way));
            }
        }
    }
    // The sum of the squares of loads per capacity, in units that keep it an integer.
    let all: i64 = capacity.iter().map(|&capacity| i64::from(capacity)).product();
    let gain = |change: &[i64]| -> i64 {
        let each = change.iter().zip(loads).zip(capacity);
        -each.map(|((more, load), &capacity)| more * (2 * load + more) * (all / i64::from(capacity))).sum::<i64>()
    };
    let alone = changes.iter().map(|(change, able)| (gain(change), vec![able[0]]));
    let pairs = changes.iter().tuple_combinations().chain(changes.iter().map(|change| (change, change)));
    let together = pairs.filter_map(|((one, of_one), (other, of_other))| {
        let mut sum = one.clone();
        add(&mut sum, other);
        let second = of_other.iter().find(|(job, _)| *job != of_one[0].0)?;
        Some((gain(&sum), vec![of_one[0], *second]))
    });
    let (gained, changes) = alone.chain(together).max_by_key(|(gained, _)| *gained)?;
    (gained > 0).then_some(changes)
}
