//! Planners and bounds against closed forms, linear programs, exhaustive search and each other.

mod all_reduce;
mod baselines;
mod bounds;
mod butterflies;
mod claims;
mod classical;
mod conformance;
mod demands;
mod enough;
mod flow;
mod gathering;
mod groups;
mod jobs;
mod lp_planner;
mod mended;
mod message_size;
mod one_way;
mod optimum;
mod partitions;
mod portfolio;
mod rooted;
mod smt;
#[path = "../support/mod.rs"]
mod support;
mod targets;
mod trees;
mod twisted;
