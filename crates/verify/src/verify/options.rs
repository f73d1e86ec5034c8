//! What to report.

/// What to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most violations, and the most warnings, that are kept; all are counted.
    pub max_errors: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_errors: 20 }
    }
}
