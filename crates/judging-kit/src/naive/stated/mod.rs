//! What schedule files state.

pub mod file;
pub mod listing;
pub mod steps;
