//! How programs are judged.

use collsynth_core::topology::{RankId, Topology};

/// The machine a program is to run on, where it is not the one it names.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// The machine.
    pub topology: &'a Topology,
    /// For each rank of the program, the rank of the machine that it is.
    pub rank_map: &'a [RankId],
}

/// How a program is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions<'a> {
    /// List at most this number of violations; the totals are always complete.
    pub max_errors: usize,
    /// Check links against this machine instead of the program's own.
    pub machine: Option<Machine<'a>>,
    /// Refuse transfers that may be on a link together even if the program does not claim that there are none.
    pub contention_free: bool,
}

impl Default for AuditOptions<'_> {
    fn default() -> Self {
        Self { max_errors: 20, machine: None, contention_free: false }
    }
}
