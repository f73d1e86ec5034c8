//! What tests and the fuzzer hold the judge against: a second judge, written from docs/ alone, and files for both.
//!
//! [`mutate`] makes files, right and wrong, from the decisions of [`dice`]; [`compare`] asks both judges of them, and
//! says what they agree on. Never published: what is published may use it in its tests only.

pub mod compare;
pub mod dice;
pub mod mutate;
pub mod naive;
