//! Proven collective schedules for tori with failed links.
//!
//! A *problem* (a topology, its failures and a collective) goes to a *planner*, which returns a *schedule*; the
//! *verifier* executes it symbolically; *bounds* say, with certificates, how far from the best it is.
//!
//! The modules, in reading order:
//!
//! * the language: [`topology`] (the machine and what failed in it), [`collective`] (what must become true) and
//!   [`problem`], which joins them; [`schedule`], the answer; [`certificate`], what can be claimed of the best answer;
//! * the judge: [`verify`] executes schedules, and alone can make a [`verify::Verified`]; [`shrink`] looks for the least of
//!   a wrong one that is still wrong;
//! * the searchers: [`bound`] finds certificates, [`plan`] finds schedules, [`cost`] says how long they take;
//! * the outside: [`format`](mod@format) reads and writes files, [`runtime`] carries schedules out on buffers,
//!   [`report`] makes text for people.
//!
//! From a problem to a schedule that is known to hold, and to be the best:
//!
//! ```
//! use synth::collective::Kind;
//! use synth::plan::{Control, Wish, synthesise};
//! use synth::schedule::Solution;
//! use synth::topology::Topology;
//! use synth::verify::{Options, Verified};
//!
//! let torus = Topology::torus(&[4, 4])?;
//! let plan = synthesise(&torus, &Kind::AllToAll, &Wish::default(), &Control::unlimited())?;
//! let verified = Verified::<Solution>::new(plan.into(), &Options::default())?;
//!
//! // The verifier has checked the certificates, too: 4 steps and a width of 8 cannot be beaten.
//! assert_eq!((verified.schedule.step_count(), verified.schedule.total_width()), (4, 8));
//! assert_eq!((verified.bounds.least_steps(), verified.bounds.least_width(1)), (4, 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod audit;
pub mod bound;
pub mod certificate;
pub mod collective;
pub mod cost;
pub mod format;
pub mod lower;
pub mod plan;
pub mod problem;
pub mod program;
pub mod report;
pub mod runtime;
pub mod schedule;
pub mod shrink;
pub mod topology;
pub mod verify;

/// The example in the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
