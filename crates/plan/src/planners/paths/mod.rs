//! Planners of chunks that each take a path.

pub mod lp;
pub mod negotiated;
