//! Reading JSON values: keys, types and ranges, with the codes of what does not fit.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Integers are below this unless stated otherwise.
pub const INTEGERS: u64 = 1 << 32;

/// Stands before the digits of a whole number of 2^64 or more, kept as a text because a [`Value`] cannot hold it.
const BEYOND: char = '@';

/// A whole number of 2^64 or more, by its digits.
pub fn number_beyond(digits: &str) -> Value {
    Value::String(format!("{BEYOND}{digits}"))
}

/// The digits of a [`number_beyond`].
pub fn beyond(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix(BEYOND)
}

/// A text.
pub fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.starts_with(BEYOND))
}

/// A file as it is written.
pub fn to_text(file: &Value) -> String {
    let written = file.to_string();
    let mark = format!("\"{BEYOND}");
    let mut pieces = written.split(&mark);
    let first = pieces.next().unwrap_or_default().to_string();
    pieces.fold(first, |all, piece| all + &piece.replacen('"', "", 1))
}

/// A file as it stands, with every [`number_beyond`].
pub fn from_text(text: &str) -> Option<Value> {
    let mut marked = String::new();
    let (mut quoted, mut escaped, mut rest) = (false, false, text);
    while let Some(letter) = rest.chars().next() {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        if !quoted && digits > 0 {
            let (number, after) = rest.split_at(digits);
            let whole = !after.starts_with(['.', 'e', 'E']) && !marked.ends_with(['-', '.', 'e', 'E', '+']);
            match whole && number.parse::<u64>().is_err() {
                true => marked += &format!("\"{BEYOND}{number}\""),
                false => marked += number,
            }
            rest = after;
            continue;
        }
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        marked.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    serde_json::from_str(&marked).ok()
}

/// What was found wrong so far.
///
/// A file may be wrong in several ways, and the documents do not say which is reported first. So all codes that apply
/// are collected, and a judge that refuses the file may name any of them.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The codes, `F002` to `F009`.
    pub codes: BTreeSet<&'static str>,
    /// A fault hides a part of the file, which may have faults of its own.
    pub more: bool,
    /// The machine or the collective is larger than a naive judge can take.
    pub large: bool,
}

impl Faults {
    /// Notes a code.
    pub fn note<T>(&mut self, code: &'static str) -> Option<T> {
        self.codes.insert(code);
        None
    }

    /// An object with no keys but `required` and `optional`, and all of `required`.
    pub fn object<'v>(
        &mut self,
        value: &'v Value,
        required: &[&str],
        optional: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let Value::Object(object) = value else { return self.note("F003") };
        let known = |key: &str| required.contains(&key) || optional.contains(&key);
        if object.keys().any(|key| !known(key)) || required.iter().any(|&key| !object.contains_key(key)) {
            self.note::<()>("F002");
        }
        Some(object)
    }

    /// A list.
    pub fn list<'v>(&mut self, value: &'v Value) -> Option<&'v [Value]> {
        match value {
            Value::Array(list) => Some(list),
            _ => self.note("F003"),
        }
    }

    /// An integer of at least `least` and below 2^32; `code` if it is less.
    pub fn integer(&mut self, value: &Value, least: u64, code: &'static str) -> Option<u64> {
        match value.as_u64() {
            Some(number) if number >= INTEGERS => self.note("F003"),
            Some(number) if number < least => self.note(code),
            Some(number) => Some(number),
            None => self.note("F003"),
        }
    }

    /// An integer, or its default.
    pub fn integer_or(&mut self, value: Option<&Value>, least: u64, default: u64) -> Option<u64> {
        value.map_or(Some(default), |value| self.integer(value, least, "F003"))
    }

    /// True or false, or the default.
    pub fn flag_or(&mut self, value: Option<&Value>, default: bool) -> Option<bool> {
        match value {
            None => Some(default),
            Some(Value::Bool(flag)) => Some(*flag),
            Some(_) => self.note("F003"),
        }
    }

    /// A text.
    pub fn text<'v>(&mut self, value: &'v Value) -> Option<&'v str> {
        text(value).map_or_else(|| self.note("F003"), Some)
    }

    /// The `origin` of a file: texts and a seed below 2^64.
    pub fn origin(&mut self, value: &Value) {
        let Some(origin) = self.object(value, &[], &["tool", "planner", "command", "seed"]) else { return };
        for (key, value) in origin {
            if if key == "seed" { !value.is_u64() } else { text(value).is_none() } {
                self.note::<()>("F003");
            }
        }
    }
}

/// A number in a text: digits, without sign, below 2^32; zeros in front mean nothing.
pub fn digits(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { format!("0{}", text.trim_start_matches('0')) } else { return None };
    number.parse().ok().filter(|&number| number < INTEGERS)
}
