//! The number of a chunk.

use std::fmt;

/// The number of a chunk, `0..chunk_count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId(pub u32);

impl ChunkId {
    /// The chunk as an index into an array with one entry per chunk.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
