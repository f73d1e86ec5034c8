//! Schedule files and topology files: JSON, version `collective-schedule/1`; files of [jobs](parse_job) and of rank
//! programs.
//!
//! A text is read in two passes. First serde parses it into the entries of `entry`, which know keys and types but no
//! meaning, and reports errors with line and column. Then `read` gives it meaning (ranks, chunks, topology,
//! collective); [`locate`] finds errors there again in the text, so that a correct file pays nothing for good messages.
//!
//! The JSON Schemas are generated from the same entries.

mod code;
mod error;
mod job;
mod locate;
mod object;
mod probe;
mod program;
mod scalar;
mod schedule;

pub use code::FormatCode;
pub use error::ParseError;
#[cfg(feature = "schema")]
pub use job::job_schema;
pub use job::{JOB_FORMAT, is_job, job_to_string, parse_job, parse_job_within};
pub use locate::{PathItem, locate};
#[cfg(feature = "schema")]
pub use program::program_schema;
pub use program::{
    PROGRAM_FORMAT, is_program, parse_program, parse_program_within, program_to_string, rank_program_to_string,
};
pub use schedule::read::{
    TooLarge, is_schedule, parse_machine_within, parse_solution, parse_solution_within, parse_stated_within,
    parse_topology, parse_topology_within,
};
#[cfg(feature = "schema")]
pub use schedule::schema::{schedule_schema, topology_schema};
pub use schedule::write::{solution_to_string, topology_to_string, write_expanded};

/// The value of `format` in schedule files.
pub const FORMAT: &str = "collective-schedule/1";

#[cfg(test)]
mod tests;
