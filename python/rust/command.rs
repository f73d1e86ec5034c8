//! The command `synth`, called from Python.

use std::ffi::OsString;

use collsynth::cli;
use pyo3::prelude::*;

use crate::arguments::Callback;
use crate::control::interruptible;

/// Runs the command `synth` with these words, the first of them its name; returns the exit code.
#[pyfunction]
pub fn synth_main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| cli::run(words))
}

/// The same within this process: `input` is its standard input. Returns the exit code, and what it printed to standard
/// output and to standard error.
#[pyfunction]
#[pyo3(signature = (words, input, threads, progress))]
pub fn synth_call(
    py: Python<'_>,
    words: Vec<OsString>,
    input: String,
    threads: Option<usize>,
    progress: Option<Callback<'_>>,
) -> PyResult<(u8, String, String)> {
    let work = move |interrupted, listener| cli::call(words, input, interrupted, listener);
    let cli::Answer { exit_code, output, notes } = interruptible(py, threads, progress.as_ref(), work)?;
    Ok((exit_code, output, notes))
}
