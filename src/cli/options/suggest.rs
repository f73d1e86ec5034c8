//! What was meant by a word that is none of those that can be typed.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error, ValueEnum};

/// Names of types, collectives, formats and algorithms elsewhere, and ours.
const ELSEWHERE: [(&str, &str); 27] = [
    ("float", "f32"),
    ("float32", "f32"),
    ("fp32", "f32"),
    ("double", "f64"),
    ("float64", "f64"),
    ("fp64", "f64"),
    ("half", "f16"),
    ("float16", "f16"),
    ("fp16", "f16"),
    ("bfloat16", "bf16"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("uint8", "u8"),
    ("bcast", "broadcast"),
    ("a2a", "all_to_all"),
    ("psum", "all_reduce"),
    ("psumscatter", "reduce_scatter"),
    ("pmean", "all_reduce"),
    ("pbroadcast", "broadcast"),
    ("nccl", "msccl"),
    ("xml", "msccl"),
    ("chrome", "trace"),
    ("loggopsim", "goal"),
    ("astrasim", "chakra"),
    ("et", "chakra"),
    ("halfringdimrotation", "dim_rotation"),
    ("foldedringdimrotation", "folded_ring"),
];

/// Mistyped letters of a word that is taken for another.
const MOST_TYPOS: usize = 2;

/// The one of `names` that a word is, in any case and with `-`, `_` or nothing between its parts: `AllReduce`,
/// `all-reduce` and `allreduce` are all_reduce.
pub fn spelled<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let wanted = bare(word);
    names.iter().find(|name| bare(name) == wanted).copied()
}

/// The one of `names` that a word probably means: another spelling of it, a name used elsewhere, or few letters off.
pub fn meant<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let wanted = bare(word);
    let known = || {
        let (_, ours) = ELSEWHERE.iter().find(|(theirs, _)| *theirs == wanted)?;
        names.iter().find(|name| *name == ours)
    };
    let typed = || {
        let near = names.iter().map(|name| (distance(&wanted, &bare(name)), name));
        near.filter(|(typos, name)| *typos <= MOST_TYPOS && 2 * typos < name.len().min(wanted.len()))
            .min_by_key(|(typos, _)| *typos)
    };
    spelled(word, names).or_else(|| known().or_else(|| typed().map(|(_, name)| name)).copied())
}

/// Letters and digits alone, in lower case.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `; did you mean all_gather?`, or nothing.
pub fn did_you_mean(word: &str, names: &[&str]) -> String {
    meant(word, names).map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// One of some names, for clap, in any [spelling](spelled): a wrong one is answered with the one it probably means, or
/// with all of them.
#[derive(Clone)]
pub struct OneOf {
    what: &'static str,
    names: Vec<&'static str>,
    /// The command that lists them.
    listed_by: Option<&'static str>,
}

impl OneOf {
    /// These names of a `what`.
    pub fn new(what: &'static str, names: Vec<&'static str>) -> Self {
        Self { what, names, listed_by: None }
    }

    /// The same, where a command says what each of them does.
    pub fn listed_by(self, command: &'static str) -> Self {
        Self { listed_by: Some(command), ..self }
    }
}

impl TypedValueParser for OneOf {
    type Value = String;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let word = value.to_string_lossy();
        if let Some(name) = spelled(&word, &self.names) {
            return Ok(name.to_owned());
        }
        let meant = did_you_mean(&word, &self.names);
        let known = match self.listed_by {
            Some(command) => format!("{meant}\nhint: `{command}` lists them, and says what each of them does"),
            None if meant.is_empty() => format!("; there are {}", self.names.join(", ")),
            None => meant,
        };
        let message = format!("no {} is called `{word}`{known}\n", self.what);
        Err(Error::raw(ErrorKind::ValueValidation, message).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// A value of an enumeration, for clap, in any [spelling](spelled).
#[derive(Clone)]
pub struct Spelled<T>(PhantomData<T>);

impl<T> Default for Spelled<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Spelled<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, option: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let names: Vec<PossibleValue> = T::value_variants().iter().filter_map(T::to_possible_value).collect();
        let name = named(&value.to_string_lossy(), &names);
        EnumValueParser::<T>::new().parse_ref(command, option, OsStr::new(&name))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(T::value_variants().iter().filter_map(T::to_possible_value)))
    }
}

/// A value as it is named, where it is one of some names or of their aliases, in any spelling.
pub fn named(value: &str, names: &[PossibleValue]) -> String {
    let wanted = bare(value);
    let found = names.iter().find(|name| name.get_name_and_aliases().any(|alias| bare(alias) == wanted));
    found.map_or(value, PossibleValue::get_name).to_owned()
}

/// Letters to insert, remove or replace (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in b.iter().enumerate() {
            let replaced = before + usize::from(letter != *other);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_recognized() {
        let names = ["all_to_all", "all_gather", "all_reduce", "broadcast", "reduce", "f32", "f16", "bf16", "u8"];
        let meant = |word| meant(word, &names);
        assert_eq!(meant("allreduce"), Some("all_reduce"));
        assert_eq!(meant("all-gather"), Some("all_gather"));
        assert_eq!(meant("AllToAll"), Some("all_to_all"));
        assert_eq!(meant("brodcast"), Some("broadcast"));
        assert_eq!(meant("bcast"), Some("broadcast"));
        assert_eq!((meant("fp16"), meant("float32"), meant("bfloat16")), (Some("f16"), Some("f32"), Some("bf16")));
        assert_eq!((meant("everything"), meant(""), meant("x9")), (None, None, None));
    }
}
