//! What the audit found: violations in words, and complete totals, which alone decide.

use std::collections::BTreeMap;
use std::fmt;

use crate::audit::facts::code::ProgramCode;
use crate::verdict::{NotJudged, Verdict};

/// A violation and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramViolation {
    /// Its kind.
    pub code: ProgramCode,
    /// The operation it is about, if any, among all operations of the program.
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

/// The audit's verdict on a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// The first violations.
    pub violations: Vec<ProgramViolation>,
    totals: BTreeMap<ProgramCode, u64>,
    exceeded: Option<u64>,
}

impl AuditReport {
    pub(in crate::audit) fn new(
        violations: Vec<ProgramViolation>,
        totals: BTreeMap<ProgramCode, u64>,
        exceeded: Option<u64>,
    ) -> Self {
        Self { violations, totals, exceeded }
    }

    /// The verdict: does the program do what its collective asks?
    pub fn verdict(&self) -> Verdict {
        Verdict::new(!self.totals.is_empty(), self.exceeded.is_some())
    }

    /// Why the program was neither vouched for nor refuted, if so: judging it takes more memory than allowed.
    pub fn why_not_judged(&self) -> Option<NotJudged> {
        self.exceeded.filter(|_| self.verdict() == Verdict::NotJudged).map(NotJudged::of_memory)
    }

    /// The number of violations, listed or not, of each code that occurs.
    pub fn totals(&self) -> impl Iterator<Item = (ProgramCode, u64)> + '_ {
        self.totals.iter().map(|(&code, &total)| (code, total))
    }

    /// The number of violations, listed or not.
    pub fn violation_count(&self) -> u64 {
        self.totals.values().sum()
    }
}
