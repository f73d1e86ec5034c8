//! Rank programs.

pub mod file;
pub mod judge;
pub mod orders;
pub mod place;
pub mod runs;
pub mod slots;
