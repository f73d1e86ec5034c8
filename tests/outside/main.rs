//! Beyond planning and judging: other tools' formats, and schedules on real buffers; the examples of the library.

mod examples;
mod formats;
mod runtime;
#[path = "../support/mod.rs"]
mod support;
