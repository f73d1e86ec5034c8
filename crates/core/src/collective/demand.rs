//! How many chunks each rank has for every rank.

use super::ChunkId;
use crate::exact::narrow;
use crate::topology::RankId;

/// Chunk counts per pair of ranks, with the id at which each pair's chunks begin. By default, of no ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    ranks: u32,
    /// `ranks * ranks + 1` entries; the chunks of (origin, dest) are `start[origin * ranks + dest]..` the next entry.
    start: Vec<u32>,
}

impl Demand {
    /// Chunk counts in row-major order, `counts[origin * ranks + dest]`.
    ///
    /// # Errors
    ///
    /// `None` if there are not `ranks * ranks` counts or their sum exceeds `u32::MAX`.
    pub fn new(ranks: u32, counts: &[u32]) -> Option<Self> {
        if counts.len() as u64 != u64::from(ranks) * u64::from(ranks) {
            return None;
        }
        let mut start = Vec::with_capacity(counts.len() + 1);
        start.push(0_u32);
        for &count in counts {
            start.push(start.last()?.checked_add(count)?);
        }
        Some(Self { ranks, start })
    }

    /// The number of ranks on each side of the matrix.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The chunks that go from one rank to another.
    ///
    /// # Panics
    ///
    /// If a rank is out of range.
    pub fn chunks(&self, origin: RankId, dest: RankId) -> std::ops::Range<u32> {
        assert!(dest.0 < self.ranks, "rank {dest} is out of range");
        let pair = origin.index() * self.ranks as usize + dest.index();
        self.start[pair]..self.start[pair + 1]
    }

    /// The pair of ranks a chunk belongs to. O(log N).
    pub(crate) fn pair(&self, chunk: ChunkId) -> (RankId, RankId) {
        let pair = narrow(self.start.partition_point(|&start| start <= chunk.0) - 1);
        (RankId(pair / self.ranks), RankId(pair % self.ranks))
    }

    /// All counts in row-major order.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.start.windows(2).map(|pair| pair[1] - pair[0])
    }

    pub(super) fn total(&self) -> u32 {
        self.start.last().copied().unwrap_or(0)
    }
}
