//! The number of a chunk.

crate::topology::id! {
    /// The number of a chunk, `0..chunk_count`.
    ChunkId
}
