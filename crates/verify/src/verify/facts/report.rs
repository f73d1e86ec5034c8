//! The verdict: findings in order, and complete totals, which alone decide.

use super::finding::Finding;
use crate::verdict::{NotJudged, Verdict};
use crate::verify::facts::code::Code;
use collsynth_core::topology::RankId;

/// The verdict on a schedule.
///
/// Findings are ordered by (step, transfer, chunk); then come chunks missing at the end, then certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first violations, at most [`max_errors`](crate::verify::options::Options::max_errors).
    pub violations: Vec<Finding>,
    /// The first warnings, at most as many again.
    pub warnings: Vec<Finding>,
    /// What the run showed; `None` if there is a violation.
    pub observed: Option<Observed>,
    /// One entry per code, in the order of [`Code::ALL`].
    totals: Vec<u64>,
    /// The bytes that were allowed, if they were not enough.
    exceeded: Option<u64>,
}

/// What running a schedule that holds showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The most chunks a rank holds at a time: the room it needs, input and output included.
    pub held: Peak,
    /// How sums are formed, if anything is added on the way.
    pub sums: Option<Sums>,
}

/// How the sums of a schedule are formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Chunks whose contributions are added and that some rank ends with.
    pub chunks: u32,
    /// How many of them every rank that ends with them adds in the same order: bitwise the same there.
    pub alike: u32,
    /// The number of different orders over all chunks and ranks. If 1, an element's bits do not depend on its part.
    pub orders: u32,
    /// The most additions a contribution goes through: the rounding error grows with it.
    pub depth: u32,
    /// The order of the first chunk at the first rank that ends with it: ranks added from left to right, as in
    /// `0+1+(2+3)`.
    pub first: String,
}

/// The most chunks any rank holds at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The number of chunks.
    pub chunks: u64,
    /// The lowest rank that holds that many.
    pub rank: RankId,
    /// The first step in which it does; `None`: at the start.
    pub step: Option<u32>,
}

impl Report {
    /// `totals` has an entry per code; `observed` is dropped if there is a violation.
    pub(in crate::verify) fn new(
        violations: Vec<Finding>,
        warnings: Vec<Finding>,
        totals: Vec<u64>,
        observed: Option<Observed>,
        exceeded: Option<u64>,
    ) -> Self {
        let mut report = Self { violations, warnings, observed: None, totals, exceeded };
        report.observed = observed.filter(|_| report.verdict() == Verdict::Holds);
        report
    }

    /// The verdict; warnings do not matter, and a bound that was not checked (`C002`) refutes nothing.
    pub fn verdict(&self) -> Verdict {
        let is_refuted = self.violation_count() > self.unchecked();
        Verdict::new(is_refuted, self.exceeded.is_some() || self.unchecked() > 0)
    }

    /// Why the schedule was neither vouched for nor refuted, if so: judging it takes more memory than allowed, or a
    /// bound more work.
    pub fn why_not_judged(&self) -> Option<NotJudged> {
        let bound = || self.violations.first().map_or("a bound takes too long to check", |bound| &bound.message[..]);
        (self.verdict() == Verdict::NotJudged).then(|| match self.exceeded {
            Some(most) => NotJudged::of_memory(most),
            None => NotJudged::of_bound(Code::C002.to_string(), bound()),
        })
    }

    fn unchecked(&self) -> u64 {
        self.totals[Code::C002 as usize]
    }

    /// The number of findings, kept or not, of each code that occurs, in the order of [`Code::ALL`].
    pub fn totals(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        Code::ALL.iter().copied().zip(self.totals.iter().copied()).filter(|&(_, total)| total > 0)
    }

    /// The number of violations, kept or not.
    pub fn violation_count(&self) -> u64 {
        self.totals().filter(|(code, _)| !code.is_warning()).map(|(_, total)| total).sum()
    }

    /// The number of warnings, kept or not.
    pub fn warning_count(&self) -> u64 {
        self.totals().filter(|(code, _)| code.is_warning()).map(|(_, total)| total).sum()
    }
}
