//! Pages of docs/ that a build writes: each says what this build reaches.

mod collectives;
mod optimality;
mod paper_comparison;
mod phased;
mod results;
#[path = "../support/mod.rs"]
mod support;
