//! Lines to standard error, and the turn to print.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use collsynth::shown::shown_lines;

use super::caller;

/// Writes lines to standard error; a failure to do so has nowhere to be reported.
pub fn note(text: &str) {
    let shown = shown_lines(text).to_string();
    if !caller::note(&shown) {
        let _ = writeln!(io::stderr(), "{shown}");
    }
}

/// Held while something is printed to standard output: who ends the process waits for it.
pub fn printing() -> MutexGuard<'static, ()> {
    static PRINTING: Mutex<()> = Mutex::new(());
    PRINTING.lock().unwrap_or_else(PoisonError::into_inner)
}
