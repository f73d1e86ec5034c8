//! The audit: does a rank program do what its collective asks, however its workers' operations fall in time?
//!
//! The answer is exact and no interleaving is tried out, let alone a sample of them. Every channel has one sender and
//! one receiver, and an operation that may go ahead is never held back by another that does. So
//!
//! 1. which packet answers which receive is fixed by order alone, and if one interleaving comes to its end, all do
//!    (`run`); if one gets stuck, all do, and the workers that wait for each other are named;
//! 2. two operations are ordered if a chain of worker orders, waits and packets leads from one to the other: Lamport,
//!    "Time, Clocks, and the Ordering of Events in a Distributed System" (1978). A slot that two unordered operations
//!    touch, one of them to write, is a race (`races`). That a full channel holds its sender back is not counted as an
//!    order: a program must not need a shallow channel;
//! 3. without races, every operation reads the same values in every interleaving, so the values of one are those of all
//!    (`values`), and the collective's demands are compared with them (`outcome`);
//! 4. a program that claims to be free of contention is refused if two transfers may be on one link at a time
//!    (`contention`), by the same orders.
//!
//! What has to be believed is here, in `program`, in the language of problems and in the reader; planners and the
//! lowering are not.

mod audited;
mod code;
mod contention;
mod explain;
mod hub;
mod links;
mod outcome;
mod races;
mod report;
mod run;
mod structure;
mod values;
mod words;

use collsynth_core::program::Program;
use collsynth_core::topology::{RankId, Topology};

pub use audited::{AuditedProgram, Refuted};
pub use code::Code;
pub use report::{Finding, Report};

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
pub struct Options<'a> {
    /// List so many violations; the totals are always complete.
    pub max_errors: usize,
    /// Check links against this machine instead of the program's own.
    pub machine: Option<Machine<'a>>,
    /// Refuse transfers that may be on a link together even if the program does not claim that there are none.
    pub contention_free: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { max_errors: 20, machine: None, contention_free: false }
    }
}

/// Judges a program. Takes time in the number of slots moved, and where ranks order each other's operations by packets
/// alone, in the number of operations times the workers of each such rank. Freedom from contention takes time in the
/// operations at the ends of each channel; where only other ranks keep its transfers apart, in all operations.
pub fn audit(program: &Program, options: &Options<'_>) -> Report {
    let mut report = Report::new(options.max_errors);
    links::check(program, options.machine, &mut report);
    let Some(ends) = structure::check(program, &mut report) else { return report };
    let Some(outcome) = run::run(program, &ends, &mut report) else { return report };
    let before = report.violation_count();
    races::check(program, &outcome, &mut report);
    if report.violation_count() == before {
        outcome::check(program, &outcome, &mut report);
    }
    if program.contention_free || options.contention_free {
        contention::check(program, options.machine, &outcome, &mut report);
    }
    report
}
