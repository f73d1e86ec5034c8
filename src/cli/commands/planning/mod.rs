//! Commands that plan, and compare what is planned.

pub mod compare;
mod compare_files;
pub mod compare_paper;
pub mod job;
pub mod pareto;
pub mod plan;
pub mod polish;
pub mod proof;
pub mod sweep;
