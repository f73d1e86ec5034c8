//! What several test programs share.
#![allow(dead_code, reason = "no program uses all of it")]

pub mod machine;
