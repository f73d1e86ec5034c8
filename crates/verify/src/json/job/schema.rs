//! The JSON Schema of job files.

use serde_json::Value;

use super::entry::JobFile;
use crate::json::schedule::schema::schema_of;

/// The schema of job files. It covers keys and types, not what depends on the topology or the collectives.
pub fn job_schema() -> Value {
    schema_of::<JobFile>("Job file, collective-job/1")
}
