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
//! lowering are not. What decides records facts (`fact`); `diagnosis` makes sentences of them afterwards.

mod audited;
mod code;
mod contention;
mod diagnosis;
mod fact;
mod hub;
mod ledger;
mod links;
mod options;
mod order;
mod outcome;
mod races;
mod report;
mod run;
mod structure;
mod values;

use diagnosis::sentence;
use ledger::Ledger;
use order::Order;

use collsynth_core::program::Program;

pub use audited::{AuditedProgram, RefutedProgram};
pub use code::ProgramCode;
pub use options::{AuditOptions, Machine};
pub use report::{AuditReport, ProgramViolation};

/// Judges a program. Takes time in the number of slots moved, and where ranks order each other's operations by packets
/// alone, in the number of operations times the workers of each such rank. Freedom from contention takes time in the
/// operations at the ends of each channel; where only other ranks keep its transfers apart, in all operations.
pub fn audit(program: &Program, options: &AuditOptions<'_>) -> AuditReport {
    let mut ledger = Ledger::new(options.max_errors);
    decide(program, options, &mut ledger);
    ledger.into_report(|operation, fact| sentence(program, options.machine, operation, fact))
}

/// Records all violations. A program that makes no sense, or gets stuck, is looked at no further.
fn decide(program: &Program, options: &AuditOptions<'_>, ledger: &mut Ledger) {
    links::check(program, options.machine, ledger);
    let Some(ends) = structure::check(program, ledger) else { return };
    let Some(run) = run::run(program, &ends, ledger) else { return };
    let before = ledger.count();
    let order = Order::new(program, &run);
    races::check(program, &run, &order, ledger);
    if ledger.count() == before {
        outcome::check(program, &run, ledger);
    }
    if program.contention_free || options.contention_free {
        contention::check(program, options.machine, &run, &order, ledger);
    }
}
