//! The JSON Schemas (draft 2020-12), generated from the statements the reader uses.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use super::entry::{ScheduleFile, TopologyFile};

/// The schema of schedule files. It knows keys and types; what needs the topology or the collective to be judged
/// (ranks, chunks, links) is beyond it.
pub fn schedule_schema() -> Value {
    schema_of::<ScheduleFile>("Schedule file, collective-schedule/1")
}

/// The schema of topology files, and of the key `topology` in schedule files.
pub fn topology_schema() -> Value {
    schema_of::<TopologyFile>("Topology file")
}

pub(super) fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// Says in the schema that a machine is a torus or an explicit graph, and which keys belong to which.
pub(super) fn either_torus_or_links(schema: &mut Schema) {
    schema.insert("oneOf".to_owned(), json!([{"required": ["torus"]}, {"required": ["links"]}]));
    let belongs = json!({"wrap": ["torus"], "capacity": ["torus"], "ranks": ["links"]});
    schema.insert("dependentRequired".to_owned(), belongs);
}
