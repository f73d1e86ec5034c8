//! Planners of collectives with one root.

pub mod arborescences;
pub mod flow_over_time;
