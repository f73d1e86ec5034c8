//! Hops between ranks, counted once they are asked for: few planners need those of all pairs, which take O(N * links)
//! time and O(N^2) memory.

use std::sync::OnceLock;

use collsynth_core::topology::{RankId, Topology, UNREACHABLE};

/// The hops between all pairs of ranks of a network: a row, or a column, is searched when it is first looked at.
#[derive(Debug)]
pub struct Hops {
    forth: Searches,
    back: Searches,
}

/// The searches along the links in one direction, each kept.
#[derive(Debug)]
struct Searches {
    neighbors: Neighbors,
    found: Vec<OnceLock<Box<[u16]>>>,
}

/// The ranks next to each rank: of rank `r`, `ends[start[r]..start[r + 1]]`.
#[derive(Debug)]
struct Neighbors {
    start: Vec<u32>,
    ends: Vec<u32>,
}

/// A search for one rank after another over the live links of a machine, none of which is kept.
pub struct Search {
    neighbors: Neighbors,
    hops: Vec<u16>,
    queue: Vec<u32>,
}

impl Hops {
    /// Of a network in which each link leads from one of the first ranks to one of the second.
    pub fn new(ranks: usize, from: &[u32], to: &[u32]) -> Self {
        Self { forth: Searches::new(ranks, from, to), back: Searches::new(ranks, to, from) }
    }

    /// Over the live links of a machine.
    pub fn of(topology: &Topology) -> Self {
        let ends = topology.live_links().map(|id| (topology.link(id).from.0, topology.link(id).to.0));
        let (from, to): (Vec<u32>, Vec<u32>) = ends.unzip();
        Self::new(topology.rank_count(), &from, &to)
    }

    /// The hops from a rank to every other, [`UNREACHABLE`] where there is no path.
    pub fn from(&self, rank: u32) -> &[u16] {
        self.forth.found(rank)
    }

    /// The hops to a rank from every other.
    pub fn to(&self, rank: u32) -> &[u16] {
        self.back.found(rank)
    }
}

impl Searches {
    fn new(ranks: usize, from: &[u32], to: &[u32]) -> Self {
        let found = std::iter::repeat_with(OnceLock::new).take(ranks).collect();
        Self { neighbors: Neighbors::new(ranks, from, to), found }
    }

    fn found(&self, rank: u32) -> &[u16] {
        self.found[rank as usize].get_or_init(|| {
            let (mut hops, mut queue) = (Vec::new(), Vec::new());
            self.neighbors.search(rank, &mut hops, &mut queue);
            hops.into()
        })
    }
}

impl Search {
    /// Along the links, or against them.
    pub fn new(topology: &Topology, against: bool) -> Self {
        let ends = topology.live_links().map(|id| (topology.link(id).from.0, topology.link(id).to.0));
        let (from, to): (Vec<u32>, Vec<u32>) =
            ends.map(|(from, to)| if against { (to, from) } else { (from, to) }).unzip();
        let neighbors = Neighbors::new(topology.rank_count(), &from, &to);
        Self { neighbors, hops: Vec::new(), queue: Vec::new() }
    }

    /// The hops from a rank to every other, [`UNREACHABLE`] where there is no path.
    pub fn from(&mut self, rank: RankId) -> &[u16] {
        self.neighbors.search(rank.0, &mut self.hops, &mut self.queue);
        &self.hops
    }
}

impl Neighbors {
    fn new(ranks: usize, from: &[u32], to: &[u32]) -> Self {
        let mut start = vec![0; ranks + 1];
        from.iter().for_each(|&rank| start[rank as usize + 1] += 1);
        (0..ranks).for_each(|rank| start[rank + 1] += start[rank]);
        let (mut ends, mut next) = (vec![0; from.len()], start.clone());
        for (&from, &to) in from.iter().zip(to) {
            ends[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Self { start, ends }
    }

    /// Breadth first.
    fn search(&self, origin: u32, hops: &mut Vec<u16>, queue: &mut Vec<u32>) {
        hops.clear();
        hops.resize(self.start.len() - 1, UNREACHABLE);
        hops[origin as usize] = 0;
        queue.clear();
        queue.push(origin);
        let mut head = 0;
        while let Some(&rank) = queue.get(head) {
            head += 1;
            let next = hops[rank as usize].saturating_add(1);
            for &to in &self.ends[self.start[rank as usize] as usize..self.start[rank as usize + 1] as usize] {
                if next < hops[to as usize] {
                    hops[to as usize] = next;
                    queue.push(to);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::topology::Distances;

    #[test]
    fn rows_and_columns_are_those_of_all_pairs() {
        let torus = Topology::torus(&[4, 5]).unwrap().fail_cable(0, 1).unwrap().fail_link(5, 6).unwrap();
        let ends = |id| (torus.link(id).from.0, torus.link(id).to.0);
        let (from, to): (Vec<u32>, Vec<u32>) = torus.live_links().map(ends).unzip();
        let (hops, all) = (Hops::new(20, &from, &to), Distances::new(&torus));
        for (from, to) in (0..20).flat_map(|from| (0..20).map(move |to| (from, to))) {
            let hop = all.get(RankId(from), RankId(to));
            assert_eq!((hops.from(from)[to as usize], hops.to(to)[from as usize]), (hop, hop));
        }
        let searched = |searches: &Searches| searches.found.iter().filter(|found| found.get().is_some()).count();
        let one = Hops::new(20, &from, &to);
        one.from(3);
        assert_eq!((searched(&one.forth), searched(&one.back)), (1, 0), "only what was asked for");
    }
}
