//! Job files: JSON, version `collective-job/1`, published in `docs/formats/schedule-format.md`.

mod entry;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod write;

pub use read::{is_job, parse_job, parse_job_within};
#[cfg(feature = "schema")]
pub use schema::job_schema;
pub use write::job_to_string;

/// The value of `format` in job files.
pub const JOB_FORMAT: &str = "collective-job/1";
