//! Published schemes, and an all_reduce in two halves.

pub mod binary_tree;
pub mod composed;
pub mod hamiltonian;
pub mod ring_of_ranks;
pub mod rings;
