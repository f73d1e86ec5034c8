//! Sets of chunks.

use super::ChunkId;
use crate::exact::narrow;

/// A set of chunks, a bit for each.
#[derive(Clone, Debug, Default)]
pub struct ChunkSet(Vec<u64>);

impl ChunkSet {
    /// An empty set of chunks below this number.
    pub fn new(chunks: usize) -> Self {
        Self(vec![0; chunks.div_ceil(64)])
    }

    /// Adds a chunk; false if it was there.
    ///
    /// # Panics
    ///
    /// If the chunk is out of range.
    pub fn insert(&mut self, chunk: ChunkId) -> bool {
        let (word, bit) = (&mut self.0[chunk.index() / 64], 1 << (chunk.0 % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Is the chunk there? Not if it is out of range.
    pub fn holds(&self, chunk: ChunkId) -> bool {
        self.0.get(chunk.index() / 64).is_some_and(|word| word >> (chunk.0 % 64) & 1 == 1)
    }

    /// The number of chunks.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The chunks, ascending.
    pub fn iter(&self) -> impl Iterator<Item = ChunkId> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| ChunkId(narrow(index) * 64 + bit))
        })
    }
}
