//! A second judge, written from docs/schedule-format.md and docs/rank-program.md alone.
//!
//! It shares no code with the judge it is compared with, and is as plain as possible: lists that are searched from the
//! front, sets of contributions, all pairs of operations. It is slow and meant for small files.

pub mod certificate;
pub mod distance;
pub mod file;
pub mod fraction;
pub mod machine;
pub mod observed;
pub mod opinion;
pub mod orders;
pub mod program;
pub mod program_file;
pub mod reader;
pub mod runs;
pub mod schedule;
pub mod slots;
pub mod task;
pub mod trees;
