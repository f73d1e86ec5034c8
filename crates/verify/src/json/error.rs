//! Errors in a text, with place and message.

use thiserror::Error;

use super::FormatCode;
use super::locate::{PathItem, locate};
use crate::guard::shown;

/// Why a text is not a schedule, topology or program file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message} [{code}]")]
pub struct ParseError {
    /// One of the `F` codes.
    pub code: FormatCode,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ParseError {
    /// An error at a line and column. What it quotes from the file is made fit to be shown.
    pub fn new(code: FormatCode, (line, column): (usize, usize), message: &str) -> Self {
        Self { code, line, column, message: shown::message(message) }
    }
}

/// An error in the meaning of a value, found after parsing.
#[derive(Debug)]
pub(super) struct Fault {
    pub code: FormatCode,
    /// From the root of the text to the value, in reverse.
    path: Vec<PathItem<'static>>,
    pub message: String,
}

impl Fault {
    /// A fault of the value at hand.
    pub fn new(code: FormatCode, message: impl ToString) -> Self {
        Self { code, path: Vec::new(), message: message.to_string() }
    }

    /// The same fault, seen from the enclosing object or array.
    pub fn within(mut self, item: PathItem<'static>) -> Self {
        self.path.push(item);
        self
    }

    /// [`Fault::within`] for a key of an object.
    pub fn at(self, key: &'static str) -> Self {
        self.within(PathItem::Key(key))
    }

    /// Locates the value, or the innermost object or array around it that is in the text.
    pub fn into_error(mut self, text: &str) -> ParseError {
        self.path.reverse();
        let mut place = locate(text, &self.path);
        while place.is_none() && self.path.pop().is_some() {
            place = locate(text, &self.path);
        }
        ParseError::new(self.code, place.unwrap_or((1, 1)), &self.message)
    }
}

impl ParseError {
    /// The error of reading this text. An array that is too long, or another type in place of a name, is a wrong value
    /// (`F003`), although serde takes it for broken JSON.
    pub(super) fn of_text(error: serde_json::Error, text: &str) -> Self {
        let error = Self::from(error);
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let code = if error.code == FormatCode::F001 && is_json() { FormatCode::F003 } else { error.code };
        Self { code, ..error }
    }
}

impl From<serde_json::Error> for ParseError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let mut message = error.to_string();
        let place = format!(" at line {line} column {column}");
        if let Some(bare) = message.strip_suffix(&place) {
            message.truncate(bare.len());
        }
        if let Some(meant) = meant(&message) {
            message = meant;
        }
        for (rust, plain) in IN_PLAIN_WORDS {
            message = message.replace(rust, plain);
        }
        // Only serde's wording distinguishes a wrong key from a wrong value.
        let about_key = ["unknown field `", "missing field `", "duplicate field `"];
        let code = match error.classify() {
            serde_json::error::Category::Data if about_key.iter().any(|words| message.starts_with(words)) => {
                FormatCode::F002
            }
            serde_json::error::Category::Data => FormatCode::F003,
            _ => FormatCode::F001,
        };
        Self::new(code, (line.max(1), column.max(1)), &message)
    }
}

/// For a wrong name that is another but for case, `-` and `_`: the right one.
fn meant(message: &str) -> Option<String> {
    let (wrong, names) = message.strip_prefix("unknown variant `")?.split_once("`, expected ")?;
    let bare =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let right = names.split('`').skip(1).step_by(2).find(|name| bare(name) == bare(wrong))?;
    Some(format!("unknown name `{wrong}`; did you mean `{right}`?"))
}

/// Serde's terms, and those of JSON.
const IN_PLAIN_WORDS: [(&str, &str); 7] = [
    ("unknown variant", "unknown name"),
    ("expected a nonzero u32", "expected an integer of at least 1 and at most 4294967295"),
    ("expected u32", "expected an integer from 0 to 4294967295"),
    ("expected u64", "expected an integer that is not negative"),
    ("invalid type: sequence", "invalid type: array"),
    ("invalid type: map", "invalid type: object"),
    ("expected a sequence", "expected an array, such as [4, 4]"),
];
