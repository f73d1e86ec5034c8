//! Files of schedules and of topologies.

pub mod entry;
pub mod machine;
pub mod read;
#[cfg(feature = "schema")]
pub mod schema;
pub mod write;
