//! Files that are read, within the limits that the environment states.

use std::env;
use std::path::Path;

use collsynth::format::file::{self, FileError};
use collsynth::format::json;
use collsynth::limits::{FILE_WORD, Limits, MEMORY_WORD};

use super::caller;
use crate::cli::ending::Failure;

/// The limits on input: the defaults, or what the environment states.
pub fn limits() -> Result<Limits, Failure> {
    let stated = |name| env::var_os(name).map(|word| word.to_string_lossy().into_owned());
    Limits::stated(stated(FILE_WORD).as_deref(), stated(MEMORY_WORD).as_deref()).map_err(Failure::usage)
}

/// The memory that judging a text may take.
pub fn room(text: &str) -> Result<u64, Failure> {
    Ok(limits()?.room(text))
}

/// Reads a text; `-` is standard input.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    match (path == Path::new("-")).then(caller::input).flatten() {
        Some(text) => Ok(text.ok_or(FileError::ReadAlready)?),
        None => file::read_text(path, limits()?.file).map_err(|error| {
            let word = path.to_string_lossy();
            let is_machine =
                !path.exists() && word.contains('x') && word.split('x').all(|number| number.parse::<u32>().is_ok());
            let failure = Failure::from(error);
            if is_machine { failure.hint(format!("a torus of these extents is --torus {word}")) } else { failure }
        }),
    }
}

/// What a file of ours is that was given where another kind is wanted.
pub fn ours(text: &str) -> Option<&'static str> {
    if json::is_program(text) {
        return Some("a rank program");
    }
    if json::is_job(text) {
        return Some("a job");
    }
    json::is_schedule(text).then_some("a schedule")
}

/// What is wrong with a text, after its place.
pub fn placed(name: &dyn std::fmt::Display, error: &serde_json::Error) -> String {
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    format!("{name}:{}:{}: {what}", error.line(), error.column().max(1))
}
