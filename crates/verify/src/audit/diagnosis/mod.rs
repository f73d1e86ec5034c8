//! Sentences for what was found. Nothing here decides.

mod operation;
mod words;

pub(super) use words::sentence;
