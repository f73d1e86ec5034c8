//! Files of schedules and of topologies.

mod brief;
pub mod entry;
pub mod machine;
pub mod read;
#[cfg(feature = "schema")]
pub mod schema;
mod trees;
pub mod write;
