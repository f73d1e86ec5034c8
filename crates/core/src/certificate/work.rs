//! How much work checking bounds may take: a few words of evidence can ask for years of searching.

use super::CertificateError;
use crate::topology::Topology;

/// The most steps that checking the bounds of a file may take, a few seconds of work. Steps are counted, not timed, so
/// that every machine gives the same verdict: a step is a link that is followed or a rank that is looked at; putting a
/// rank in a queue counts as 16 steps, a pair of parts of a tree as one.
pub const MOST_STEPS: u64 = 1 << 32;

/// The steps that it takes to put a rank in a queue by its distance, and to take it out.
pub(super) const QUEUED: u64 = 16;

/// The work that is left for bounds still to be checked.
#[derive(Debug)]
pub struct Work {
    left: u64,
}

impl Default for Work {
    /// All that checking the bounds of a file may take.
    fn default() -> Self {
        Self { left: MOST_STEPS }
    }
}

impl Work {
    /// The steps that are left.
    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Takes some steps.
    pub(super) fn take(&mut self, steps: u64) -> Result<(), CertificateError> {
        let is_left = steps <= self.left;
        self.left = self.left.saturating_sub(steps);
        if is_left { Ok(()) } else { Err(CertificateError::TooMuchWork { most: MOST_STEPS }) }
    }

    /// Takes some steps a number of times.
    pub(super) fn take_times(&mut self, steps: u64, times: u64) -> Result<(), CertificateError> {
        self.take(steps.saturating_mul(times))
    }
}

/// The steps it takes to look at every rank and every link.
pub(super) fn size(topology: &Topology) -> u64 {
    topology.rank_count().saturating_add(topology.links().len()) as u64
}
