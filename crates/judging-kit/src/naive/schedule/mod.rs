//! Schedules, explicit, compact and in jobs.

mod claims;
pub mod compact;
pub mod job;
pub mod judge;
pub mod observed;
pub mod outcome;
pub mod together;
