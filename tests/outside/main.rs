//! Beyond planning and judging: other tools' formats, and schedules on real buffers.

mod formats;
mod runtime;
#[path = "../support/mod.rs"]
mod support;
