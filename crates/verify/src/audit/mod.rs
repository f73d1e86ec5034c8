//! The audit: does a rank program do what its collective asks in every interleaving of its workers' operations?
//!
//! The answer covers every interleaving, without enumerating or sampling them, and is exact but for one order: that a
//! send into a full channel waits for a receive. What is accepted so holds on channels with the stated slots or more;
//! what only a shallow channel orders is refused. Every channel has one sender and one receiver,
//! and an operation that may proceed is never blocked by another that does. So
//!
//! 1. order alone fixes which packet each receive takes, and if one interleaving terminates, all do (`run`); if one
//!    gets stuck, all do, and the workers that wait for each other are named;
//! 2. two operations are ordered if a chain of worker orders, waits and packets leads from one to the other: Lamport,
//!    "Time, Clocks, and the Ordering of Events in a Distributed System" (1978). A slot that two unordered operations
//!    touch, one of them to write, is a race (`races`);
//! 3. without races, every operation reads the same values in every interleaving, so the values of one run (`values`)
//!    are compared with the collective's demands (`outcome`);
//! 4. by the same orders, a program that claims to be free of contention is refused if two transfers may be on one link
//!    at a time (`contention`).
//!
//! The trusted base is this module, `program`, the language of problems and the reader; planners and the lowering are
//! not part of it. The checks record facts (`facts`); `diagnosis` makes sentences of them later.

mod audited;
mod diagnosis;
mod facts;
mod machine;
mod options;
mod run;

use diagnosis::sentence;
use facts::ledger::Ledger;
use run::execute::run;
use run::order::Order;
use run::{contention, links, outcome, races, structure};

use collsynth_core::program::Program;

pub use audited::{AuditedProgram, RefutedProgram};
pub use facts::code::ProgramCode;
pub use facts::report::{AuditReport, ProgramViolation};
pub use machine::{Machine, RankMapError};
pub use options::AuditOptions;

/// Judges a program. O(slots moved), plus O(operations * workers) for each rank whose operations are ordered only by
/// packets through other ranks. Freedom from contention takes O(operations at both ends) per channel, or O(all
/// operations) where only other ranks keep its transfers apart. If it would take more memory than the options allow,
/// the program is not judged; see [`AuditReport::why_not_judged`].
pub fn audit(program: &Program, options: &AuditOptions<'_>) -> AuditReport {
    let mut ledger = Ledger::new(options.max_errors, options.memory);
    decide(program, options, &mut ledger);
    ledger.into_report(|operation, fact| sentence(program, options.machine, operation, fact))
}

/// Records all violations. A malformed or stuck program is not examined further.
fn decide(program: &Program, options: &AuditOptions<'_>, ledger: &mut Ledger) {
    links::check(program, options.machine, ledger);
    let Some(ends) = structure::check(program, ledger) else { return };
    let Some(run) = run(program, &ends, ledger) else { return };
    let before = ledger.count();
    let order = Order::new(program, &run);
    races::check(program, &run, &order, ledger);
    if ledger.memory.exceeded().is_some() {
        return;
    }
    if ledger.count() == before {
        outcome::check(program, &run, ledger);
    }
    if program.contention_free || options.contention_free {
        contention::check(program, options.machine, &run, &order, ledger);
    }
}
