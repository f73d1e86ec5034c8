//! What a naive judge says of a file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::fraction::Fraction;
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
    /// Of a schedule that does not hold, the step of the first violation as verdicts write it; none of a job.
    pub first: Option<Value>,
    /// Codes for which the documents leave the number open: compared is whether they are given.
    pub open: BTreeSet<&'static str>,
    /// Codes of which the documents do not say whether they are given.
    pub free: BTreeSet<&'static str>,
    /// Figures of a file that holds, by name.
    pub figures: BTreeMap<&'static str, String>,
    /// What the verdict on a file that holds may claim.
    pub claims: Vec<Claim>,
    /// What was met on the way, for the tally.
    pub reached: BTreeSet<String>,
    /// The file is too large for a naive judge.
    pub large: bool,
}

/// Something that a verdict says of a file that holds.
#[derive(Clone, Debug)]
pub enum Claim {
    /// In the JSON form, at this pointer.
    Is(String, Value),
    /// The same of a number that is rounded to a float.
    Near(String, f64),
    /// In the text form: after the first words and before the last there is a number, at least so large, and no larger
    /// than the second number but for its last digit.
    Says(&'static str, &'static str, Fraction, Fraction),
}

impl Opinion {
    /// Of a file that cannot be read.
    pub fn unreadable(faults: Faults) -> Self {
        assert!(faults.large || !faults.codes.is_empty(), "a file that cannot be read has a fault");
        Self { unreadable: faults.codes, more: faults.more, large: faults.large, ..Self::default() }
    }

    /// Counts a violation or a warning.
    pub fn count(&mut self, code: &'static str) {
        *self.counts.entry(code).or_default() += 1;
    }

    /// Notes that a step was run, or the end was reached: the first violation is in it if there was none before.
    pub fn passed(&mut self, step: Option<usize>) {
        let is_of_steps = |code: &&str| !code.starts_with(['C', 'W']);
        if self.first.is_none() && self.counts.keys().any(is_of_steps) {
            self.first = Some(json!(step));
        }
    }

    /// Where nothing is wrong but that a bound was not checked, the file is neither vouched for nor refuted.
    pub fn leave_unchecked(&mut self) {
        let wrong: Vec<_> = self.counts.keys().filter(|code| !code.starts_with('W')).collect();
        if wrong == [&"C002"] {
            *self = Self { unreadable: ["C002"].into(), reached: std::mem::take(&mut self.reached), ..Self::default() };
        }
    }

    /// Names what is stated in fewer words and holds.
    pub fn note_listing(&mut self, file: &Value) {
        if self.holds() {
            self.reached.extend(file.get("trees").map(|_| "trees".to_owned()));
            self.reached.extend((file.get("mirrored") == Some(&Value::Bool(true))).then(|| "way back".to_owned()));
        }
    }

    /// No violation was counted.
    pub fn holds(&self) -> bool {
        self.unreadable.is_empty() && self.counts.keys().all(|code| code.starts_with('W'))
    }
}
