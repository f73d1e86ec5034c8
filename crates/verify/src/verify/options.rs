//! What to report.

/// What to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most violations, and the most warnings, that are kept; all are counted.
    pub max_errors: usize,
    /// The most bytes that the sums of a chunk may take: each holds a bit for every rank. For files:
    /// [`Limits::room`](crate::guard::limits::Limits::room).
    pub memory: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_errors: 20, memory: u64::MAX }
    }
}
