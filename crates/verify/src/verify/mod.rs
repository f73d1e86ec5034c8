//! Symbolic execution: does a schedule do what its problem asks, on this machine, link by link and step by step?
//!
//! [`verify`] moves sets of contributions where a runtime moves numbers, and checks everything that must hold along
//! the way and at the end. It shares the language of the planners (topology, collective, problem, schedule) but none of
//! their reasoning. It neither searches nor trusts: bounds are checked from their evidence alone.
//!
//! What is checked, in the order of the report:
//!
//! 1. each transfer on its own: ranks, link, room, chunk ids (`T`, `L`, `F`);
//! 2. each chunk through all steps, every transfer reading the state at the beginning of its step: the sender holds the
//!    chunk (`D001`), arrivals do not conflict (`D003`), no rank relays that may not (`D004`), nothing is added twice
//!    (`R001`), and `reduce` is allowed (`R003`);
//! 3. the state after the last step: nothing is missing (`D002`, `R002`);
//! 4. the bounds (`C001`, `C002`).
//!
//! Where the format leaves a choice:
//!
//! * Several `reduce` arrivals in one step are added in the order of the schedule. A `reduce` into a rank that holds
//!   nothing of the chunk acts as a `copy`.
//! * A `copy` replaces what the receiver held, even a partial sum or a barrier's arrivals.
//! * No value may count a contribution twice, even if it is overwritten later.
//! * A schedule is empty if no transfer carries a chunk.
//!
//! For a schedule that holds, the run also reports how many chunks a rank holds at a time and in which order
//! contributions are added ([`Observed`]).
//!
//! Only first causes are reported; what fails because of them is counted in [`Finding::consequences`]. Where a rank
//! lacks a chunk, [`Finding::trace`] says how far the chunk got.
//!
//! The checks (`run`) record facts (`facts`): a code, a place, data. `diagnosis` makes sentences of them later; the
//! verdict does not depend on it.

mod compact;
mod diagnosis;
mod facts;
mod job;
mod options;
mod run;
mod verified;

pub use facts::code::Code;
pub use facts::finding::{Finding, Hop, Trace};
pub use facts::report::{Observed, Peak, Report, Sums};
pub use job::{JobCode, JobReport, JobViolation, verify_job};
pub use options::Options;
pub use verified::{Rejected, RejectedJob, Verified, VerifiedJob};

use std::ops::Range;

use diagnosis::Scene;
use facts::ledger::Ledger;
use run::decide::decide;
use run::scope::Scope;

use collsynth_core::certificate::{Bounds, Work};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Schedule, Solution, Stated, View};

/// Executes a solution and reports every violation.
///
/// The compact form is not expanded (`compact` says what is done instead): codes, places and totals are those of the
/// expanded schedule, but for `W003`, and [`Report::observed`] is left out.
///
/// O(moves log moves + chunks) time for collectives that move chunks unchanged; each addition costs O(ranks / 64) more,
/// each chunk that every rank holds O(ranks).
///
/// ```
/// # use collsynth_core::collective::{ChunkId, Collective, Kind};
/// # use collsynth_core::problem::Problem;
/// # use collsynth_core::schedule::{Op, Schedule, Solution};
/// # use collsynth_core::topology::{RankId, Topology};
/// # use collsynth_verify::verify::{Code, Options, verify};
/// // A broadcast on a ring of 3 that forgets rank 2.
/// let problem = Problem::new(Topology::torus(&[3])?, Collective::new(Kind::Broadcast(RankId(0))))?;
/// let mut builder = Schedule::builder();
/// builder.step(1).transfer(RankId(0), RankId(1), None, Op::Copy, [ChunkId(0)]);
/// let solution = Solution { problem, schedule: builder.finish(), bounds: Default::default(), origin: None };
///
/// let report = verify(&solution, &Options::default());
/// assert_eq!(report.violations[0].code, Code::D002);
/// let words = "at the end rank 2 lacks chunk 0: it got as far as rank 1 in step 1";
/// assert_eq!(report.violations[0].message, words);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify<S: Stated>(solution: &Solution<S>, options: &Options) -> Report {
    let Solution { problem, schedule, bounds, .. } = solution;
    match schedule.view() {
        View::Explicit(schedule) => {
            let case = Case { problem, schedule, bounds };
            judge(case, options, &Scope::Range(0..problem.chunk_count()), &mut Work::default())
        }
        View::Compact(schedule) => compact::verify(problem, schedule, bounds, options),
    }
}

/// Every violation of the transfers on their own and of these chunks, by number. Other chunks are not executed: finding
/// nothing does not mean that the schedule holds.
pub fn violations_of(solution: &Solution, chunks: Range<u32>) -> Vec<Finding> {
    let chunks = chunks.start..chunks.end.min(solution.problem.chunk_count());
    let options = Options { max_errors: usize::MAX, ..Options::default() };
    judge(solution.into(), &options, &Scope::Range(chunks), &mut Work::default()).violations
}

/// What is judged: a problem, the moves that are to solve it, and what is claimed of it.
#[derive(Clone, Copy)]
struct Case<'a> {
    problem: &'a Problem,
    schedule: &'a Schedule,
    bounds: &'a Bounds,
}

impl<'a> From<&'a Solution> for Case<'a> {
    fn from(Solution { problem, schedule, bounds, .. }: &'a Solution) -> Self {
        Self { problem, schedule, bounds }
    }
}

/// Decides, then puts the facts into sentences. `work` is left for checking bounds.
fn judge(case: Case<'_>, options: &Options, scope: &Scope<'_>, work: &mut Work) -> Report {
    let mut ledger = Ledger::new(options.max_errors, options.memory);
    let decided = decide(case, scope, work, &mut ledger);
    let scene = Scene::new(case, &decided.routes, &decided.moves, scope.is_whole());
    ledger.into_report(&decided.shown.spoiled, decided.shown.observed, |fact| scene.finding(fact))
}

#[cfg(test)]
mod tests;
