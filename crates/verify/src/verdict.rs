//! What judging comes to: three endings, and no fourth.

use std::fmt;

use crate::guard::limits;
use thiserror::Error;

/// The verdict on a schedule, a job, a rank program or a whole file. As a number it is an exit code; of several
/// verdicts, the greatest stands for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing is violated, and everything was checked.
    Holds = 0,
    /// Something is violated.
    Refuted = 1,
    /// Nothing is known to be violated, but not everything was checked, or the file cannot be read.
    NotJudged = 2,
}

/// Why something was neither vouched for nor refuted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{why}", code.as_ref().map(|code| format!("{code}: ")).unwrap_or_default())]
pub struct NotJudged {
    /// A code, if there is one to explain.
    pub code: Option<String>,
    why: String,
}

impl Verdict {
    /// The verdict: what is violated stays refuted, whatever else was left unchecked.
    pub(crate) fn new(is_refuted: bool, is_unchecked: bool) -> Self {
        match (is_refuted, is_unchecked) {
            (true, _) => Self::Refuted,
            (false, true) => Self::NotJudged,
            (false, false) => Self::Holds,
        }
    }
}

/// The word in JSON.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Refuted => "refuted",
            Self::NotJudged => "unreadable",
        })
    }
}

impl NotJudged {
    /// A bound takes too much work to check.
    pub(crate) fn of_bound(code: String, bound: &str) -> Self {
        Self { code: Some(code), why: format!("not judged: {bound}") }
    }

    /// Judging would take more than this many bytes.
    pub(crate) fn of_memory(most: u64) -> Self {
        Self { code: None, why: limits::not_judged(most) }
    }
}
