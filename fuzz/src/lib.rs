//! Hostile input: what every reader and the judge must survive, and a second judge to hold the first against.
//!
//! A target takes any bytes. It may refuse them, but must not panic, and takes memory in proportion to them only.
//! `.ci/fuzz` runs the targets guided by coverage; the tests of this crate run them over the inputs kept in `corpus/`.

#![forbid(unsafe_code)]

pub mod compare;
pub mod dice;
#[cfg(feature = "readers")]
pub mod memory;
pub mod mutate;
pub mod naive;
#[cfg(feature = "readers")]
pub mod targets;
