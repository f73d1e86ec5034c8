//! Hostile input: what every reader and the judge must survive.
//!
//! A target takes any bytes. It may refuse them, but must not panic, and takes memory in proportion to them only.
//! `.ci/fuzz` runs the targets guided by coverage; the tests of this crate run them over the inputs kept in `corpus/`.

#![forbid(unsafe_code)]

pub mod memory;
pub mod targets;
