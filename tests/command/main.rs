//! The `synth` command from outside: what it prints, writes and returns.

mod answers;
mod failures;
mod files;
mod hints;
mod names;
mod options;
mod planning;
mod running;
mod showing;
#[path = "../support/mod.rs"]
mod support;
mod surveys;
