//! Audited programs.

use std::fmt;
use std::ops::Deref;

use super::audit;
use super::facts::report::AuditReport;
use super::options::AuditOptions;
use crate::verdict::Verdict;
use collsynth_core::program::Program;

/// A rank program that passed the audit. It is read-only and only the audit makes one, so it never needs checking
/// again.
#[derive(Clone, Debug)]
pub struct AuditedProgram {
    program: Program,
}

/// A program that is refuted or was not judged, returned with the report.
#[derive(Clone, Debug)]
pub struct RefutedProgram {
    /// The program.
    pub program: Program,
    /// Why.
    pub report: AuditReport,
}

impl AuditedProgram {
    /// Judges a program; see [`audit`].
    ///
    /// # Errors
    ///
    /// [`RefutedProgram`] if it does not hold.
    pub fn new(program: Program, options: &AuditOptions<'_>) -> Result<Self, Box<RefutedProgram>> {
        let report = audit(&program, options);
        match report.verdict() {
            Verdict::Holds => Ok(Self { program }),
            Verdict::Refuted | Verdict::NotJudged => Err(Box::new(RefutedProgram { program, report })),
        }
    }
}

impl Deref for AuditedProgram {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl fmt::Display for RefutedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = self.report.why_not_judged() {
            return write!(f, "the program is {why}");
        }
        let (count, s) = (self.report.violation_count(), if self.report.violation_count() == 1 { "" } else { "s" });
        write!(f, "the program has {count} violation{s}")?;
        match self.report.violations.first() {
            Some(first) => write!(f, "; the first: {} {}", first.code, first.message),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RefutedProgram {}
