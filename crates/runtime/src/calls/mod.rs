//! Collectives as calls: communicators, groups, and what joins ranks to them.

pub mod communicator;
pub mod connect;
pub mod digest;
pub mod error;
pub mod gathered;
pub mod group;
pub mod lengths;
pub mod runnable;
