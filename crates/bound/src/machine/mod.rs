//! What bounds and planners ask of a machine: its hops, its symmetries, its links by direction.

pub mod hops;
pub mod link_table;
pub mod period;
pub mod symmetry;
