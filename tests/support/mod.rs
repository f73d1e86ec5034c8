//! What several test programs share.
#![allow(dead_code, reason = "no program uses all of it")]

pub mod bench;
pub mod machine;
pub mod pages;
pub mod plans;
