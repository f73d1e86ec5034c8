//! Schedules, explicit, compact and in jobs.

pub mod claims;
pub mod compact;
pub mod file;
pub mod job;
pub mod judge;
pub mod listing;
pub mod observed;
