//! The language of `collsynth`: what a machine, a collective, a schedule and a certificate are.
//!
//! Everything here is data with exact checks; nothing searches. The crate is part of the trusted base (see
//! ARCHITECTURE.md), so it uses no graph library, no solver and no threads.
//!
//! In reading order: [`topology`] (the machine and its failures), [`collective`] (what must become true) and
//! [`problem`], which joins them; [`schedule`], the answer; [`program`], the answer as one program per rank;
//! [`certificate`], bounds on the best answer, with the exact check of their evidence, in arithmetic that cannot wrap
//! ([`exact`]).

#![warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

pub mod certificate;
pub mod collective;
pub mod exact;
mod layout;
pub mod problem;
pub mod program;
pub mod schedule;
pub mod topology;
