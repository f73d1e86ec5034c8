//! Values of a reduced chunk: the contributions in them, and the order in which they were added.

use super::orders::{OrderId, Orders};
use collsynth_core::exact::narrow;
use collsynth_core::topology::RankId;

/// A value: the contribution of one rank, or the sum of two values. Only meaningful with the [`Values`] it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) struct ValueId(u32);

/// The values made so far for one chunk. A value never changes, so ranks that hold equal values may share one. No value
/// holds a contribution twice: that is a violation and makes no value. So a set of ranks, one bit each, suffices.
pub(in crate::verify) struct Values {
    ranks: usize,
    words: usize,
    sums: Vec<Sum>,
    /// `words` for each sum.
    bits: Vec<u64>,
    orders: Orders,
}

struct Sum {
    count: u32,
    order: OrderId,
}

impl Values {
    pub(in crate::verify) fn new(ranks: usize) -> Self {
        Self::with(ranks, Orders::new(ranks))
    }

    /// Without a summary of the orders of all chunks.
    pub(in crate::verify) fn unreported(ranks: usize) -> Self {
        Self::with(ranks, Orders::unreported(ranks))
    }

    fn with(ranks: usize, orders: Orders) -> Self {
        Self { ranks, words: ranks.div_ceil(64), sums: Vec::new(), bits: Vec::new(), orders }
    }

    /// What a sum takes.
    pub(in crate::verify) fn sum_bytes(ranks: usize) -> u64 {
        (size_of::<Sum>() + ranks.div_ceil(64) * size_of::<u64>()) as u64
    }

    /// Clears all sums of a chunk.
    pub(in crate::verify) fn clear(&mut self) {
        self.orders.clear();
        self.sums.clear();
        self.bits.clear();
    }

    /// The contribution of a rank alone.
    pub(in crate::verify) fn contribution(&self, rank: RankId) -> ValueId {
        ValueId(rank.0)
    }

    /// The number of contributions in a value.
    pub(in crate::verify) fn count(&self, value: ValueId) -> u32 {
        self.sum(value).map_or(1, |sum| sum.count)
    }

    pub(in crate::verify) fn order(&self, value: ValueId) -> OrderId {
        self.sum(value).map_or_else(|| self.orders.leaf(RankId(value.0)), |sum| sum.order)
    }

    pub(in crate::verify) fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }

    /// True if the two are the same contributions added in the same order.
    pub(in crate::verify) fn same(&self, a: ValueId, b: ValueId) -> bool {
        a == b || self.order(a) == self.order(b)
    }

    /// Is this rank's contribution in the value?
    pub(in crate::verify) fn holds(&self, value: ValueId, rank: RankId) -> bool {
        match self.set(value) {
            Set::Alone(one) => one == rank,
            Set::Bits(bits) => bits[rank.index() / 64] >> (rank.index() % 64) & 1 == 1,
        }
    }

    /// The ranks whose contributions are in both, ascending.
    pub(in crate::verify) fn shared(&self, a: ValueId, b: ValueId) -> impl Iterator<Item = RankId> + '_ {
        (0..narrow(self.ranks)).map(RankId).filter(move |&rank| self.holds(a, rank) && self.holds(b, rank))
    }

    /// True if some rank's contribution is in both. O(ranks / 64).
    pub(in crate::verify) fn overlap(&self, a: ValueId, b: ValueId) -> bool {
        match (self.set(a), self.set(b)) {
            (Set::Bits(a), Set::Bits(b)) => a.iter().zip(b).any(|(a, b)| a & b != 0),
            (Set::Alone(rank), _) => self.holds(b, rank),
            (_, Set::Alone(rank)) => self.holds(a, rank),
        }
    }

    /// True if all contributions of `part` are in `whole`. O(ranks / 64).
    pub(in crate::verify) fn includes(&self, whole: ValueId, part: ValueId) -> bool {
        match (self.set(whole), self.set(part)) {
            (Set::Bits(whole), Set::Bits(part)) => whole.iter().zip(part).all(|(whole, part)| part & !whole == 0),
            (_, Set::Alone(rank)) => self.holds(whole, rank),
            (Set::Alone(_), Set::Bits(_)) => self.count(part) <= 1 && self.overlap(whole, part),
        }
    }

    /// The union of both. O(ranks / 64).
    pub(in crate::verify) fn join(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let start = self.bits.len();
        self.bits.resize(start + self.words, 0);
        let (made, union) = self.bits.split_at_mut(start);
        for value in [a, b] {
            match value.0.checked_sub(narrow(self.ranks)) {
                Some(index) => {
                    let bits = &made[index as usize * self.words..][..self.words];
                    union.iter_mut().zip(bits).for_each(|(union, bits)| *union |= bits);
                }
                None => union[value.0 as usize / 64] |= 1 << (value.0 % 64),
            }
        }
        // Of disjoint values, the counts add up to the ranks at most.
        let count = match self.overlap(a, b) {
            true => self.bits[start..].iter().map(|word| word.count_ones()).sum(),
            false => self.count(a) + self.count(b),
        };
        let order = self.orders.add(self.order(a), self.order(b));
        self.sums.push(Sum { count, order });
        ValueId(narrow(self.ranks + self.sums.len() - 1))
    }

    fn sum(&self, value: ValueId) -> Option<&Sum> {
        (value.0 as usize).checked_sub(self.ranks).map(|index| &self.sums[index])
    }

    fn set(&self, value: ValueId) -> Set<'_> {
        match (value.0 as usize).checked_sub(self.ranks) {
            Some(index) => Set::Bits(&self.bits[index * self.words..][..self.words]),
            None => Set::Alone(RankId(value.0)),
        }
    }
}

/// The contributions in a value.
enum Set<'a> {
    Alone(RankId),
    Bits(&'a [u64]),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    proptest! {
        /// Whatever values are joined, alike, disjoint or overlapping, they are sets of ranks.
        #[test]
        fn values_are_sets(ranks in 1..140_u32, pairs in prop::collection::vec(any::<[Index; 2]>(), 1..100)) {
            let mut values = Values::new(ranks as usize);
            let mut sets: Vec<(ValueId, BTreeSet<u32>)> =
                (0..ranks).map(|rank| (values.contribution(RankId(rank)), BTreeSet::from([rank]))).collect();
            for pair in pairs {
                let [(a, in_a), (b, in_b)] = pair.map(|at| at.get(&sets).clone());
                assert_eq!(values.overlap(a, b), !in_a.is_disjoint(&in_b));
                assert_eq!(values.includes(a, b), in_a.is_superset(&in_b));
                let shared: Vec<u32> = values.shared(a, b).map(|rank| rank.0).collect();
                assert_eq!(shared, in_a.intersection(&in_b).copied().collect::<Vec<u32>>());
                let (joined, union) = (values.join(a, b), &in_a | &in_b);
                assert_eq!(values.count(joined) as usize, union.len());
                assert!((0..ranks).all(|rank| values.holds(joined, RankId(rank)) == union.contains(&rank)));
                sets.push((joined, union));
            }
        }
    }
}
