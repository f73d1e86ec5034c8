//! The `synth` command from outside: what it prints, writes and returns.

mod bench;
mod compare;
mod convert;
mod endings;
mod lower;
mod pareto;
mod planning;
mod readme;
mod run;
mod verdicts;
mod words;
