//! The judge of `collsynth`: executes schedules and rank programs symbolically, and refuses what does not hold.
//!
//! The crate shares only the language of [`collsynth_core`] with whoever made the schedule. It has a command of its
//! own, `synth-verify`, whose build contains no planner, no solver and no C or C++.
//!
//! * [`verify`] executes schedules; only it can make a [`verify::Verified`];
//! * [`audit`] judges rank programs in every interleaving; only it can make an [`audit::AuditedProgram`];
//! * [`json`] reads and writes the files of the project, [`file`](mod@file) whole files;
//! * [`judge`] takes a file from its bytes to its verdict;
//! * [`explain`] has what each code means;
//! * [`shrink`] looks for a smallest part of a refuted schedule or program that is still refuted;
//! * [`report`] puts verdicts into words and JSON. Nothing in it decides.

pub mod audit;
mod code;
pub mod explain;
pub mod file;
pub mod json;
pub mod judge;
pub mod report;
pub mod shrink;
pub mod verify;
