//! Files in and out: where text comes from and goes to ([`file`](mod@file)), the schedule and topology files ([`json`]),
//! and demand matrices ([`demand`]).
//!
//! The format itself is published in `docs/schedule-format.md`.

pub mod demand;
pub mod file;
pub mod json;

#[cfg(test)]
mod tests;
