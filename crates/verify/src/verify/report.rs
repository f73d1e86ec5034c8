//! What the verifier found: the first findings in order, and complete totals.

use std::collections::BinaryHeap;
use std::fmt;

use super::{Code, Peak, Sums, Trace};
use collsynth_core::collective::ChunkId;
use collsynth_core::topology::RankId;

/// One violation or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind it is.
    pub code: Code,
    /// The step, numbered from 1, if it happens in one.
    pub step: Option<u32>,
    /// The transfer, counted from 0 within its step.
    pub transfer: Option<usize>,
    /// The chunk's place, counted from 0 within the transfer.
    pub chunk_index: Option<usize>,
    /// The sender.
    pub from: Option<RankId>,
    /// The receiver; for what is missing at the end, the rank that misses it.
    pub to: Option<RankId>,
    /// The chunk.
    pub chunk: Option<ChunkId>,
    /// A complete sentence, with coordinates and the cause.
    pub message: String,
    /// How many later moves carry what this violation spoilt, plus how many ranks end up with it or without what they
    /// need because of it. They are not reported on their own.
    pub consequences: u64,
    /// For D001 and D002: where the chunk is instead.
    pub trace: Option<Trace>,
}

/// The code and the sentence, and on a line of its own how far a lacked chunk came.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.trace {
            Some(trace) => write!(f, "\n    {}", trace.text),
            None => Ok(()),
        }
    }
}

/// The verdict on a schedule.
///
/// Findings stand in the order of (step, transfer, chunk); what is missing at the end comes last, then certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first violations, at most [`max_errors`](super::Options::max_errors).
    pub violations: Vec<Finding>,
    /// The first warnings, at most as many again.
    pub warnings: Vec<Finding>,
    /// What the run has shown; `None` if there is a violation.
    pub observed: Option<Observed>,
    /// One entry per code, in the order of [`Code::ALL`].
    totals: Vec<u64>,
}

/// What running a schedule that holds has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The most chunks a rank holds at a time: the room it needs, its input and its output among it.
    pub held: Peak,
    /// How sums come about, if anything is added on the way.
    pub sums: Option<Sums>,
}

impl Report {
    /// True if there is no violation; warnings do no harm.
    pub fn holds(&self) -> bool {
        self.violation_count() == 0
    }

    /// How often each code that occurs was found, the findings not kept included, in the order of [`Code::ALL`].
    pub fn totals(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        Code::ALL.iter().copied().zip(self.totals.iter().copied()).filter(|&(_, total)| total > 0)
    }

    /// The number of violations, those not kept included.
    pub fn violation_count(&self) -> u64 {
        self.totals().filter(|(code, _)| !code.is_warning()).map(|(_, total)| total).sum()
    }

    /// The number of warnings, those not kept included.
    pub fn warning_count(&self) -> u64 {
        self.totals().filter(|(code, _)| code.is_warning()).map(|(_, total)| total).sum()
    }
}

/// Where a finding stands in the report. Places sort in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A step as a whole, a transfer as a whole (counted through the whole schedule), or one chunk of it.
    InStep { step: u32, transfer: Option<usize>, chunk: Option<ChunkId> },
    /// After the last step: a chunk, at a rank.
    AtEnd { chunk: ChunkId, rank: RankId },
    /// The problem, then the bounds.
    Overall { order: u8 },
}

/// Collects findings in any order, keeps the first ones and counts them all.
pub(super) struct Ledger {
    limit: usize,
    violations: BinaryHeap<Kept>,
    warnings: BinaryHeap<Kept>,
    totals: Vec<u64>,
}

struct Kept {
    /// The index in the transfer tells repetitions of one chunk apart.
    key: (Place, Code, Option<usize>),
    finding: Finding,
}

impl Ledger {
    pub(super) fn new(limit: usize) -> Self {
        let totals = vec![0; Code::ALL.len()];
        Self { limit, violations: BinaryHeap::new(), warnings: BinaryHeap::new(), totals }
    }

    /// Counts a finding, and keeps it if it is among the first so far. It is only made if it is kept.
    pub(super) fn add(&mut self, code: Code, place: Place, finding: impl FnOnce() -> Finding) {
        if self.count(code, place) {
            self.keep(place, finding());
        }
    }

    /// Counts a finding. True if one at this place is to be kept. Findings of one code at one place must come in the
    /// order of their chunk indices.
    pub(super) fn count(&mut self, code: Code, place: Place) -> bool {
        self.totals[code as usize] += 1;
        let kept = if code.is_warning() { &self.warnings } else { &self.violations };
        kept.len() < self.limit || kept.peek().is_some_and(|last| (place, code) < (last.key.0, last.key.1))
    }

    /// Keeps a finding that was counted, and drops the last one if there are now too many.
    pub(super) fn keep(&mut self, place: Place, finding: Finding) {
        let key = (place, finding.code, finding.chunk_index);
        let kept = if finding.code.is_warning() { &mut self.warnings } else { &mut self.violations };
        kept.push(Kept { key, finding });
        if kept.len() > self.limit {
            kept.pop();
        }
    }

    /// The report. `spoilt` gives the consequences of a transfer that a rank or link refused.
    pub(super) fn into_report(self, spoilt: impl Fn(usize) -> u64, observed: Option<Observed>) -> Report {
        let sorted = |kept: BinaryHeap<Kept>| {
            let findings = kept.into_sorted_vec().into_iter().map(|Kept { key, finding }| match key {
                (Place::InStep { transfer: Some(transfer), .. }, Code::T001 | Code::T002 | Code::T003, _) => {
                    Finding { consequences: spoilt(transfer), ..finding }
                }
                _ => finding,
            });
            findings.collect()
        };
        let (violations, warnings) = (sorted(self.violations), sorted(self.warnings));
        let mut report = Report { violations, warnings, observed: None, totals: self.totals };
        report.observed = observed.filter(|_| report.holds());
        report
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Kept {}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}
