//! In and out: files read and written, both outputs, progress, Ctrl-C, and the program that calls.

pub mod caller;
pub mod clock;
pub mod console;
pub mod input;
pub mod naming;
pub mod output;
pub mod progress;
pub mod reading;
