//! Job files: JSON, version `collective-job/1`, published in `docs/schedule-format.md`.

mod entry;
mod read;
mod write;

pub use read::{is_job, parse_job, parse_job_within};
pub use write::job_to_string;

/// The value of `format` in job files.
pub const JOB_FORMAT: &str = "collective-job/1";

/// The schema of job files. It covers keys and types, not what depends on the topology or the collectives.
#[cfg(feature = "schema")]
pub fn job_schema() -> serde_json::Value {
    super::schema::schema_of::<entry::JobFile>("Job file, collective-job/1")
}
