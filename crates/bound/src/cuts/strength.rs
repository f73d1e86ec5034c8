//! The strength of a network: the partition of its live ranks that is the hardest to join.
//!
//! # Idea
//!
//! Of all partitions the least `(capacity between blocks) / (blocks - 1)` is wanted. Dinkelbach's iteration starts from
//! single ranks and a ratio, theirs, and asks for sets of ranks that are denser inside than this ratio:
//!
//! ```text
//!   a --- b            ratio 5 / 4: 5 cables, 5 ranks            abc --- d --- e
//!    \   /             {a, b, c}: 3 > 5 / 4 * (3 - 1)     ->     ratio 2 / 2
//!      c --- d --- e
//! ```
//!
//! Merging such a set lowers the ratio. The merged sets are the ranks of a smaller network, and the next round starts.
//! If there is no denser set, no partition is better: one of its blocks would be denser.
//!
//! Ranks enter one after another. The capacity of every pair of ranks is shared among its two ends, each of which takes
//! at most the ratio, but the newest nothing: with `capacity inside <= ratio * (ranks - 1)` for all sets that hold the
//! newest, and only then, there are such shares (Hakimi). A rank with too much hands a share to the other end of a
//! pair, which hands on one of its own, to one with room. If nobody reached has room, all reached are a denser set. So
//! each minimum cut of the greedy algorithm (Barahona) starts from the flow of the last, and touches the ranks nearby.
//!
//! # Applies
//!
//! Any network, with capacities; of one-way links, both directions together count. Exact: the best partition of all for
//! an all-reduce among all live ranks, unless hundreds of ranks are nearly all joined to each other (`WORK`).
//!
//! # Complexity
//!
//! At most as many rounds as ranks, in practice a few. A round is one maximum flow, by shortest augmenting paths, that
//! grows with the network: on tori nearly all paths are short.
//!
//! # Reference
//!
//! Cunningham, "Optimal attack and reinforcement of a network", J. ACM 1985; Barahona, "Separating from the dominant of
//! the spanning tree polytope", Operations Research Letters 12, 1992; Hakimi, "On the degrees of the vertices of a
//! directed graph", 1965; Lee and Streinu, "Pebble game algorithms and sparse graphs", 2008, for the shares.

use std::collections::{BTreeMap, VecDeque};

use collsynth_core::problem::Problem;
use petgraph::unionfind::UnionFind;

/// Pairs that all searches together look at: some tenths of a second. Tori of 8960 ranks take less.
const WORK: usize = 40_000_000;

/// The number of each rank's block, in a partition with the least ratio; single ranks if those have it. On networks of
/// hundreds of ranks that are nearly all joined, where the work would take seconds, a partition on the way.
pub(super) fn strongest(problem: &Problem) -> Vec<u32> {
    let topology = problem.topology();
    let mut block_of: Vec<u32> = (0..topology.rank_count() as u32).collect();
    let mut blocks = topology.live_ranks().count();
    let mut work_left = WORK;
    loop {
        let mut pairs: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for link in topology.live_links().map(|id| topology.link(id)) {
            let [one, other] = [link.from, link.to].map(|rank| block_of[rank.index()]);
            if one != other {
                *pairs.entry((one.min(other), one.max(other))).or_default() += u64::from(link.capacity);
            }
        }
        let mut shares = Shares::new(topology.rank_count(), pairs, blocks as u128 - 1, work_left);
        let mergers = shares.merge_denser();
        work_left = shares.work_left;
        if mergers == 0 {
            return block_of;
        }
        blocks -= mergers;
        block_of.iter_mut().for_each(|block| *block = shares.merged.find(*block));
    }
}

/// The capacities of pairs of blocks, times the number of blocks less one, shared among the two ends.
struct Shares {
    ends: Vec<[u32; 2]>,
    /// To be shared, by pair.
    whole: Vec<u128>,
    /// By pair and end; nothing before both ends have entered.
    share: Vec<[u128; 2]>,
    /// By block: its pairs.
    pairs_of: Vec<Vec<u32>>,
    /// By block: the sum of its shares, and the most it may be.
    load: Vec<u128>,
    most: u128,
    merged: UnionFind<u32>,
    /// By block: the last search that reached it, and over which pair.
    reached: Vec<(u32, u32)>,
    searches: u32,
    /// Pairs that may still be looked at.
    work_left: usize,
}

impl Shares {
    fn new(ranks: usize, pairs: BTreeMap<(u32, u32), u64>, scale: u128, work_left: usize) -> Self {
        let mut pairs_of = vec![Vec::new(); ranks];
        for (&(one, other), pair) in pairs.keys().zip(0..) {
            pairs_of[one as usize].push(pair);
            pairs_of[other as usize].push(pair);
        }
        Self {
            ends: pairs.keys().map(|&(one, other)| [one, other]).collect(),
            whole: pairs.values().map(|&capacity| scale * u128::from(capacity)).collect(),
            share: vec![[0; 2]; pairs.len()],
            pairs_of,
            load: vec![0; ranks],
            most: pairs.values().map(|&capacity| u128::from(capacity)).sum(),
            merged: UnionFind::new(ranks),
            reached: vec![(0, 0); ranks],
            searches: 0,
            work_left,
        }
    }

    /// Lets the blocks enter and merges the sets denser than the ratio; returns by how many there are fewer.
    fn merge_denser(&mut self) -> usize {
        let mut mergers = 0;
        for entering in 0..self.pairs_of.len() as u32 {
            // The newest takes nothing: what it shares with those before it is theirs.
            let mut newest = entering;
            let mut loaded = Vec::new();
            for pair in self.pairs_of[entering as usize].clone() {
                let ends = self.ends[pair as usize];
                let end = usize::from(ends[0] == entering);
                if ends[end] < entering {
                    let before = self.merged.find_mut(ends[end]);
                    self.share[pair as usize][end] = self.whole[pair as usize];
                    self.load[before as usize] += self.whole[pair as usize];
                    loaded.push(before);
                }
            }
            for block in loaded {
                while self.merged.find(block) == block && block != newest && self.load[block as usize] > self.most {
                    if self.work_left == 0 {
                        return mergers;
                    }
                    if let Err(denser) = self.hand_on(block, newest) {
                        mergers += denser.len() - 1;
                        newest = self.merge(&denser);
                    }
                }
            }
        }
        mergers
    }

    /// Takes some of a block's load to the nearest with room; the blocks reached if none of them has.
    fn hand_on(&mut self, from: u32, newest: u32) -> Result<(), Vec<u32>> {
        self.searches += 1;
        self.reached[from as usize] = (self.searches, 0);
        let mut all = vec![from];
        let mut queue = VecDeque::from([from]);
        while let Some(block) = queue.pop_front() {
            if block != newest && self.load[block as usize] < self.most {
                self.shift(from, block);
                return Ok(());
            }
            self.work_left = self.work_left.saturating_sub(self.pairs_of[block as usize].len());
            for &pair in &self.pairs_of[block as usize] {
                let (_, own, other) = self.across(pair, block);
                if own > 0 && self.reached[other as usize].0 != self.searches {
                    self.reached[other as usize] = (self.searches, pair);
                    all.push(other);
                    queue.push_back(other);
                }
            }
        }
        Err(all)
    }

    /// The end of a pair at a block, the share there, and the block at the other end.
    fn across(&self, pair: u32, block: u32) -> (usize, u128, u32) {
        let [one, other] = self.ends[pair as usize].map(|end| self.merged.find(end));
        let end = usize::from(one != block);
        (end, self.share[pair as usize][end], if end == 0 { other } else { one })
    }

    /// Moves what the way that the search took allows.
    fn shift(&mut self, from: u32, to: u32) {
        let mut amount = (self.load[from as usize] - self.most).min(self.most - self.load[to as usize]);
        let mut hops = Vec::new();
        let mut block = to;
        while block != from {
            let pair = self.reached[block as usize].1;
            let (end, _, before) = self.across(pair, block);
            amount = amount.min(self.share[pair as usize][1 - end]);
            hops.push((pair as usize, end));
            block = before;
        }
        for (pair, end) in hops {
            self.share[pair][end] += amount;
            self.share[pair][1 - end] -= amount;
        }
        self.load[from as usize] -= amount;
        self.load[to as usize] += amount;
    }

    /// Makes one block of a set that a search could not leave: all shares on its border are outside.
    fn merge(&mut self, blocks: &[u32]) -> u32 {
        blocks.iter().for_each(|&block| {
            self.merged.union(blocks[0], block);
        });
        let one = self.merged.find_mut(blocks[0]);
        let mut pairs: Vec<u32> =
            blocks.iter().flat_map(|&block| std::mem::take(&mut self.pairs_of[block as usize])).collect();
        pairs.retain(|&pair| {
            let [one, other] = self.ends[pair as usize];
            self.merged.find(one) != self.merged.find(other)
        });
        self.pairs_of[one as usize] = pairs;
        self.load[one as usize] = 0;
        one
    }
}
