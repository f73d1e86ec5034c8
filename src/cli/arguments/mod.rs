//! What several commands take: machines, failures, collectives, goals; and the limits of what they take.

pub mod collective;
pub mod elsewhere;
pub mod extents;
pub mod failures;
pub mod flow_limits;
pub mod group;
pub mod job;
pub mod meant;
pub mod plan;
pub mod rate;
pub mod size;
pub mod smt;
pub mod topology;
