//! Sentences for violations. Nothing here decides.

mod operation;
mod words;

pub(super) use words::sentence;
