//! Partitions of the ranks that are hard to join: the bound of all-reduce.
//!
//! However the sums are formed, all but one of `b` blocks must give their share away and get the result back: `2 (b -
//! 1)` vectors cross between blocks. The tight partition of an intact torus is into single ranks; around failures
//! `strength` finds it, for groups `merging` a good one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use collsynth_core::certificate::Rational;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, dim_name};
use itertools::Itertools;

use super::merging::vectors;

/// A partition and the traffic between its blocks.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The blocks as part of a sentence: "the live ranks one by one".
    pub words: String,
    pub blocks: Vec<Vec<RankId>>,
    pub links: u64,
    /// Their capacity; not 0.
    pub capacity: u64,
    /// The least number of vectors that cross between blocks.
    vectors: u64,
}

impl Partition {
    /// The least number of vectors that cross between blocks.
    pub fn vectors(&self) -> u64 {
        self.vectors
    }

    /// The volume below which they do not fit, in vectors.
    pub fn volume(&self) -> Rational {
        Rational::new(self.vectors().into(), self.capacity.into())
    }
}

/// The partition into single ranks, the best slabs of every dimension and those found by a search that are better than
/// all before them: without groups the best of all.
pub fn best_partitions(problem: &Problem) -> Vec<Partition> {
    let topology = problem.topology();
    let dims = topology.as_torus().map_or(0, |torus| torus.extents.len());
    let families = std::iter::once(singly(problem)).chain((0..dims).map(|dim| slabs(problem, dim)));
    let mut found: Vec<Partition> = families.filter_map(|family| measure(problem, family)).collect();
    let columns = columns(problem).into_iter().filter_map(|family| measure(problem, family));
    for columns in columns.sorted_by_key(|columns| Reverse(columns.volume())).take(1) {
        found.extend(Some(columns).filter(|best| found.iter().all(|simpler| best.volume() > simpler.volume())));
    }
    let searched = super::merging::merged(problem).into_iter().chain([super::strength::strongest(problem)]);
    for best in searched.filter_map(|block_of| measure(problem, in_blocks(problem, block_of))) {
        found.extend(Some(best).filter(|best| found.iter().all(|simpler| best.volume() > simpler.volume())));
    }
    found
}

/// Ranks listed one by one before they are only counted.
const LISTED: usize = 4;

/// A description, and the number of each rank's block.
type Family = (String, Vec<u32>);

fn singly(problem: &Problem) -> Family {
    ("the live ranks one by one".to_owned(), (0..problem.topology().rank_count() as u32).collect())
}

fn in_blocks(problem: &Problem, block_of: Vec<u32>) -> Family {
    let topology = problem.topology();
    let mut members: BTreeMap<u32, Vec<RankId>> = BTreeMap::new();
    topology.live_ranks().for_each(|rank| members.entry(block_of[rank.index()]).or_default().push(rank));
    let (single, larger): (Vec<_>, Vec<_>) = members.values().partition(|ranks| ranks.len() == 1);
    let labels: Vec<String> = single.iter().take(LISTED).map(|ranks| topology.rank_label(ranks[0])).collect();
    let words = match (single.len(), larger.len()) {
        (1, 1) => format!("rank {} and the rest", labels[0]),
        (2..=LISTED, 1) => format!("the ranks {} one by one and the rest", labels.join(", ")),
        (count, 1) if count > 0 => format!("{count} ranks one by one and the rest"),
        (alone, larger) => format!("{} blocks of ranks", alone + larger),
    };
    (words, block_of)
}

/// In groups: the ranks at the same position in some of the dimensions, for every choice of dimensions. Where groups
/// span these dimensions, the links in others join ranks that are alike to all groups.
fn columns(problem: &Problem) -> Vec<Family> {
    let topology = problem.topology();
    let Some(torus) = topology.as_torus().filter(|torus| problem.groups().is_some() && torus.extents.len() <= 6) else {
        return Vec::new();
    };
    let family = |chosen: u32| {
        let dims: Vec<usize> = (0..torus.extents.len()).filter(|dim| chosen >> dim & 1 == 1).collect();
        let block = |rank: RankId| dims.iter().map(|&dim| torus.position(rank, dim) * torus.stride(dim)).sum();
        let names: Vec<String> = dims.iter().map(|&dim| dim_name(dim as u8)).collect();
        let words = format!("the positions in {} one by one", names.join(" and "));
        (words, (0..topology.rank_count() as u32).map(|rank| block(RankId(rank))).collect())
    };
    (1..(1_u32 << torus.extents.len()) - 1).map(family).collect()
}

/// Cuts a dimension at its weakest boundaries, as many as make the bound best. Boundary `b` is behind position `b`; the
/// one behind the last position of a mesh has no links and is cut first.
fn slabs(problem: &Problem, dim: usize) -> Family {
    let topology = problem.topology();
    let extent = topology.as_torus().map_or(1, |torus| torus.extents[dim]) as usize;
    let position = |rank: RankId| topology.as_torus().map_or(0, |torus| torus.position(rank, dim) as usize);
    let mut capacity = vec![0_u64; extent];
    for link in topology.live_links().map(|id| topology.link(id)) {
        if let Some(direction) = link.direction.filter(|direction| usize::from(direction.dim) == dim) {
            let low = if direction.positive { link.from } else { link.to };
            capacity[position(low)] += u64::from(link.capacity);
        }
    }
    let mut weakest: Vec<usize> = (0..extent).collect();
    weakest.sort_by_key(|&boundary| capacity[boundary]);
    // Boundaries cut, and their capacity.
    let (mut best, mut sum) = ((1, 1), 0);
    for (count, &boundary) in weakest.iter().enumerate() {
        sum += capacity[boundary];
        if count > 0 && sum > 0 && count as u128 * u128::from(best.1) > (best.0 - 1) as u128 * u128::from(sum) {
            best = (count + 1, sum);
        }
    }
    let mut cut = vec![false; extent];
    weakest.iter().take(best.0).for_each(|&boundary| cut[boundary] = true);
    // The slab of a position: the number of boundaries cut before it, modulo the slabs.
    let mut slab_at = Vec::with_capacity(extent);
    let mut slab = 0;
    for &behind in &cut {
        slab_at.push(slab % best.0 as u32);
        slab += u32::from(behind);
    }
    let block_of = (0..topology.rank_count() as u32).map(|rank| slab_at[position(RankId(rank))]).collect();
    (format!("{} slabs across {}", best.0, dim_name(dim as u8)), block_of)
}

/// Collects the blocks and counts the links between them; `None` for fewer than two blocks.
fn measure(problem: &Problem, (words, block_of): Family) -> Option<Partition> {
    let topology = problem.topology();
    let mut members: Vec<(u32, RankId)> = topology.live_ranks().map(|rank| (block_of[rank.index()], rank)).collect();
    members.sort_unstable();
    let mut blocks: Vec<Vec<RankId>> =
        members.chunk_by(|a, b| a.0 == b.0).map(|block| block.iter().map(|&(_, rank)| rank).collect()).collect();
    blocks.sort_unstable();
    let (mut capacity, mut links) = (0, 0);
    for link in topology.live_links().map(|id| topology.link(id)) {
        if block_of[link.from.index()] != block_of[link.to.index()] {
            capacity += u64::from(link.capacity);
            links += 1;
        }
    }
    let vectors = vectors(problem, &block_of);
    let needed = blocks.len() > 1 && capacity > 0 && vectors > 0;
    needed.then_some(Partition { words, blocks, links, capacity, vectors })
}
