//! Schedules run on buffers.

mod ranks;
mod run;
