//! Planners and bounds against closed forms, linear programs, exhaustive search and each other.

mod bounds;
mod choice;
mod gathering;
mod groups;
mod jobs;
mod mended;
mod messages;
mod rooted;
mod sums;
#[path = "../support/mod.rs"]
mod support;
