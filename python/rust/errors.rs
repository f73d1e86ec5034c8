//! Errors as the exceptions of `collsynth._errors`.

use collsynth::cli::{Ending, Failure};
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

fn made(py: Python<'_>, ending: Ending, message: &str, remedy: Option<&str>) -> PyErr {
    let make = || py.import("collsynth._errors")?.getattr("of_ending")?.call1((ending as u8, message, remedy));
    make().map_or_else(|error| error, PyErr::from_value)
}
