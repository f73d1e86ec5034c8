//! Commands that plan, and compare what is planned.

pub mod asked;
pub mod compare;
pub mod job;
pub mod pareto;
pub mod plan;
pub mod polish;
pub mod proof;
