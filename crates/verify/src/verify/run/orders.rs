//! The orders in which contributions are added.
//!
//! Floating-point addition commutes but is not associative: `a+b` and `b+a` are the same bits, `(a+b)+c` and `a+(b+c)`
//! need not be. So an order is an unordered binary tree whose leaves are ranks, and two sums of the same contributions
//! are bitwise the same for all inputs if and only if they have the same tree. Every tree of a chunk is stored once and
//! numbered, so equal numbers mean equal trees.
//!
//! From chunk to chunk, the trees are forgotten: of those that ranks end with, a hash of 128 bits remains, with random
//! keys. No verdict depends on it, only the number of different orders that reports show.

use crate::verify::facts::report::Sums;
use collsynth_core::exact::narrow;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use collsynth_core::topology::RankId;

/// A tree: a single rank, or two trees added. Only meaningful for the current chunk of the [`Orders`] it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::verify) struct OrderId(u32);

/// The orders of the current chunk, and what is known of all chunks before.
#[derive(Default)]
pub(in crate::verify) struct Orders {
    ranks: u32,
    /// The hashes of single ranks.
    leaves: Vec<Hashed>,
    /// Trees with more than one leaf; the first has the number `ranks`.
    trees: Vec<Tree>,
    known: HashMap<[OrderId; 2], OrderId>,
    /// `None` if there is to be no summary.
    keys: Option<[RandomState; 2]>,
    /// The hashes of the orders that ranks end with.
    finals: HashSet<Hashed>,
    chunks: u32,
    alike: u32,
    depth: u32,
    first: Option<String>,
}

type Hashed = [u64; 2];

struct Tree {
    /// The one with more leaves first.
    branches: [OrderId; 2],
    leaves: u32,
    depth: u32,
    hashed: Hashed,
}

impl Orders {
    pub(in crate::verify) fn new(ranks: usize) -> Self {
        let mut orders = Self { keys: Some(Default::default()), ..Self::unreported(ranks) };
        orders.leaves = (0..orders.ranks).map(|rank| orders.hash(OrderId(rank))).collect();
        orders
    }

    /// Orders that are only compared, within a chunk.
    pub(in crate::verify) fn unreported(ranks: usize) -> Self {
        Self { ranks: narrow(ranks), leaves: vec![Hashed::default(); ranks], ..Self::default() }
    }

    /// Forgets the trees of a chunk.
    pub(in crate::verify) fn clear(&mut self) {
        self.trees.clear();
        self.known.clear();
    }

    /// The contribution of a rank alone.
    pub(in crate::verify) fn leaf(&self, rank: RankId) -> OrderId {
        OrderId(rank.0)
    }

    /// The order of the sum of two values.
    pub(in crate::verify) fn add(&mut self, a: OrderId, b: OrderId) -> OrderId {
        let (leaves_a, depth_a) = self.size(a);
        let (leaves_b, depth_b) = self.size(b);
        let a_first = (leaves_b, a) < (leaves_a, b);
        let branches = if a_first { [a, b] } else { [b, a] };
        let next = OrderId(self.ranks + narrow(self.trees.len()));
        let id = *self.known.entry(branches).or_insert(next);
        if id == next {
            let mut of_branches = branches.map(|branch| self.hashed(branch));
            of_branches.sort_unstable();
            let hashed = self.hash(of_branches);
            // A barrier joins what it has joined before and doubles the leaves step by step. They decide nothing but
            // which branch is the first in words, and no order of a barrier is put into words.
            let leaves = leaves_a.saturating_add(leaves_b);
            self.trees.push(Tree { branches, leaves, depth: depth_a.max(depth_b) + 1, hashed });
        }
        id
    }

    /// Records the orders in which the ranks that end with a chunk have added it.
    pub(in crate::verify) fn finish(&mut self, at_ranks: &[OrderId]) {
        let Some(&first) = at_ranks.first().filter(|_| self.keys.is_some()) else { return };
        self.chunks += 1;
        self.alike += u32::from(at_ranks.iter().all(|&order| order == first));
        if self.first.is_none() {
            self.first = Some(self.words(first));
        }
        let mut last = None;
        for &order in at_ranks.iter().filter(|&&order| last.replace(order) != Some(order)) {
            self.depth = self.depth.max(self.size(order).1);
            self.finals.insert(self.hashed(order));
        }
    }

    /// The summary of all chunks; `None` if nothing was added.
    pub(in crate::verify) fn sums(&self) -> Option<Sums> {
        let Self { chunks, alike, depth, .. } = *self;
        let first = self.first.clone().filter(|_| depth > 0)?;
        Some(Sums { chunks, alike, orders: narrow(self.finals.len()), depth, first })
    }

    fn hashed(&self, order: OrderId) -> Hashed {
        self.tree(order).map_or_else(|| self.leaves[order.0 as usize], |tree| tree.hashed)
    }

    fn hash(&self, what: impl Hash + Copy) -> Hashed {
        self.keys.as_ref().map_or_else(Hashed::default, |keys| keys.each_ref().map(|key| key.hash_one(what)))
    }

    /// The number of leaves and the depth.
    fn size(&self, order: OrderId) -> (u32, u32) {
        self.tree(order).map_or((1, 0), |tree| (tree.leaves, tree.depth))
    }

    fn tree(&self, order: OrderId) -> Option<&Tree> {
        order.0.checked_sub(self.ranks).map(|index| &self.trees[index as usize])
    }

    /// `0+1+(2+3)`. Recurses only into the branch with fewer leaves, so never deeply.
    fn words(&self, order: OrderId) -> String {
        let mut spine = Vec::new();
        let mut at = order;
        while let Some(tree) = self.tree(at) {
            spine.push(tree.branches[1]);
            at = tree.branches[0];
        }
        let mut words = at.0.to_string();
        for added in spine.into_iter().rev() {
            let inner = self.words(added);
            words += &if self.tree(added).is_some() { format!("+({inner})") } else { format!("+{inner}") };
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_trees_have_equal_numbers() {
        let mut orders = Orders::new(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(OrderId);
        let (ab, cd) = (orders.add(a, b), orders.add(c, d));
        assert_eq!(orders.add(b, a), ab);
        let (pairs, same_pairs) = (orders.add(ab, cd), orders.add(cd, ab));
        assert_eq!(pairs, same_pairs);
        let abc = orders.add(c, ab);
        let chain = orders.add(abc, d);
        assert_ne!(chain, pairs);
        assert_eq!([orders.words(pairs), orders.words(chain)], ["0+1+(2+3)", "0+1+2+3"]);
        assert_eq!(orders.sums(), None);
        orders.finish(&[chain, chain]);
        orders.finish(&[pairs, chain]);
        // Another chunk has an order that is known, and one that is not.
        orders.clear();
        let cd = orders.add(d, c);
        let (ab, cda) = (orders.add(a, b), orders.add(cd, a));
        let (pairs, chain) = (orders.add(cd, ab), orders.add(cda, b));
        orders.finish(&[pairs, chain]);
        let first = "0+1+2+3".to_owned();
        assert_eq!(orders.sums(), Some(Sums { chunks: 3, alike: 1, orders: 3, depth: 3, first }));
    }
}
