//! What the audit found: violations in words, and complete totals, which alone decide.

use std::collections::BTreeMap;
use std::fmt;

use super::ProgramCode;

/// A violation and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramViolation {
    /// What kind of violation.
    pub code: ProgramCode,
    /// The operation it is about, among all operations of the program, if it is about one.
    pub operation: Option<usize>,
    /// What is wrong, in words.
    pub message: String,
}

/// The code and the sentence.
impl fmt::Display for ProgramViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// What the audit says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// The first violations.
    pub violations: Vec<ProgramViolation>,
    totals: BTreeMap<ProgramCode, u64>,
}

impl AuditReport {
    pub(super) fn new(violations: Vec<ProgramViolation>, totals: BTreeMap<ProgramCode, u64>) -> Self {
        Self { violations, totals }
    }

    /// True if the program does what its collective asks.
    pub fn holds(&self) -> bool {
        self.totals.is_empty()
    }

    /// How many violations of each code there are, listed or not.
    pub fn totals(&self) -> impl Iterator<Item = (ProgramCode, u64)> + '_ {
        self.totals.iter().map(|(&code, &total)| (code, total))
    }

    /// How many violations there are.
    pub fn violation_count(&self) -> u64 {
        self.totals.values().sum()
    }
}
