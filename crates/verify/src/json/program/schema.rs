//! The JSON Schema of rank program files.

use schemars::Schema;
use serde_json::{Value, json};

use super::entry::{OpName, ProgramFile};
use crate::json::schema::schema_of;

/// The schema of rank program files. It knows keys and types; whether slots, channels and workers are there is beyond
/// it.
pub fn program_schema() -> Value {
    let mut schema = schema_of::<ProgramFile>("Rank program file, rank-program/1");
    schema["oneOf"] = json!([{"required": ["topology"]}, {"required": ["ranks"]}]);
    schema
}

/// Says in the schema which keys belong to which operation.
pub(super) fn keys_by_op(schema: &mut Schema) {
    let one = |op: OpName| {
        let (must, may) = op.keys();
        let mut keys: Vec<&str> = vec!["op"];
        keys.extend(must.iter().chain(may));
        let mut required = vec!["op"];
        required.extend(must);
        let mut properties: serde_json::Map<String, Value> =
            keys.iter().map(|&key| (key.to_owned(), json!(true))).collect();
        properties.insert("op".to_owned(), json!({"const": op.name()}));
        json!({"properties": properties, "required": required, "additionalProperties": false})
    };
    schema.insert("oneOf".to_owned(), OpName::ALL.map(one).to_vec().into());
}
