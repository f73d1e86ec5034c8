//! The judge of `collsynth`: executes schedules and rank programs symbolically and refuses those that do not hold.
//!
//! The crate shares only the language of [`collsynth_core`] with the planners. Its own command, `synth-verify`,
//! contains no planner, no solver and no C or C++.
//!
//! * [`verify`] executes schedules; only it can make a [`verify::Verified`];
//! * [`audit`] judges rank programs in every interleaving; only it can make an [`audit::AuditedProgram`];
//! * [`json`] reads and writes the project's formats, [`file`](mod@file) whole files;
//! * [`limits`] bounds what a file may take;
//! * [`judge`] takes a file from its bytes to its verdict;
//! * [`explain`] explains each code;
//! * [`shrink`] reduces a refuted schedule or program to a small part that is still refuted;
//! * [`shown`] keeps what files say from steering the terminal;
//! * [`verdict`]: it holds, it is refuted, or it was not judged;
//! * [`claim`] decides what may be claimed of what holds;
//! * [`report`] puts verdicts and claims into words and JSON and decides nothing.

#![warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

pub mod audit;
pub mod claim;
mod code;
pub mod explain;
pub mod file;
mod guard;
pub mod json;
pub mod judge;
#[expect(clippy::cast_possible_truncation, reason = "figures for people")]
pub mod report;
pub mod shrink;
pub mod verdict;
pub mod verify;

pub use guard::{limits, shown};
