//! Standard output and standard error.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use clap::ValueEnum;
use collsynth::format::file;
use serde_json::Value;

use super::Failure;

/// For whom an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Format {
    /// Writes an answer in this form to standard output.
    pub fn print(self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) -> Result<(), Failure> {
        print(&match self {
            Self::Text => text(),
            Self::Json => format!("{:#}\n", json()),
        })
    }
}

/// Writes text to a file, whole or not at all; to standard output where the path is `-`.
pub fn deliver(path: &Path, text: &str) -> Result<(), Failure> {
    match path == Path::new("-") {
        true => print(text),
        false => Ok(file::write_atomic(path, text.as_bytes())?),
    }
}

/// Standard output. Once its reader is gone (`| head`), what is written is dropped.
#[derive(Default)]
pub struct Output {
    closed: bool,
}

impl Output {
    /// Writes text as it is.
    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(Failure::usage(format!("cannot write to standard output: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// True once nobody reads any more: what is still to be written can be left out.
    pub fn is_closed(&self) -> bool {
        self.closed
    }
}

/// Writes text as it is to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    Output::default().write(text)
}

/// Writes a line, or several, to standard error; if that fails there is nobody to tell.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
