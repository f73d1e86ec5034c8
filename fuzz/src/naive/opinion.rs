//! What a naive judge says of a file.

use std::collections::{BTreeMap, BTreeSet};

use super::reader::Faults;

/// What a naive judge says of a file.
#[derive(Clone, Debug, Default)]
pub struct Opinion {
    /// The file cannot be read: a judge must name one of these codes. Empty: it can be read.
    pub unreadable: BTreeSet<&'static str>,
    /// The file cannot be read, and may have further faults that were not looked for.
    pub more: bool,
    /// How often each code of a violation or warning applies.
    pub counts: BTreeMap<&'static str, usize>,
    /// Codes for which the documents leave the number open: compared is whether they are given.
    pub open: BTreeSet<&'static str>,
    /// Codes of which the documents do not say whether they are given.
    pub free: BTreeSet<&'static str>,
    /// Figures of a file that holds, by name.
    pub figures: BTreeMap<&'static str, String>,
}

impl Opinion {
    /// Of a file that cannot be read.
    pub fn unreadable(faults: Faults) -> Self {
        assert!(!faults.codes.is_empty(), "a file that cannot be read has a fault");
        Self { unreadable: faults.codes, more: faults.more, ..Self::default() }
    }

    /// Counts a violation or a warning.
    pub fn count(&mut self, code: &'static str) {
        *self.counts.entry(code).or_default() += 1;
    }

    /// No violation was counted.
    pub fn holds(&self) -> bool {
        self.unreadable.is_empty() && self.counts.keys().all(|code| code.starts_with('W'))
    }
}
