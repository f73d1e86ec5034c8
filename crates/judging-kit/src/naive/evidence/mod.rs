//! What evidence proves.

pub mod certificate;
pub mod distance;
pub mod job;
mod over_time;
pub mod trees;
