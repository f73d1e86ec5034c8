//! Ranks and links that symmetries map onto each other, and how far messages go by lengths that are the same on such
//! links.

use collsynth_core::topology::{LinkId, Topology};
use itertools::Itertools;
use petgraph::unionfind::UnionFind;

use crate::flows::shortest::ShortestPaths;
use crate::machine::symmetry::symmetries;

/// The most orbits of ranks and of links: a machine with more has too few symmetries.
const MOST_OF_RANKS: usize = 20;
const MOST_OF_LINKS: usize = 100;

/// The orbits of the live ranks and links of a machine.
pub struct Orbits {
    pub ranks: Vec<OrbitOfRanks>,
    /// The orbit of each live link.
    pub of_links: Vec<usize>,
    /// The capacity of all live links of each orbit.
    pub capacity: Vec<u64>,
    paths: ShortestPaths,
    /// A message for each live rank.
    demand: Vec<f64>,
}

/// Ranks that symmetries map onto each other.
pub struct OrbitOfRanks {
    /// One of them.
    first: usize,
    /// How many they are.
    pub count: u64,
}

impl Orbits {
    /// `None` if there are too many.
    pub fn new(topology: &Topology) -> Option<Self> {
        let maps = symmetries(topology, |_| true).generators;
        let ranks = topology.rank_count();
        let images = maps.iter().map(|map| map.ranks.iter().map(|rank| rank.index()).collect());
        let of_ranks = orbits(ranks, images);
        let counts = topology.live_ranks().map(|rank| of_ranks[rank.index()]).counts();
        let images = maps.iter().map(|map| map.links.iter().map(|link| link.index()).collect());
        let of_links = orbits(topology.links().len(), images);
        let links: Vec<LinkId> = topology.live_links().collect();
        let known: Vec<usize> = links.iter().map(|id| of_links[id.index()]).sorted_unstable().dedup().collect();
        if counts.len() > MOST_OF_RANKS || known.len() > MOST_OF_LINKS {
            return None;
        }
        let orbit = |(first, count): (usize, usize)| OrbitOfRanks { first, count: count as u64 };
        let mut orbits = Self {
            ranks: counts.into_iter().sorted_unstable().map(orbit).collect(),
            of_links: links.iter().filter_map(|id| known.binary_search(&of_links[id.index()]).ok()).collect(),
            capacity: vec![0; known.len()],
            // Lengths are whole numbers.
            paths: ShortestPaths::new(topology, &links, 1.0),
            demand: vec![0.0; ranks],
        };
        for (&id, &orbit) in links.iter().zip(&orbits.of_links) {
            orbits.capacity[orbit] += u64::from(topology.link(id).capacity);
        }
        topology.live_ranks().for_each(|rank| orbits.demand[rank.index()] = 1.0);
        Some(orbits)
    }

    /// Lengths times capacities of all links; `None` if that is nothing, or too much.
    pub fn offered(&self, lengths: &[u32]) -> Option<u64> {
        let mut products = lengths.iter().zip(&self.capacity).map(|(&length, &all)| all.checked_mul(length.into()));
        products.try_fold(0_u64, |sum, product| sum.checked_add(product?)).filter(|&sum| sum > 0)
    }

    /// The sum of the distances from every rank to every other; `routed` gets the loads of the links if the first rank
    /// of each orbit sends to every other. One Dijkstra search for each orbit of ranks.
    ///
    /// Exact: paths of at most 2^12 links, of lengths below 2^24, lead to at most 2^12 ranks; floats hold 2^53.
    pub fn distances(&self, lengths: &[u32], mut routed: impl FnMut(usize, &[f64])) -> u64 {
        let length: Vec<f64> = self.of_links.iter().map(|&orbit| f64::from(lengths[orbit])).collect();
        let of_orbit = |(number, orbit): (usize, &OrbitOfRanks)| {
            let (mut sum, mut load) = (0.0, vec![0.0; length.len()]);
            self.paths.spread(orbit.first, &length, &self.demand, &mut load, |_, distance| sum += distance);
            routed(number, &load);
            sum as u64 * orbit.count
        };
        self.ranks.iter().enumerate().map(of_orbit).sum()
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
