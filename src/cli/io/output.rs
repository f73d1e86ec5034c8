//! Standard output and standard error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use collsynth::format::file::{self, FileError};
use collsynth::report::summary::Summary;
use collsynth::schedule::{Origin, Timetable};
use serde_json::Value;

use super::console::{note, printing};
use super::{caller, clock};
use crate::cli::ending::Failure;

/// Who reads an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Format {
    /// Writes an answer in this form to a file (`-`: standard output).
    pub fn deliver(
        self,
        path: &Path,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> Result<(), Failure> {
        let answer = match self {
            Self::Text => text(),
            Self::Json => format!("{:#}\n", json()),
        };
        deliver(path, &answer)
    }

    /// Writes a summary in this form to standard error.
    pub fn note(self, summary: &Summary<'_, impl Timetable>) {
        note(&match self {
            Self::Text => summary.to_text(),
            Self::Json => summary.to_json().to_string(),
        });
    }
}

/// This program in the `origin` of the files it writes.
pub fn origin(planner: Option<&str>, command: Option<String>, seed: Option<u64>) -> Origin {
    let tool = Some(concat!("synth ", env!("CARGO_PKG_VERSION")).to_owned());
    Origin { tool, planner: planner.map(str::to_owned), command, seed }
}

/// Writes text to a file, whole or not at all; to standard output where the path is `-`.
pub fn deliver(path: &Path, text: &str) -> Result<(), Failure> {
    match path == Path::new("-") {
        true => print(text),
        false => write_file(path, text.as_bytes()),
    }
}

/// A file to write, whole or not at all.
pub type Whole = (PathBuf, Vec<u8>);

/// The same as [`deliver`] with a file beside it, both or none.
pub fn deliver_with(path: &Path, text: &str, beside: Option<Whole>) -> Result<(), Failure> {
    if path != Path::new("-") {
        return write_files(beside.into_iter().chain([(path.to_owned(), text.as_bytes().to_vec())]).collect());
    }
    beside.map_or(Ok(()), |(path, bytes)| write_file(&path, &bytes))?;
    print(text)
}

/// Writes a file, whole or not at all.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    writing(|| file::write_atomic(path, bytes))
}

/// Writes several files, all or none.
pub fn write_files(files: Vec<Whole>) -> Result<(), Failure> {
    writing(|| file::write_all_atomic(files))
}

/// Writes, and leaves nothing half written if a signal comes.
fn writing(write: impl FnOnce() -> Result<(), FileError>) -> Result<(), Failure> {
    clock::listen_for_signals()?;
    write()?;
    clock::answered();
    Ok(())
}

/// Writes the text of a file that programs read, whole or not at all, to this path, or to standard output. A terminal
/// gets it only if `-` is stated; otherwise a note says that `what` was withheld, and how to get it.
pub fn deliver_file(path: Option<&Path>, text: &str, what: &str) -> Result<(), Failure> {
    match path {
        Some(path) => deliver(path, text),
        None if io::stdout().is_terminal() => {
            let size = bytes_about(text.len());
            note(&format!("hint: -o FILE writes the {what} ({size}) to a file, -o - to this terminal"));
            Ok(())
        }
        None => print(text),
    }
}

/// The same with a file beside it, both or none.
pub fn deliver_file_with(path: Option<&Path>, text: &str, what: &str, beside: Option<Whole>) -> Result<(), Failure> {
    if let Some(path) = path {
        return deliver_with(path, text, beside);
    }
    beside.map_or(Ok(()), |(path, bytes)| write_file(&path, &bytes))?;
    deliver_file(None, text, what)
}

/// What to do with a schedule that was written to a file, for people at a terminal.
pub fn suggest(path: Option<&Path>) {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else { return };
    if io::stderr().is_terminal() {
        let name = path.display();
        note(&format!(
            "next: synth run {name} --bytes 16MiB                try it on buffers, every element compared\n      \
             synth lower {name} --barriers neighbor      the program of each rank\n      \
             synth convert {name} --to msccl -o FILE.xml  for another runtime"
        ));
    }
}

/// A size in three digits: `12.3 MB`.
fn bytes_about(bytes: usize) -> String {
    match bytes as f64 {
        few if few < 1e3 => format!("{bytes} bytes"),
        some if some < 1e6 => format!("{:.1} kB", some / 1e3),
        many => format!("{:.1} MB", many / 1e6),
    }
}

/// An answer written piece by piece: to standard output (`-`) as it comes, to a file when it is whole. Drops text once
/// the reader of standard output is gone (`| head`).
pub struct Output<'a> {
    path: &'a Path,
    kept: String,
    closed: bool,
}

impl<'a> Output<'a> {
    /// To this file, or to standard output.
    pub fn to(path: &'a Path) -> Self {
        Self { path, kept: String::new(), closed: false }
    }

    /// To standard output.
    pub fn standard() -> Self {
        Self::to(Path::new("-"))
    }

    /// Writes the file, if it is one.
    pub fn finish(self) -> Result<(), Failure> {
        match self.path == Path::new("-") {
            true => Ok(()),
            false => write_file(self.path, self.kept.as_bytes()),
        }
    }

    /// Writes text as it is.
    pub fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.path != Path::new("-") {
            self.kept += text;
            return Ok(());
        }
        if self.closed || caller::print(text) {
            return Ok(());
        }
        let _printing = printing();
        clock::answered();
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
}

/// Standard output as a writer: to the caller, or to the shell.
struct Printed;

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Texts are written whole, so no character is cut.
        match caller::print(&String::from_utf8_lossy(bytes)) {
            true => Ok(bytes.len()),
            false => io::stdout().lock().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

/// Writes an answer to standard output while it is made, as far as its reader wants it.
pub fn stream(content: impl FnOnce(&mut BufWriter<Box<dyn Write>>) -> io::Result<()>) -> Result<(), Failure> {
    let _printing = printing();
    clock::answered();
    let mut out: BufWriter<Box<dyn Write>> = BufWriter::with_capacity(1 << 16, Box::new(Printed));
    match content(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file while it is made, whole or not at all; to standard output where the path is `-`.
pub fn deliver_streamed(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    match path == Path::new("-") {
        true => stream(|out| content(out)),
        false => writing(|| file::write_streamed(path, content)),
    }
}

/// The same as [`deliver_file`] while it is made.
pub fn deliver_file_streamed(
    path: Option<&Path>,
    what: &str,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path.is_none() && io::stdout().is_terminal() {
        note(&format!("hint: -o FILE writes the {what} to a file, -o - to this terminal"));
        return Ok(());
    }
    deliver_streamed(path.unwrap_or(Path::new("-")), content)
}

/// Writes text as it is to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    Output::standard().write(text)
}
