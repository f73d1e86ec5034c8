//! Ranks and links that look alike, and how far messages go by lengths that do not tell such links apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use collsynth_core::topology::{RankId, Topology};
use itertools::Itertools;
use petgraph::unionfind::UnionFind;

use crate::machine::symmetry::symmetries;

/// The most orbits of ranks, and classes of links: a machine with more has too few symmetries.
const MOST_ORBITS: usize = 20;
const MOST_CLASSES: usize = 100;

/// A machine by what its symmetries map onto each other.
pub struct Classes {
    /// The orbits of live ranks.
    pub orbits: Vec<Orbit>,
    /// The class of each live link.
    pub of_links: Vec<usize>,
    /// The capacity of all live links of each class.
    pub capacity: Vec<u64>,
    /// The links out of, and into, each rank: the rank at the other end, and the class.
    out: Vec<Vec<(usize, usize)>>,
    into: Vec<Vec<(usize, usize)>>,
}

/// Ranks that symmetries map onto each other.
pub struct Orbit {
    /// One of them.
    pub rank: RankId,
    /// How many they are.
    pub ranks: u64,
}

impl Classes {
    /// `None` if there are too many.
    pub fn new(topology: &Topology) -> Option<Self> {
        let maps = symmetries(topology, |_| true).generators;
        let ranks = topology.rank_count();
        let rank_images = maps.iter().map(|map| map.ranks.iter().map(|rank| rank.index()).collect());
        let of_ranks = orbits(ranks, rank_images);
        let live_ranks = topology.live_ranks().map(|rank| of_ranks[rank.index()]).counts();
        let link_images = maps.iter().map(|map| map.links.iter().map(|link| link.index()).collect());
        let all_links = orbits(topology.links().len(), link_images);
        let live = || topology.live_links().map(|id| (topology.link(id), all_links[id.index()]));
        let known: Vec<usize> = live().map(|(_, class)| class).sorted_unstable().dedup().collect();
        if live_ranks.len() > MOST_ORBITS || known.len() > MOST_CLASSES {
            return None;
        }
        let orbit = |(first, count): (usize, usize)| Orbit { rank: RankId(first as u32), ranks: count as u64 };
        let mut classes = Self {
            orbits: live_ranks.into_iter().sorted_unstable().map(orbit).collect(),
            of_links: live().filter_map(|(_, class)| known.binary_search(&class).ok()).collect(),
            capacity: vec![0; known.len()],
            out: vec![Vec::new(); ranks],
            into: vec![Vec::new(); ranks],
        };
        for ((link, _), &class) in live().zip(&classes.of_links) {
            classes.capacity[class] += u64::from(link.capacity);
            classes.out[link.from.index()].push((link.to.index(), class));
            classes.into[link.to.index()].push((link.from.index(), class));
        }
        Some(classes)
    }

    /// Lengths times capacities of all links; `None` if that is nothing, or too much.
    pub fn offered(&self, lengths: &[u64]) -> Option<u64> {
        let mut products = lengths.iter().zip(&self.capacity).map(|(length, capacity)| length.checked_mul(*capacity));
        products.try_fold(0_u64, |sum, product| sum.checked_add(product?)).filter(|&sum| sum > 0)
    }

    /// The sum of the distances from every rank to every other. `routed` gets the load that each orbit puts on each
    /// class if its one rank sends to every other, split evenly over shortest paths.
    pub fn distances(&self, lengths: &[u64], mut routed: impl FnMut(usize, Vec<f64>)) -> u64 {
        let mut total = 0;
        for (number, orbit) in self.orbits.iter().enumerate() {
            let (distance, settled) = self.search(orbit.rank.index(), lengths);
            let mut load = vec![0.0; self.capacity.len()];
            // Traffic to each rank, for itself and for the ranks behind it; the farthest first.
            let mut passing = vec![1.0; self.out.len()];
            let mut sum = 0;
            for &rank in settled.iter().skip(1).rev() {
                sum += distance[rank];
                let last_hop = |&&(from, class): &&(usize, usize)| {
                    distance[from] != u64::MAX && distance[from] + lengths[class] == distance[rank]
                };
                let hops = self.into[rank].iter().filter(last_hop);
                let share = passing[rank] / hops.clone().count() as f64;
                for &(from, class) in hops {
                    load[class] += share;
                    passing[from] += share;
                }
            }
            total += sum * orbit.ranks;
            routed(number, load);
        }
        total
    }

    /// Dijkstra's algorithm; also the ranks reached by ascending distance, the origin first.
    fn search(&self, origin: usize, lengths: &[u64]) -> (Vec<u64>, Vec<usize>) {
        let mut distance = vec![u64::MAX; self.out.len()];
        let mut settled = Vec::with_capacity(distance.len());
        distance[origin] = 0;
        let mut reached = BinaryHeap::from([Reverse((0, origin))]);
        while let Some(Reverse((here, rank))) = reached.pop() {
            if here > distance[rank] {
                continue;
            }
            settled.push(rank);
            for &(next, class) in &self.out[rank] {
                let there = here + lengths[class];
                if there < distance[next] {
                    distance[next] = there;
                    reached.push(Reverse((there, next)));
                }
            }
        }
        (distance, settled)
    }
}

/// The least of those that maps carry each of some things onto.
fn orbits(count: usize, maps: impl Iterator<Item = Vec<usize>>) -> Vec<usize> {
    let mut sets = UnionFind::new(count);
    for map in maps {
        for (thing, &image) in map.iter().enumerate() {
            sets.union(thing, image);
        }
    }
    let mut least = vec![usize::MAX; count];
    let label = |thing: usize| {
        let set = sets.find(thing);
        least[set] = least[set].min(thing);
        least[set]
    };
    (0..count).map(label).collect()
}
