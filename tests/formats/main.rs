//! Other tools' formats: what is written is read again and holds; what is read means what those tools mean.

mod chakra;
mod command;
mod foreign;
mod goal;
#[path = "../runtime/machine.rs"]
#[allow(dead_code, reason = "shared with the tests of the runtime")]
mod machine;
mod msccl;
mod steps;
