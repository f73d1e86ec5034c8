//! Commands that judge, and those that bound.

pub mod bound;
pub mod elsewhere;
pub mod frontier;
pub mod shrink;
pub mod verify;
