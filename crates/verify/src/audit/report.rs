//! What the audit found.

use std::collections::BTreeMap;
use std::fmt;

use super::Code;

/// A violation and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of violation.
    pub code: Code,
    /// The operation it is about, among all operations of the program, if it is about one.
    pub operation: Option<usize>,
    /// What is wrong, in words.
    pub message: String,
}

/// The code and the sentence.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// What the audit says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first violations.
    pub violations: Vec<Finding>,
    totals: BTreeMap<Code, u64>,
    max_errors: usize,
}

impl Report {
    pub(super) fn new(max_errors: usize) -> Self {
        Self { violations: Vec::new(), totals: BTreeMap::new(), max_errors }
    }

    /// Adds a violation; the words are made only if it is listed.
    pub(super) fn add(&mut self, code: Code, operation: Option<usize>, words: impl FnOnce() -> String) {
        *self.totals.entry(code).or_default() += 1;
        if self.violations.len() < self.max_errors {
            self.violations.push(Finding { code, operation, message: words() });
        }
    }

    /// True if the program does what its collective asks.
    pub fn holds(&self) -> bool {
        self.totals.is_empty()
    }

    /// How many violations of each code there are, listed or not.
    pub fn totals(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.totals.iter().map(|(&code, &total)| (code, total))
    }

    /// How many violations there are.
    pub fn violation_count(&self) -> u64 {
        self.totals.values().sum()
    }
}
