//! Bounds: against closed forms, linear programs, brute force, and all that planners find.

mod claims;
mod cuts;
mod flow;
mod partitions;
mod trees;
