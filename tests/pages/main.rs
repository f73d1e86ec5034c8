//! Generated pages of docs/: the figures of this build.

mod collectives;
mod groups;
mod machines;
mod optimality;
mod paper_comparison;
mod phased;
mod results;
mod small_messages;
#[path = "../support/mod.rs"]
mod support;
