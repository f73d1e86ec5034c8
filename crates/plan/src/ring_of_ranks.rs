//! A ring through all live ranks: a Hamiltonian cycle, searched for within limits; and schedules round it.
//!
//! Two searches, one after the other. The first goes from rank to rank, to the neighbour with the fewest ways on, and
//! steps back from dead ends (Warnsdorff's rule); it finds rings on all small machines that have one. The second walks
//! at random and, at a dead end, turns round the end of its walk (rotation and extension: Posa 1976); it is the one for
//! large machines, and needs cables that work both ways.

use std::ops::Range;

use fastrand::Rng;

use super::PlanError;
use super::error::check_kind;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{Distances, LinkId, RankId, Topology};

/// Ranks visited before the first search gives up.
const MOST_VISITS: u32 = 100_000;
/// Rotations and extensions, per rank, before the second gives up.
const MOST_TURNS_PER_RANK: usize = 300;

/// The links of a ring through all live ranks, in order, for problems of these kinds; none for a single rank.
///
/// # Errors
///
/// If the problem is of another kind, the ranks cannot reach each other, or no ring was found.
pub(super) fn ring_for(planner: &'static str, problem: &Problem, kinds: &[&str]) -> Result<Vec<LinkId>, PlanError> {
    check_kind(planner, problem, kinds)?;
    problem.check_connected(&Distances::new(problem.topology()))?;
    let reason = || "no ring through all live ranks was found".to_owned();
    ring_of_ranks(problem.topology()).ok_or_else(|| PlanError::NotApplicable { planner, reason: reason() })
}

/// The schedule in which link `i` of a ring, from its rank `i` to its rank `i + 1`, carries `chunks(i, step)` in each
/// step.
pub(super) fn round_the_ring(
    topology: &Topology,
    ring: &[LinkId],
    ops: impl IntoIterator<Item = Op>,
    chunks: impl Fn(usize, usize) -> Range<u32>,
) -> Schedule {
    let mut in_order: Vec<usize> = (0..ring.len()).collect();
    in_order.sort_unstable_by_key(|&at| ring[at]);
    let mut builder = Schedule::builder();
    for (step, op) in ops.into_iter().enumerate() {
        let carried = in_order.iter().map(|&at| (ring[at], chunks(at, step)));
        let transfers: Vec<(LinkId, Range<u32>)> = carried.filter(|(_, chunks)| !chunks.is_empty()).collect();
        let needed =
            |(link, chunks): &(LinkId, Range<u32>)| (chunks.len() as u32).div_ceil(topology.link(*link).capacity);
        builder.step(transfers.iter().map(needed).max().unwrap_or(1));
        for (link, chunks) in transfers {
            builder.transfer_over(topology, link, op, chunks.map(ChunkId));
        }
    }
    builder.finish()
}

/// The links of a ring through all live ranks, from the first live rank on; empty for a single rank. `None` if none was
/// found, which does not mean that there is none. Always the same for the same topology.
fn ring_of_ranks(topology: &Topology) -> Option<Vec<LinkId>> {
    let next: Vec<Vec<usize>> = (0..topology.rank_count()).map(|rank| neighbours(topology, rank)).collect();
    let live: Vec<usize> = topology.live_ranks().map(RankId::index).collect();
    if live.len() <= 1 {
        return Some(Vec::new());
    }
    let found = Stepwise::new(&next, live[0]).search(live.len()).or_else(|| turn_round(&next, &live));
    found.map(|ranks| links(topology, &ranks))
}

/// The ranks that live links lead to.
fn neighbours(topology: &Topology, rank: usize) -> Vec<usize> {
    let live = topology.links_from(RankId(rank as u32)).map(|id| topology.link(id)).filter(|link| link.alive);
    let mut ranks: Vec<usize> = live.map(|link| link.to.index()).collect();
    ranks.dedup();
    ranks
}

/// The strongest live link from each rank of a ring to the next.
fn links(topology: &Topology, ranks: &[usize]) -> Vec<LinkId> {
    let pairs = ranks.iter().zip(ranks.iter().cycle().skip(1));
    let strongest = pairs.filter_map(|(&from, &to)| {
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
    /// Per rank of the walk: where to go from there, the best last.
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
        let ways_on = |of: usize| self.next[of].iter().filter(|&&rank| !self.visited[rank]).count();
        let mut choices: Vec<usize> = self.next[rank].iter().copied().filter(|&rank| !self.visited[rank]).collect();
        choices.sort_by_key(|&choice| std::cmp::Reverse(ways_on(choice)));
        self.choices.push(choices);
    }
}

/// The second search.
fn turn_round(next: &[Vec<usize>], live: &[usize]) -> Option<Vec<usize>> {
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
    use super::ring_of_ranks;
    use collsynth_core::topology::{RankId, Topology, TopologySpec};

    fn is_ring(topology: &Topology) -> bool {
        let ring = ring_of_ranks(topology).unwrap();
        let joined = |(a, b)| topology.link(a).alive && topology.link(a).to == topology.link(b).from;
        let mut visited: Vec<RankId> = ring.iter().map(|&id| topology.link(id).from).collect();
        visited.sort_unstable();
        ring.iter().copied().zip(ring.iter().copied().cycle().skip(1)).all(joined)
            && visited.into_iter().eq(topology.live_ranks())
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
    fn where_there_is_none_none_is_found() {
        let spec = TopologySpec::torus(&[5]).without_cables(&[(0, 1)]);
        assert_eq!(ring_of_ranks(&Topology::new(spec).unwrap()), None);
        // Fifteen ranks of two colours, neighbours of different colour.
        let spec = TopologySpec::torus(&[4, 4]).without_ranks(&[0]);
        assert_eq!(ring_of_ranks(&Topology::new(spec).unwrap()), None);
    }
}
