//! The first facts in the order of the report, and complete totals.

use std::collections::BTreeMap;

use super::fact::{Data, Fact, Place};
use super::finding::Finding;
use super::report::{Observed, Report};
use crate::verify::facts::code::Code;
use collsynth_core::collective::{ChunkId, ChunkSet};

/// Collects facts in any order, keeps the first ones and counts all.
pub(in crate::verify) struct Ledger {
    limit: usize,
    violations: BTreeMap<Key, Fact>,
    warnings: BTreeMap<Key, Fact>,
    /// Facts kept so far, those dropped since included.
    kept: u64,
    totals: Vec<u64>,
    marks: Option<Marks>,
    memory: u64,
    exceeded: bool,
}

/// What any fact concerns, kept or not.
pub(in crate::verify) struct Marks {
    pub(in crate::verify) chunks: ChunkSet,
    /// Transfers as a whole.
    pub(in crate::verify) transfers: Vec<bool>,
    /// The whole schedule.
    pub(in crate::verify) all: bool,
}

/// Sorts as facts stand in the report; a running number tells those with the same code and place apart.
type Key = (Place, Code, u64);

impl Ledger {
    pub(in crate::verify) fn new(limit: usize, memory: u64) -> Self {
        Self {
            limit,
            violations: BTreeMap::new(),
            warnings: BTreeMap::new(),
            kept: 0,
            totals: vec![0; Code::ALL.len()],
            marks: None,
            memory,
            exceeded: false,
        }
    }

    /// Keeps no fact, but marks which of these chunks and transfers some fact concerns.
    pub(in crate::verify) fn marking(chunks: u32, transfers: usize, memory: u64) -> Self {
        let marks = Marks { chunks: ChunkSet::new(chunks as usize), transfers: vec![false; transfers], all: false };
        Self { marks: Some(marks), ..Self::new(0, memory) }
    }

    /// What facts concern; `None` if the ledger does not mark that, or memory was exceeded.
    pub(in crate::verify) fn into_marks(self) -> Option<Marks> {
        self.marks.filter(|_| !self.exceeded)
    }

    /// Does this number of bytes stay within the limit? If not, the schedule is not judged.
    pub(in crate::verify) fn fits(&mut self, bytes: u64) -> bool {
        self.exceeded |= bytes > self.memory;
        !self.exceeded
    }

    /// More than the limit is needed, so the schedule is not judged.
    pub(in crate::verify) fn exceed(&mut self) {
        self.exceeded = true;
    }

    /// Counts a fact, and keeps it if it is among the first so far. Its data are made only if it is kept.
    pub(in crate::verify) fn add(&mut self, code: Code, place: Place, data: impl FnOnce() -> Data) {
        if self.count(code, place) {
            self.keep(Fact { code, place, data: data(), consequences: 0 });
        }
    }

    /// Counts a fact; true if it is to be kept. Facts with the same code and place must come in the order of their
    /// indices.
    pub(in crate::verify) fn count(&mut self, code: Code, place: Place) -> bool {
        self.totals[code as usize] += 1;
        if let Some(marks) = &mut self.marks {
            marks.add(place);
            return false;
        }
        let kept = if code.is_warning() { &self.warnings } else { &self.violations };
        kept.len() < self.limit || kept.last_key_value().is_some_and(|(last, _)| (place, code) < (last.0, last.1))
    }

    /// Marks a chunk of which nothing is wrong, but of whose translations something may be.
    pub(in crate::verify) fn suspect(&mut self, chunk: ChunkId) {
        self.marks.iter_mut().for_each(|marks| _ = marks.chunks.insert(chunk));
    }

    /// Keeps a counted fact, and drops the last one if there are too many.
    pub(in crate::verify) fn keep(&mut self, fact: Fact) {
        let kept = if fact.code.is_warning() { &mut self.warnings } else { &mut self.violations };
        self.kept += 1;
        kept.insert((fact.place, fact.code, self.kept), fact);
        if kept.len() > self.limit {
            kept.pop_last();
        }
    }

    /// The report. `spoiled` has the consequences of each transfer without a link, `finding` makes sentences; neither
    /// changes what is counted.
    pub(in crate::verify) fn into_report(
        self,
        spoiled: &[u64],
        observed: Option<Observed>,
        finding: impl Fn(Fact) -> Finding,
    ) -> Report {
        let findings = |kept: BTreeMap<Key, Fact>| -> Vec<Finding> {
            let findings = kept.into_values().map(|mut fact| {
                if let (Place::InStep { transfer: Some(transfer), .. }, Code::T001 | Code::T002 | Code::T003) =
                    (fact.place, fact.code)
                {
                    fact.consequences = spoiled.get(transfer).copied().unwrap_or(0);
                }
                finding(fact)
            });
            findings.collect()
        };
        let exceeded = self.exceeded.then_some(self.memory);
        Report::new(findings(self.violations), findings(self.warnings), self.totals, observed, exceeded)
    }
}

impl Marks {
    fn add(&mut self, place: Place) {
        match place {
            Place::InStep { chunk: Some(chunk), .. } | Place::AtEnd { chunk, .. } => {
                self.chunks.insert(chunk);
            }
            Place::InStep { transfer: Some(transfer), .. } => self.transfers[transfer] = true,
            // An idle step concerns no chunk.
            Place::InStep { .. } => {}
            Place::Schedule | Place::StepsBound | Place::VolumeBound | Place::JointBounds => self.all = true,
        }
    }
}
