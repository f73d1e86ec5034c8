//! The JSON Schema of rank program files.

use serde_json::{Value, json};

use super::entry::ProgramFile;
use crate::json::schema::schema_of;

/// The schema of rank program files. It knows keys and types; whether slots, channels and workers are there is beyond
/// it.
pub fn program_schema() -> Value {
    let mut schema = schema_of::<ProgramFile>("Rank program file, rank-program/1");
    schema["oneOf"] = json!([{"required": ["topology"]}, {"required": ["ranks"]}]);
    schema
}
