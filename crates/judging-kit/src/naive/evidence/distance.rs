//! Lengths of shortest paths, by trying every link again and again.

use crate::naive::problem::machine::Machine;

/// A link with a length during some units of time.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// The sender of the links.
    pub from: usize,
    /// Their receiver.
    pub to: usize,
    /// The first unit.
    pub first: u64,
    /// The last unit.
    pub last: u64,
    /// The length.
    pub length: u64,
}

/// A stretch of time in which no length changes: first and last unit, and the length of each live link.
pub struct Stretch {
    /// How many units it has.
    pub units: u64,
    /// The length of each live link, in the order of the machine.
    pub lengths: Vec<u128>,
}

/// The units from 1 to `end`, cut where lengths change.
pub fn stretches(machine: &Machine, weights: &[Weight], end: u64) -> Vec<Stretch> {
    let mut cuts: Vec<_> =
        weights.iter().flat_map(|weight| [weight.first, weight.last + 1]).chain([1, end + 1]).collect();
    cuts.sort();
    cuts.dedup();
    let stretch = |pair: &[u64]| {
        let (first, next) = (pair[0], pair[1]);
        let length = |link: &crate::naive::problem::machine::Link| {
            let here = |weight: &&Weight| {
                (weight.from, weight.to) == (link.from, link.to) && weight.first <= first && first <= weight.last
            };
            weights.iter().filter(here).map(|weight| u128::from(weight.length)).sum()
        };
        Stretch { units: next - first, lengths: machine.live_links().map(length).collect() }
    };
    cuts.windows(2).map(stretch).collect()
}

/// Does any path lead from a rank to another?
pub fn reaches(machine: &Machine, from: usize, to: usize) -> bool {
    let lengths = vec![0; machine.live_links().count()];
    shortest(machine, &[Stretch { units: machine.ranks() as u64, lengths }], from)[to].is_some()
}

/// The shortest paths from a rank, over at most one link per unit; `None`: no path ends in time.
pub fn shortest(machine: &Machine, stretches: &[Stretch], from: usize) -> Vec<Option<u128>> {
    let mut length: Vec<Option<u128>> = vec![None; machine.ranks()];
    length[from] = Some(0);
    for stretch in stretches {
        // A shortest path does not visit a rank twice while nothing changes.
        for _ in 0..stretch.units.min(machine.ranks() as u64) {
            let before = length.clone();
            for (link, weight) in machine.live_links().zip(&stretch.lengths) {
                let Some(start) = before[link.from] else { continue };
                let way = start + weight;
                if length[link.to].is_none_or(|known| way < known) {
                    length[link.to] = Some(way);
                }
            }
        }
    }
    length
}
