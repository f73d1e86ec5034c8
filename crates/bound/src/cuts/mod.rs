//! What must cross the borders of sets of ranks, and what all hops together take: bounds that only count.

pub mod best;
pub mod count;
pub mod evidence;
pub mod hop_count;
mod merging;
pub mod partition;
pub mod reach;
pub mod region;
mod strength;
