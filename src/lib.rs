//! Proven collective schedules for tori with failed links.
//!
//! A *problem* (a topology, its failures and a collective) goes to a *planner*, which returns a *schedule*; the
//! *verifier* executes it symbolically; *bounds* say, with certificates, how far from the best it is.
//!
//! The modules, in reading order: [`topology`] and [`collective`] are the language, [`problem`] joins them,
//! [`schedule`] is the answer, [`certificate`] what can be claimed of the best answer, [`cost`] its time;
//! [`plan`] finds schedules, [`bound`] says how good any can be, [`verify`] whether
//! one does what it claims, and [`format`](mod@format) carries them in and out of files.

pub mod bound;
pub mod certificate;
pub mod collective;
pub mod cost;
pub mod format;
pub mod plan;
pub mod problem;
pub mod schedule;
pub mod topology;
pub mod verify;
