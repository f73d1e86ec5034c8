//! A machine and a collective on it.

pub mod machine;
pub mod task;
