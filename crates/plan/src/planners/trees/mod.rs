//! Planners of chunks that each spread, or are added up, along a tree.

pub mod negotiated;
pub mod packed_trees;
pub mod spanning_trees;
