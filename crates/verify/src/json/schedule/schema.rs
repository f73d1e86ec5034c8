//! The JSON Schemas (draft 2020-12), generated from the reader's entries.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::entry::{ScheduleFile, TopologyFile};
use crate::json::FORMAT;
use crate::json::object::Object;
use crate::json::scalar::{
    ChunkList, DimEntry, DirectionEntry, FormatEntry, OpEntry, RankEntry, RationalEntry, SwitchEntry,
};

/// The schema of schedule files. It covers keys and types, not what depends on the topology or the collective (ranks,
/// chunks, links).
pub fn schedule_schema() -> Value {
    schema_of::<ScheduleFile>("Schedule file, collective-schedule/1")
}

/// The schema of topology files, and of the key `topology` in schedule files.
pub fn topology_schema() -> Value {
    schema_of::<TopologyFile>("Topology file")
}

pub(in crate::json) fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// The schema of a `T` already says what this enforces: it is an object.
impl<T: JsonSchema> JsonSchema for Object<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Implements [`JsonSchema`] by a constant.
macro_rules! json_schema_of {
    ($($entry:ty, $name:literal, $schema:tt;)*) => {$(
        impl JsonSchema for $entry {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

json_schema_of! {
    FormatEntry, "Format", {"const": FORMAT};
    RankEntry, "Rank", {
        "description": "A rank: its number, or its coordinates on a torus.",
        "type": ["integer", "string"], "minimum": 0, "maximum": u32::MAX, "pattern": "^[0-9]+([.][0-9]+)*$",
        "examples": [42, "2.2.2"]
    };
    DimEntry, "Dimension", {"type": "string", "pattern": "^([xyzwvu]|d[0-9]+)[+-]?$", "examples": ["x", "x+"]};
    DirectionEntry, "Direction", {"type": "string", "pattern": "^([xyzwvu]|d[0-9]+)[+-]$", "examples": ["x+"]};
    SwitchEntry, "Switch", {
        "type": "string", "pattern": "^([xyzwvu]|d[0-9]+):([0-9]+(,[0-9]+)*)?$", "examples": ["x:1,2"]
    };
    OpEntry, "Op", {"enum": ["copy", "reduce"]};
    RationalEntry, "Fraction", {
        "description": "A number that is not negative: an integer, or a fraction as text.",
        "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+(/0*[1-9][0-9]*)?$",
        "examples": [34, "1024/31"]
    };
    ChunkList, "Chunks", {
        "description": "Chunks: numbers, or labels such as \"3>7\" (origin, destination) and \"5/1\" (rank or part).",
        "type": "array",
        "items": {"type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+(>[0-9]+)?(/[0-9]+)?$"}
    };
}
