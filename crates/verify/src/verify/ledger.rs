//! The first facts in the order of the report, and complete totals.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::fact::{Data, Fact, Place};
use super::report::{Observed, Report};
use super::{Code, Finding};

/// Collects facts in any order, keeps the first ones and counts all.
pub(super) struct Ledger {
    limit: usize,
    violations: BinaryHeap<Kept>,
    warnings: BinaryHeap<Kept>,
    totals: Vec<u64>,
}

impl Ledger {
    pub(super) fn new(limit: usize) -> Self {
        let totals = vec![0; Code::ALL.len()];
        Self { limit, violations: BinaryHeap::new(), warnings: BinaryHeap::new(), totals }
    }

    /// Counts a fact, and keeps it if it is among the first so far. Its data are made only if it is kept.
    pub(super) fn add(&mut self, code: Code, place: Place, data: impl FnOnce() -> Data) {
        if self.count(code, place) {
            self.keep(Fact { code, place, data: data(), consequences: 0 });
        }
    }

    /// Counts a fact; true if it is to be kept. Facts with the same code and place must come in the order of their
    /// indices.
    pub(super) fn count(&mut self, code: Code, place: Place) -> bool {
        self.totals[code as usize] += 1;
        let kept = if code.is_warning() { &self.warnings } else { &self.violations };
        kept.len() < self.limit || kept.peek().is_some_and(|Kept(last)| (place, code) < (last.place, last.code))
    }

    /// Keeps a counted fact, and drops the last one if there are too many.
    pub(super) fn keep(&mut self, fact: Fact) {
        let kept = if fact.code.is_warning() { &mut self.warnings } else { &mut self.violations };
        kept.push(Kept(fact));
        if kept.len() > self.limit {
            kept.pop();
        }
    }

    /// The report. `spoiled` has the consequences of each transfer without a link, `finding` makes sentences; neither
    /// changes what is counted.
    pub(super) fn into_report(
        self,
        spoiled: &[u64],
        observed: Option<Observed>,
        finding: impl Fn(Fact) -> Finding,
    ) -> Report {
        let sorted = |kept: BinaryHeap<Kept>| -> Vec<Finding> {
            let facts = kept.into_sorted_vec().into_iter().map(|Kept(mut fact)| {
                if let (Place::InStep { transfer: Some(transfer), .. }, Code::T001 | Code::T002 | Code::T003) =
                    (fact.place, fact.code)
                {
                    fact.consequences = spoiled.get(transfer).copied().unwrap_or(0);
                }
                finding(fact)
            });
            facts.collect()
        };
        Report::new(sorted(self.violations), sorted(self.warnings), self.totals, observed)
    }
}

/// Sorts as facts stand in the report.
struct Kept(Fact);

impl Kept {
    /// The index in the transfer tells repetitions of one chunk apart.
    fn key(&self) -> (Place, Code, Option<usize>) {
        let index = if let Data::Index(index) = self.0.data { Some(index) } else { None };
        (self.0.place, self.0.code, index)
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Kept {}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
