//! Schedules, bounds, verdicts and machines as text for people, and as JSON for programs that read over their shoulder.
//!
//! Pure functions from data to text: nothing here prints. Percentages and decimals are for reading; every figure that
//! decides something is also given exactly.

pub mod audit;
pub mod bandwidth;
pub mod bounds;
mod collective;
pub mod comparison;
pub mod curve;
pub mod diagnostics;
pub mod excerpt;
pub mod figures;
pub mod frontier;
pub mod machine;
pub mod observed;
pub mod phases;
pub mod run;
pub mod steps;
pub mod summary;
pub mod table;
pub mod verdict;
