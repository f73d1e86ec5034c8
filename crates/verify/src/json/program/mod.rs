//! Rank program files: JSON, version `rank-program/1`, published in `docs/formats/rank-program.md`.

mod entry;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod write;

pub use read::{is_program, parse_program, parse_program_within};
#[cfg(feature = "schema")]
pub use schema::program_schema;
pub use write::{program_to_string, rank_program_to_string};

/// The value of `format` in rank program files.
pub const PROGRAM_FORMAT: &str = "rank-program/1";
