//! A ring through all live ranks: a Hamiltonian cycle, searched for within limits.
//!
//! Two searches, one after the other. The first steps from rank to rank, to the neighbor with the fewest unvisited
//! neighbors, and backs out of dead ends (Warnsdorff's rule); it finds rings on all small machines that have one. The
//! second walks at random and, at a dead end, reverses the end of its walk (rotation and extension: Posa 1976); it is
//! the one for large machines, and needs cables that work both ways.

use fastrand::Rng;
use itertools::Itertools;

use collsynth_core::topology::{LinkId, RankId, Topology};

/// Ranks visited before the first search gives up.
const MOST_VISITS: u32 = 100_000;
/// Rotations and extensions, per rank, before the second gives up.
const MOST_TURNS_PER_RANK: usize = 300;

/// The links of a ring through all live ranks, from the first live rank on; empty for a single rank. `None` if none was
/// found, though one may exist. Deterministic.
pub(super) fn ring_of_ranks(topology: &Topology) -> Option<Vec<LinkId>> {
    let next: Vec<Vec<usize>> = (0..topology.rank_count()).map(|rank| neighbors(topology, rank)).collect();
    let live: Vec<usize> = topology.live_ranks().map(RankId::index).collect();
    if live.len() <= 1 {
        return Some(Vec::new());
    }
    let found = Stepwise::new(&next, live[0]).search(live.len()).or_else(|| rotate_and_extend(&next, &live));
    found.map(|ranks| links(topology, &ranks))
}

fn neighbors(topology: &Topology, rank: usize) -> Vec<usize> {
    let live = topology.links_from(RankId(rank as u32)).map(|id| topology.link(id)).filter(|link| link.alive);
    let mut ranks: Vec<usize> = live.map(|link| link.to.index()).collect();
    ranks.dedup();
    ranks
}

/// The strongest live link from each rank of a ring to the next.
fn links(topology: &Topology, ranks: &[usize]) -> Vec<LinkId> {
    let strongest = ranks.iter().circular_tuple_windows().filter_map(|(&from, &to)| {
        let joining = topology.links_between(RankId(from as u32), RankId(to as u32));
        let live = joining.filter(|&id| topology.link(id).alive);
        live.min_by_key(|&id| std::cmp::Reverse(topology.link(id).capacity))
    });
    strongest.collect()
}

/// The first search.
struct Stepwise<'a> {
    next: &'a [Vec<usize>],
    visited: Vec<bool>,
    walk: Vec<usize>,
    /// Per rank of the walk: the candidates for the next, the best last.
    choices: Vec<Vec<usize>>,
}

impl<'a> Stepwise<'a> {
    fn new(next: &'a [Vec<usize>], first: usize) -> Self {
        let mut search = Self { next, visited: vec![false; next.len()], walk: Vec::new(), choices: Vec::new() };
        search.visit(first);
        search
    }

    fn search(mut self, ranks: usize) -> Option<Vec<usize>> {
        for _ in 0..MOST_VISITS {
            let last = *self.walk.last()?;
            if self.walk.len() == ranks && self.next[last].contains(&self.walk[0]) {
                return Some(self.walk);
            }
            match self.choices.last_mut()?.pop() {
                Some(rank) => self.visit(rank),
                None => {
                    self.choices.pop();
                    self.walk.pop();
                    self.visited[last] = false;
                }
            }
        }
        None
    }

    fn visit(&mut self, rank: usize) {
        self.visited[rank] = true;
        self.walk.push(rank);
        let unvisited = |of: usize| self.next[of].iter().copied().filter(|&rank| !self.visited[rank]);
        let mut choices: Vec<usize> = unvisited(rank).collect();
        choices.sort_by_key(|&choice| std::cmp::Reverse(unvisited(choice).count()));
        self.choices.push(choices);
    }
}

/// The second search.
fn rotate_and_extend(next: &[Vec<usize>], live: &[usize]) -> Option<Vec<usize>> {
    let both_ways: Vec<Vec<usize>> = (0..next.len())
        .map(|rank| next[rank].iter().copied().filter(|&other| next[other].contains(&rank)).collect())
        .collect();
    let mut rng = Rng::with_seed(0);
    let mut walk = vec![live[0]];
    let mut place: Vec<Option<usize>> = vec![None; next.len()];
    place[live[0]] = Some(0);
    for _ in 0..MOST_TURNS_PER_RANK * live.len() {
        let last = *walk.last()?;
        if walk.len() == live.len() && both_ways[last].contains(&walk[0]) {
            return Some(walk);
        }
        let fresh: Vec<usize> = both_ways[last].iter().copied().filter(|&rank| place[rank].is_none()).collect();
        if let Some(rank) = rng.choice(fresh) {
            place[rank] = Some(walk.len());
            walk.push(rank);
        } else {
            // Joins the end to an earlier rank of the walk, and ends behind that one instead.
            let joint = rng.choice(&both_ways[last]).and_then(|&rank| place[rank])?;
            walk[joint + 1..].reverse();
            for (index, &rank) in walk.iter().enumerate().skip(joint + 1) {
                place[rank] = Some(index);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use itertools::Itertools;

    use super::ring_of_ranks;
    use collsynth_core::topology::{RankId, Topology, TopologySpec};

    fn is_ring(topology: &Topology) -> bool {
        let ring = ring_of_ranks(topology).unwrap();
        let joined = |(a, b)| topology.link(a).alive && topology.link(a).to == topology.link(b).from;
        let mut visited: Vec<RankId> = ring.iter().map(|&id| topology.link(id).from).collect();
        visited.sort_unstable();
        ring.iter().copied().circular_tuple_windows().all(joined) && visited.into_iter().eq(topology.live_ranks())
    }

    #[test]
    fn rings_are_found_on_whole_and_broken_tori() {
        let tori: [&[u32]; 9] = [&[2], &[5], &[2, 2], &[3, 3], &[4, 4], &[5, 5], &[4, 4, 4], &[5, 5, 5], &[8, 8, 8]];
        for extents in tori {
            assert!(is_ring(&Topology::torus(extents).unwrap()), "{extents:?}");
            if extents.len() > 1 && extents[0] > 2 {
                let spec = TopologySpec::torus(extents).without_cables(&[(0, 1), (1, 2)]);
                assert!(is_ring(&Topology::new(spec).unwrap()), "{extents:?} without two cables");
            }
        }
    }

    #[test]
    fn impossible_rings_are_not_found() {
        let spec = TopologySpec::torus(&[5]).without_cables(&[(0, 1)]);
        assert_eq!(ring_of_ranks(&Topology::new(spec).unwrap()), None);
        // Fifteen ranks of two colors, neighbors of different color.
        let spec = TopologySpec::torus(&[4, 4]).without_ranks(&[0]);
        assert_eq!(ring_of_ranks(&Topology::new(spec).unwrap()), None);
    }
}
