//! How programs are judged.

use super::machine::Machine;

/// How a program is judged.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions<'a> {
    /// The most violations that are listed; the totals are always complete.
    pub max_errors: usize,
    /// Check links against this machine instead of the program's own.
    pub machine: Option<&'a Machine<'a>>,
    /// Refuse transfers that may share a link even if the program does not claim otherwise.
    pub contention_free: bool,
    /// The most bytes the audit may take beyond what the program takes, as estimated. For files:
    /// [`Limits::room`](crate::guard::limits::Limits::room).
    pub memory: u64,
}

impl Default for AuditOptions<'_> {
    fn default() -> Self {
        Self { max_errors: 20, machine: None, contention_free: false, memory: u64::MAX }
    }
}
