//! The first facts, and complete totals.

use std::collections::BTreeMap;

use super::fact::Fact;
use super::memory::Memory;
use super::report::{AuditReport, ProgramViolation};
use crate::audit::facts::code::ProgramCode;

/// Collects facts in the order found, keeps the first ones and counts all.
pub(in crate::audit) struct Ledger {
    limit: usize,
    kept: Vec<(ProgramCode, Option<usize>, Fact)>,
    totals: BTreeMap<ProgramCode, u64>,
    /// What the audit may still take.
    pub(in crate::audit) memory: Memory,
}

impl Ledger {
    pub(in crate::audit) fn new(limit: usize, memory: u64) -> Self {
        Self { limit, kept: Vec::new(), totals: BTreeMap::new(), memory: Memory::new(memory) }
    }

    /// Adds a violation, with its operation if it is about one; its data are made only if it is kept.
    pub(in crate::audit) fn add(&mut self, code: ProgramCode, operation: Option<usize>, fact: impl FnOnce() -> Fact) {
        *self.totals.entry(code).or_default() += 1;
        if self.kept.len() < self.limit {
            self.kept.push((code, operation, fact()));
        }
    }

    /// The number of violations so far.
    pub(in crate::audit) fn count(&self) -> u64 {
        self.totals.values().sum()
    }

    /// The report. `sentence` puts facts into words; it does not change what is counted.
    pub(in crate::audit) fn into_report(self, sentence: impl Fn(Option<usize>, &Fact) -> String) -> AuditReport {
        let violation = |(code, operation, fact)| {
            let message = sentence(operation, &fact);
            ProgramViolation { code, operation, message }
        };
        AuditReport::new(self.kept.into_iter().map(violation).collect(), self.totals, self.memory.exceeded())
    }
}
