//! Proven collective schedules for tori with failed links.
//!
//! A [`Request`] names a topology, with what failed in it, and a collective; planners answer with a schedule; the judge
//! executes it symbolically; *bounds* with certificates say how far it is from the best.
//!
//! ```
//! use collsynth::{Kind, Request, Topology};
//!
//! let torus = Topology::torus(&[4, 4])?.fail_cable(2, 3)?;
//! let schedule = Request::new(&torus, Kind::AllToAll).run()?.verify()?;
//!
//! // The judge has checked the certificate too: 4 steps cannot be beaten.
//! assert_eq!(schedule.schedule.step_count(), 4);
//! assert_eq!(schedule.bounds.least_steps(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is the front of a family, whose members see no more of each other than their manifests allow:
//!
//! * the language, `collsynth-core`: [`topology`], [`collective`], [`problem`], [`schedule`], [`program`],
//!   [`certificate`];
//! * the judge, `collsynth-verify`: [`verify`], [`audit`], [`judge`], [`shrink`], and the reader of [`format::json`];
//! * the searchers, `collsynth-bound`, `collsynth-plan` and, for comparison, `collsynth-baselines`: [`bound`],
//!   [`symmetry`], [`plan`], [`cost`];
//! * the outside: `format` with `collsynth-formats`, `runtime` and `lower` with `collsynth-runtime`, `view` with
//!   `collsynth-view`, `report`.
//!
//! The command `synth` and its dependencies are behind the default feature `command`. A library user turns the default
//! features off and enables others as needed: `formats`, `runtime`; `lp` and `smt`, or both as `solvers`, for solvers
//! of linear programs and of propositional logic, which take most of the time to build. docs/use/install.md says what
//! planning is without them.

pub mod form;
pub mod grouping;
pub mod plan;
pub mod relabel;
pub mod renumber;
mod request;

pub use collsynth_bound::{self as bound, symmetry};
pub use collsynth_core::collective::Kind;
pub use collsynth_core::schedule::{AnySolution, Solution};
pub use collsynth_core::topology::{RankId, Topology, TopologySpec};
pub use collsynth_core::{certificate, collective, exact, problem, program, schedule, topology};
pub use collsynth_plan::cost;
pub use collsynth_plan::{Control, Goal, Parts, Plan, PlanError, Planner, StopReason};
#[cfg(feature = "runtime")]
pub use collsynth_runtime::{self as runtime, lower};
pub use collsynth_verify::verify::{Verified, VerifiedJob};
pub use collsynth_verify::{audit, claim, explain, judge, limits, shown, shrink, verdict, verify};
pub use request::{JobRequest, JobRequestError, Judged, PlannedJob, PlannedSchedule, Request, Size, finishing_time};

/// Files in and out: the project's own ([`json`](format::json)), whole files ([`file`](mod@format::file)), and other
/// tools' formats.
pub mod format {
    #[cfg(feature = "formats")]
    pub use collsynth_formats::*;
    pub use collsynth_verify::{file, json};
}

#[cfg(feature = "command")]
pub mod cli;
#[cfg(feature = "command")]
pub mod report;

#[cfg(feature = "command")]
pub use collsynth_view as view;

/// The command names the library as other programs do.
#[cfg(feature = "command")]
extern crate self as collsynth;

/// The example in the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
