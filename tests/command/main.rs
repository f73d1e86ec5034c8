//! The `synth` command from outside: what it prints, writes and returns.

mod compare;
mod convert;
mod endings;
mod failures;
mod fallbacks;
mod forms;
mod jobs;
mod limits;
mod lower;
mod mistakes;
mod names;
mod options;
mod pareto;
mod pictures;
mod planning;
mod ranks;
mod run;
mod show;
#[path = "../support/mod.rs"]
mod support;
mod survey;
mod transcripts;
mod verdicts;
mod view;
mod words;
mod written;
