//! Commands that judge, and those that bound.

pub mod bound;
pub mod frontier;
pub mod shrink;
pub mod verify;
