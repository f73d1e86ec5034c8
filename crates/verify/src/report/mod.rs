//! Verdicts and their figures, as text for people and as JSON for programs.
//!
//! Pure functions from data to text: nothing here prints or decides. Percentages and decimals are for reading; every
//! figure that decides something is also given exactly.

pub mod audit;
pub mod collective;
pub mod diagnostics;
pub mod excerpt;
pub mod figures;
pub mod foreign;
pub mod job;
pub mod machine;
pub mod observed;
pub mod overview;
pub mod quality;
pub mod table;
pub mod verdict;
