//! Partitions grown from single ranks, for groups: blocks are merged where that costs the bound least.
//!
//! Where groups share ranks and links unevenly, the tight partition follows the links that no tree can spare. Single
//! ranks are merged two by two, always the pair that leaves the best bound, even at a loss, down to two blocks; of all
//! partitions on the way the best is kept, then improved by moving single ranks to other blocks.

use std::collections::BTreeSet;

use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// Ranks of the largest machine to try, and of the largest on which single ranks move.
const LARGEST: usize = 512;
const LARGEST_TO_IMPROVE: usize = 64;

/// What must cross between blocks, and over what capacity; the second is not 0.
#[derive(Clone, Copy)]
struct Figures {
    vectors: u64,
    capacity: u64,
}

impl Figures {
    fn exceeds(self, other: Self) -> bool {
        u128::from(self.vectors) * u128::from(other.capacity) > u128::from(other.vectors) * u128::from(self.capacity)
    }
}

/// The number of each rank's block; `None` without groups, and on large machines.
pub(super) fn merged(problem: &Problem) -> Option<Vec<u32>> {
    let ranks = problem.topology().rank_count();
    let mut blocks = Blocks::new(problem).filter(|_| ranks <= LARGEST)?;
    let mut best = (blocks.figures, blocks.of_rank.clone());
    while let Some((one, other, figures)) = blocks.cheapest() {
        blocks.merge(one, other, figures);
        if figures.exceeds(best.0) {
            best = (figures, blocks.of_rank.clone());
        }
    }
    if ranks <= LARGEST_TO_IMPROVE {
        improve(problem, &mut best.1, best.0);
    }
    Some(best.1)
}

struct Blocks {
    of_rank: Vec<u32>,
    /// By block: the groups that it meets, as bits; empty for one that was merged into another.
    meets: Vec<Vec<u64>>,
    /// `[block * blocks + block]`, both ways.
    capacity: Vec<u64>,
    /// Pairs of blocks that a link joins.
    joined: Vec<(u32, u32)>,
    figures: Figures,
}

impl Blocks {
    /// Single ranks; `None` without groups or links.
    fn new(problem: &Problem) -> Option<Self> {
        let (topology, groups) = (problem.topology(), problem.groups()?);
        let ranks = topology.rank_count();
        let words = groups.members().len().div_ceil(64);
        let mut blocks = Self {
            of_rank: (0..ranks as u32).collect(),
            meets: vec![vec![0; words]; ranks],
            capacity: vec![0; ranks * ranks],
            joined: Vec::new(),
            figures: figures(problem, &(0..ranks as u32).collect::<Vec<_>>())?,
        };
        for rank in topology.live_ranks() {
            if let Some((group, _)) = groups.place(rank) {
                blocks.meets[rank.index()][group as usize / 64] |= 1 << (group % 64);
            }
        }
        for link in topology.live_links().map(|id| topology.link(id)) {
            let (one, other) = (link.from.0.min(link.to.0), link.from.0.max(link.to.0));
            blocks.capacity[one as usize * ranks + other as usize] += u64::from(link.capacity);
            blocks.joined.push((one, other));
        }
        blocks.joined.sort_unstable();
        blocks.joined.dedup();
        Some(blocks)
    }

    /// The pair of blocks whose merger leaves the best bound; `None` if none would be left.
    fn cheapest(&self) -> Option<(u32, u32, Figures)> {
        let mut best: Option<(u32, u32, Figures)> = None;
        for &(one, other) in &self.joined {
            let met = self.meets[one as usize].iter().zip(&self.meets[other as usize]);
            let both: u64 = met.map(|(one, other)| u64::from((one & other).count_ones())).sum();
            let room = self.capacity[one as usize * self.of_rank.len() + other as usize];
            let figures = Figures { vectors: self.figures.vectors - 2 * both, capacity: self.figures.capacity - room };
            let left = figures.capacity > 0 && figures.vectors > 0;
            if left && best.is_none_or(|(.., least)| figures.exceeds(least)) {
                best = Some((one, other, figures));
            }
        }
        best
    }

    fn merge(&mut self, one: u32, other: u32, figures: Figures) {
        let ranks = self.of_rank.len();
        self.figures = figures;
        self.of_rank.iter_mut().filter(|block| **block == other).for_each(|block| *block = one);
        let meets = std::mem::take(&mut self.meets[other as usize]);
        self.meets[one as usize].iter_mut().zip(meets).for_each(|(one, other)| *one |= other);
        let place = |a: u32, b: u32| a.min(b) as usize * ranks + a.max(b) as usize;
        for third in (0..ranks as u32).filter(|&third| third != one && third != other) {
            let moved = std::mem::take(&mut self.capacity[place(other, third)]);
            self.capacity[place(one, third)] += moved;
        }
        for pair in &mut self.joined {
            let [first, second] = [pair.0, pair.1].map(|block| if block == other { one } else { block });
            *pair = (first.min(second), first.max(second));
        }
        self.joined.retain(|(first, second)| first != second);
        self.joined.sort_unstable();
        self.joined.dedup();
    }
}

/// `None` if no link joins two blocks.
fn figures(problem: &Problem, block_of: &[u32]) -> Option<Figures> {
    let topology = problem.topology();
    let crosses = |from: RankId, to: RankId| block_of[from.index()] != block_of[to.index()];
    let links = topology.live_links().map(|id| topology.link(id)).filter(|link| crosses(link.from, link.to));
    let capacity = links.map(|link| u64::from(link.capacity)).sum();
    Some(Figures { vectors: vectors(problem, block_of), capacity }).filter(|_| capacity > 0)
}

/// Moves single ranks to the blocks of their neighbors as long as that makes the bound better.
fn improve(problem: &Problem, block_of: &mut [u32], mut best: Figures) {
    let topology = problem.topology();
    let mut better = true;
    while std::mem::take(&mut better) {
        for rank in topology.live_ranks() {
            for link in topology.links_from(rank) {
                let to = block_of[topology.link(link).to.index()];
                let from = std::mem::replace(&mut block_of[rank.index()], to);
                match figures(problem, block_of).filter(|&found| found.exceeds(best)) {
                    Some(found) => (best, better) = (found, true),
                    None => block_of[rank.index()] = from,
                }
            }
        }
    }
}

/// The least number of vectors that cross between blocks.
pub(super) fn vectors(problem: &Problem, block_of: &[u32]) -> u64 {
    let exchanged = |members: &mut dyn Iterator<Item = RankId>| {
        let live = members.filter(|&rank| problem.topology().is_alive(rank));
        let met: BTreeSet<u32> = live.map(|rank| block_of[rank.index()]).collect();
        2 * (met.len() as u64).saturating_sub(1)
    };
    match problem.groups() {
        None => exchanged(&mut problem.topology().live_ranks()),
        Some(groups) => groups.members().iter().map(|members| exchanged(&mut members.iter().copied())).sum(),
    }
}
