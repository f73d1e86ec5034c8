//! The least time between two ranks: flows repeated in time.
//!
//! A flow through the links, decomposed into paths, is repeated in every unit while its chunks can still arrive: in `W`
//! units, a path of `l` links delivers `W - l + 1` chunks for each unit of its rate. Flows along successive shortest
//! paths deliver most: in `W` units, those along all paths of at most `W` links.
//!
//! ```text
//!   paths of 1, 3 and 5 links:  units      1  2  3  4  5  6
//!                               chunks by  1  2  4  6  9 12
//! ```
//!
//! The residual distances once these paths are filled give the time at which the cut over time passes each rank: a rank
//! at distance `d` is reached from time `d` on. The destination is reached a unit too late, and so are the ranks back
//! along filled paths from which chunks no longer arrive in time.
//!
//! Takes one shortest-path search per path, whatever the number of chunks: O(paths * ranks * links) at worst, mostly
//! little more than O(paths * links).
//!
//! Source: Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6, 1958.

use std::collections::VecDeque;

struct Arc {
    from: u32,
    to: u32,
    capacity: u32,
    load: u32,
}

/// A number of units that does not suffice, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooFew {
    /// One more unit suffices.
    pub units: u32,
    /// For each rank, the time from which the cut has it on its near side; more than `units`: never.
    pub since: Vec<u32>,
}

/// The largest number of units in which `amount` chunks do not get from one rank to another through links `(from, to,
/// capacity)`; `None` if they never do, or if the units exceed 32 bits.
pub(super) fn too_few_units(
    ranks: usize,
    links: impl Iterator<Item = (u32, u32, u32)>,
    (from, to): (u32, u32),
    amount: u32,
) -> Option<TooFew> {
    let arcs = links.map(|(from, to, capacity)| Arc { from, to, capacity, load: 0 }).collect();
    let mut arcs = Arcs::new(arcs, ranks);
    // After `W` units, `rate * W - behind` chunks have arrived.
    let (mut rate, mut behind) = (0_u64, 0_u64);
    loop {
        let Shortest { distance, before } = Shortest::find(&arcs, &[(from, 0)]);
        let length = distance[to as usize];
        let enough = (u64::from(amount) + behind).div_ceil(rate.max(1));
        if rate > 0 && length.is_none_or(|length| enough <= u64::from(length)) {
            let units = u32::try_from(enough).ok()?.checked_sub(1)?;
            let late = Shortest::find(&arcs, &[(from, 0), (to, units + 1)]).distance;
            let since = late.into_iter().map(|distance| distance.unwrap_or(units + 1).min(units + 1)).collect();
            return Some(TooFew { units, since });
        }
        let more = fill(&mut arcs.all, &before, from, to);
        rate += u64::from(more);
        behind += u64::from(more) * u64::from(length?.checked_sub(1)?);
    }
}

/// The arcs at each rank.
struct Arcs {
    all: Vec<Arc>,
    /// Where those of each rank begin in `at`.
    first: Vec<usize>,
    at: Vec<usize>,
}

impl Arcs {
    fn new(all: Vec<Arc>, ranks: usize) -> Self {
        let mut first = vec![0; ranks + 1];
        all.iter().flat_map(|arc| [arc.from, arc.to]).for_each(|rank| first[rank as usize + 1] += 1);
        (1..first.len()).for_each(|rank| first[rank] += first[rank - 1]);
        let (mut next, mut at) = (first.clone(), vec![0; 2 * all.len()]);
        for (index, arc) in all.iter().enumerate() {
            for rank in [arc.from, arc.to] {
                at[next[rank as usize]] = index;
                next[rank as usize] += 1;
            }
        }
        Self { all, first, at }
    }
}

/// Shortest paths in the residual network from some ranks, each with a start time; a loaded link can be taken back at
/// length -1. There are no negative cycles while all paths filled so far were shortest.
struct Shortest {
    distance: Vec<Option<u32>>,
    /// The arc by which a rank is reached, and whether it is taken forward.
    before: Vec<Option<(usize, bool)>>,
}

impl Shortest {
    /// By a queue of the ranks whose distance has become shorter.
    fn find(arcs: &Arcs, starts: &[(u32, u32)]) -> Self {
        let ranks = arcs.first.len() - 1;
        let (mut distance, mut before) = (vec![None; ranks], vec![None; ranks]);
        let (mut queue, mut waits) = (VecDeque::new(), vec![false; ranks]);
        for &(rank, start) in starts {
            distance[rank as usize] = Some(start);
            queue.push_back(rank);
            waits[rank as usize] = true;
        }
        while let Some(rank) = queue.pop_front() {
            waits[rank as usize] = false;
            let Some(here) = distance[rank as usize] else { continue };
            for &index in &arcs.at[arcs.first[rank as usize]..arcs.first[rank as usize + 1]] {
                let arc = &arcs.all[index];
                let (there, candidate, forward) = match arc.from == rank {
                    true if arc.load < arc.capacity => (arc.to, here + 1, true),
                    false if arc.load > 0 && here > 0 => (arc.from, here - 1, false),
                    _ => continue,
                };
                let known = &mut distance[there as usize];
                if known.is_none_or(|known| candidate < known) {
                    *known = Some(candidate);
                    before[there as usize] = Some((index, forward));
                    if !std::mem::replace(&mut waits[there as usize], true) {
                        queue.push_back(there);
                    }
                }
            }
        }
        Self { distance, before }
    }
}

/// Fills the path to a rank; returns the rate added.
fn fill(arcs: &mut [Arc], before: &[Option<(usize, bool)>], from: u32, to: u32) -> u32 {
    let mut path = Vec::new();
    let mut at = to;
    while at != from
        && let Some((index, forward)) = before[at as usize]
    {
        path.push((index, forward));
        at = if forward { arcs[index].from } else { arcs[index].to };
    }
    let left = |&(index, forward): &(usize, bool)| {
        let Arc { capacity, load, .. } = arcs[index];
        if forward { capacity - load } else { load }
    };
    let more = path.iter().map(left).min().unwrap_or(0);
    for (index, forward) in path {
        let load = &mut arcs[index].load;
        *load = if forward { *load + more } else { *load - more };
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(cables: &[(u32, u32)]) -> impl Iterator<Item = (u32, u32, u32)> {
        cables.iter().flat_map(|&(a, b)| [(a, b, 1), (b, a, 1)])
    }

    #[test]
    fn paths_of_one_three_and_five_links_begin_to_count_one_after_the_other() {
        let cables = [(0, 1), (0, 2), (2, 3), (3, 1), (0, 4), (4, 5), (5, 6), (6, 7), (7, 1)];
        let units = |amount| too_few_units(8, both(&cables), (0, 1), amount).map(|few| few.units + 1);
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 9, 10, 12].map(units), [1, 2, 3, 3, 4, 4, 5, 5, 6, 6].map(Some));
    }

    #[test]
    fn a_filled_path_is_replaced_by_two() {
        // The shortest path, 0 1 2 5, blocks 0 1 4 5 and 0 3 2 5 until it is taken back.
        let links = [(0, 1, 1), (1, 2, 1), (2, 5, 1), (1, 4, 1), (4, 6, 1), (6, 5, 1), (0, 7, 1), (7, 3, 1), (3, 2, 1)];
        let few = too_few_units(8, links.into_iter(), (0, 5), 10).unwrap();
        // Rate 2 by two paths of 4 links: 2 (W - 3) chunks; 10 need 8 units. By the shortest alone it would take 12.
        assert_eq!(few.units, 7);
        assert_eq!((few.since[0], few.since[5]), (0, 8));
    }

    #[test]
    fn unreachable_ranks_have_no_number_of_units() {
        assert_eq!(too_few_units(3, both(&[(0, 1)]), (0, 2), 4), None);
    }
}
