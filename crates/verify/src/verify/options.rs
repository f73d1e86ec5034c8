//! What to report.

/// What to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many violations, and how many warnings, are kept; all are counted.
    pub max_errors: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_errors: 20 }
    }
}
