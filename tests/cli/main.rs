//! The `synth` command from outside: what it prints, writes and returns.

mod bench;
mod endings;
mod planning;
mod readme;
mod verdicts;
mod words;
