//! What records it: structure, execution, order, races, outcome, contention.

pub mod contention;
pub mod execute;
pub mod hub;
pub mod links;
pub mod order;
pub mod outcome;
pub mod races;
pub mod structure;
