//! Proven collective schedules for tori with failed links.

pub use collsynth_core::{certificate, collective, problem, program, schedule, topology};
pub use collsynth_plan::{self as plan, bound, cost, symmetry};
#[cfg(feature = "runtime")]
pub use collsynth_runtime::{self as runtime, lower};
pub use collsynth_verify::{audit, explain, judge, shrink, verify};

/// Files in and out: the project's own ([`json`](format::json)), whole files ([`file`](mod@format::file)), and other
/// tools' formats.
pub mod format {
    #[cfg(feature = "formats")]
    pub use collsynth_formats::*;
    pub use collsynth_verify::{file, json};
}

#[cfg(feature = "command")]
pub mod report;

/// The example in the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
