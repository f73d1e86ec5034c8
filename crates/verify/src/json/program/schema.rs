//! The JSON Schema of rank program files.

use serde_json::{Value, json};

use super::entry::ProgramFile;
use crate::json::schedule::schema::schema_of;

/// The schema of rank program files. It covers keys and types, not whether slots, channels and workers exist.
pub fn program_schema() -> Value {
    let mut schema = schema_of::<ProgramFile>("Rank program file, rank-program/1");
    schema["oneOf"] = json!([{"required": ["topology"]}, {"required": ["ranks"]}]);
    schema
}
