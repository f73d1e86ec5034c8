//! Files in and out: where text comes from and goes to ([`file`](mod@file)), and the schedule and topology files ([`json`]).
//!
//! The format itself is published in `docs/schedule-format.md`.

pub mod file;
pub mod json;

#[cfg(test)]
mod tests;
