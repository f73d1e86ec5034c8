//! What commands answer: verdicts, words, exit codes, limits.

mod endings;
mod limits;
mod transcripts;
mod verdicts;
mod words;
