//! Schedules, bounds, verdicts and machines as text for people and JSON for programs.
//!
//! Pure functions from data to text: nothing here prints. Percentages and decimals are for reading; every figure that
//! decides something is also given exactly.

pub mod bandwidth;
pub mod bounds;
pub mod comparison;
pub mod curve;
pub mod failure;
pub mod frontier;
pub mod paper;
pub mod phases;
mod plot;
pub mod run;
pub mod summary;
pub mod survey;
pub mod tables;

pub use collsynth_verify::report::*;
