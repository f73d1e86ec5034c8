//! Errors as the exceptions of `collsynth._errors`.

use std::io::ErrorKind;
use std::path::Path;

use collsynth::cli::{self, Ending, Failure};
use collsynth::format::file::{self, FileError};
use collsynth::format::json::ParseError;
use collsynth::topology::TopologyError;
use pyo3::prelude::*;

/// The exception for a failure of the command.
pub fn failure(py: Python<'_>, failure: &Failure) -> PyErr {
    made(py, failure.ending, failure.message(), failure.remedy())
}

/// The exception for wrong arguments.
pub fn usage(py: Python<'_>, message: &str) -> PyErr {
    made(py, Ending::Usage, message, None)
}

/// The exception for a machine that cannot be.
pub fn machine(py: Python<'_>, error: &TopologyError) -> PyErr {
    usage(py, &error.to_string())
}

/// The exception for a text that cannot be read.
pub fn unreadable(py: Python<'_>, name: &str, error: &ParseError) -> PyErr {
    let ParseError { code, line, column, message } = error;
    let make = || {
        py.import("collsynth._errors")?.getattr("Unreadable")?.call1((name, code.to_string(), *line, *column, message))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// Writes a file, whole or not at all; `.gz`: compressed.
pub fn save(py: Python<'_>, path: &Path, text: impl FnOnce() -> String + Send) -> PyResult<()> {
    cli::check_ending(path).map_err(|error| failure(py, &error))?;
    py.detach(|| file::write_atomic(path, text().as_bytes())).map_err(|error| match &error {
        FileError::Write { path, source } => {
            // Named temporary files keep the kind of an error, not its number.
            let number = source.raw_os_error().unwrap_or(match source.kind() {
                ErrorKind::NotFound => 2,
                ErrorKind::PermissionDenied => 13,
                ErrorKind::NotADirectory => 20,
                ErrorKind::IsADirectory => 21,
                ErrorKind::StorageFull => 28,
                ErrorKind::ReadOnlyFilesystem => 30,
                _ => 5,
            });
            let make = || py.import("collsynth._errors")?.getattr("of_system")?.call1((number, path, "write"));
            make().map_or_else(|error| error, PyErr::from_value)
        }
        _ => failure(py, &Failure::from(error)),
    })
}

fn made(py: Python<'_>, ending: Ending, message: &str, remedy: Option<&str>) -> PyErr {
    let make = || py.import("collsynth._errors")?.getattr("of_ending")?.call1((ending as u8, message, remedy));
    make().map_or_else(|error| error, PyErr::from_value)
}
