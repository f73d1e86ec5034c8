//! What slots hold: contributions of ranks to a chunk, each counted.

use collsynth_core::exact::narrow;
use std::collections::HashMap;

use collsynth_core::collective::{ChunkId, Combining};
use collsynth_core::topology::RankId;

/// What a slot holds. Only meaningful with the [`SlotValues`] it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum SlotValue {
    /// Nothing was ever written.
    Unset,
    /// The contribution of one rank to a chunk; if the chunk is only moved, the chunk.
    Own(ChunkId, RankId),
    /// A sum of contributions to a chunk.
    Sum(u32),
    /// Invalid; see [`SlotValues::fault`].
    Odd(u32),
}

/// An operation with an invalid result.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) struct BadSum {
    pub(in crate::audit) operation: usize,
    pub(in crate::audit) kind: FaultKind,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::audit) enum FaultKind {
    /// It added to, or from, a slot that was never written.
    Unset,
    /// It added values of different chunks.
    Mixed(ChunkId, ChunkId),
    /// It added values of a chunk that cannot be combined.
    Uncombinable(ChunkId),
}

/// What a sum with repeated contributions takes, and each of its counts.
const REPEATED: u64 = 160;
const COUNT: u64 = 18;

/// The sums made so far. A value never changes.
pub(in crate::audit) struct SlotValues {
    words: usize,
    combining: Combining,
    sums: Vec<ChunkId>,
    /// `words` for each sum: the ranks in it, once or more.
    bits: Vec<u64>,
    /// For sums that count contributions repeatedly: the first operation that did, and the counts.
    repeated: HashMap<u32, (usize, HashMap<RankId, u64>)>,
    faults: Vec<BadSum>,
    bytes: u64,
}

impl SlotValues {
    pub(in crate::audit) fn new(ranks: usize, combining: Combining) -> Self {
        Self {
            words: ranks.div_ceil(64),
            combining,
            sums: Vec::new(),
            bits: Vec::new(),
            repeated: HashMap::new(),
            faults: Vec::new(),
            bytes: 0,
        }
    }

    /// The memory that all values take, growing arrays counted twice. Never less than before.
    pub(in crate::audit) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The sum of two values. O(ranks / 64); O(ranks) if contributions repeat.
    pub(in crate::audit) fn add(&mut self, one: SlotValue, other: SlotValue, operation: usize) -> SlotValue {
        let (a, b) = match (self.chunk(one), self.chunk(other)) {
            (Some(a), Some(b)) => (a, b),
            _ if matches!(one, SlotValue::Odd(_)) => return one,
            _ if matches!(other, SlotValue::Odd(_)) => return other,
            _ => return self.odd(operation, FaultKind::Unset),
        };
        if a != b {
            return self.odd(operation, FaultKind::Mixed(a, b));
        }
        if self.combining == Combining::Never {
            return self.odd(operation, FaultKind::Uncombinable(a));
        }
        let id = narrow(self.sums.len());
        let mut twice = false;
        for word in 0..self.words {
            let (x, y) = (self.word(one, word), self.word(other, word));
            twice |= x & y != 0;
            self.bits.push(x | y);
        }
        self.sums.push(a);
        self.bytes += 2 * (size_of::<ChunkId>() + self.words * size_of::<u64>()) as u64;
        if self.combining == Combining::Sum && (twice || self.repeats(one).or(self.repeats(other)).is_some()) {
            self.count_repeated(id, one, other, operation);
        }
        SlotValue::Sum(id)
    }

    fn count_repeated(&mut self, id: u32, one: SlotValue, other: SlotValue, operation: usize) {
        let first = self.repeats(one).or(self.repeats(other)).map_or(operation, |(first, _)| first);
        let ranks = (0..self.words * 64).map(|rank| RankId(narrow(rank)));
        let counts = ranks.map(|rank| (rank, self.count(one, rank).saturating_add(self.count(other, rank))));
        let counts: HashMap<RankId, u64> = counts.filter(|&(_, count)| count > 1).collect();
        self.bytes += REPEATED + counts.capacity() as u64 * COUNT;
        self.repeated.insert(id, (first, counts));
    }

    /// How often a value counts a rank's contribution.
    pub(in crate::audit) fn count(&self, value: SlotValue, rank: RankId) -> u64 {
        let more = self.repeats(value).and_then(|(_, counts)| counts.get(&rank).copied());
        more.unwrap_or_else(|| self.word(value, rank.index() / 64) >> (rank.index() % 64) & 1)
    }

    /// The operation that first counted a contribution repeatedly, and the counts above 1.
    pub(in crate::audit) fn repeats(&self, value: SlotValue) -> Option<(usize, &HashMap<RankId, u64>)> {
        match value {
            SlotValue::Sum(id) => self.repeated.get(&id).map(|(operation, counts)| (*operation, counts)),
            _ => None,
        }
    }

    /// The number of ranks whose contributions are in a value.
    pub(in crate::audit) fn rank_count(&self, value: SlotValue) -> u32 {
        (0..self.words).map(|word| self.word(value, word).count_ones()).sum()
    }

    /// The chunk of a value.
    pub(in crate::audit) fn chunk(&self, value: SlotValue) -> Option<ChunkId> {
        match value {
            SlotValue::Own(chunk, _) => Some(chunk),
            SlotValue::Sum(id) => Some(self.sums[id as usize]),
            SlotValue::Unset | SlotValue::Odd(_) => None,
        }
    }

    /// Why a value is invalid.
    pub(in crate::audit) fn fault(&self, value: SlotValue) -> Option<BadSum> {
        match value {
            SlotValue::Odd(id) => Some(self.faults[id as usize]),
            _ => None,
        }
    }

    fn odd(&mut self, operation: usize, kind: FaultKind) -> SlotValue {
        self.faults.push(BadSum { operation, kind });
        self.bytes += 2 * size_of::<BadSum>() as u64;
        SlotValue::Odd(narrow(self.faults.len()) - 1)
    }

    fn word(&self, value: SlotValue, word: usize) -> u64 {
        match value {
            SlotValue::Own(_, rank) if rank.index() / 64 == word => 1 << (rank.index() % 64),
            SlotValue::Sum(id) => self.bits[id as usize * self.words + word],
            _ => 0,
        }
    }
}
