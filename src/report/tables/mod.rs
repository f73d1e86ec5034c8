//! Tables of what a file holds: the steps of a schedule, the loads of its links, the operations of a rank program.

pub mod links;
pub mod operations;
pub mod steps;
