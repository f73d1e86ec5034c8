//! The form of a planned schedule: every move, or a pattern that is translated over the torus, with exceptions.

mod find;
mod same;

use collsynth_core::problem::Problem;
use collsynth_core::schedule::{AnySchedule, AnySolution, CompactSchedule, Schedule, Solution};
use collsynth_core::topology::Topology;
use collsynth_verify::verify::{Options, Rejected, Verified};
use thiserror::Error;

pub use find::find_pattern;
pub use same::Difference;

/// From this number of ranks on, schedules are planned and written in the compact form where it applies.
const COMPACT_RANKS: usize = 512;

/// How a schedule is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A pattern and exceptions.
    Compact,
    /// Every move.
    Explicit,
}

/// Why a schedule does not come in a form.
#[derive(Clone, Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum FormError {
    #[error(
        "this schedule has no compact form: that takes a torus without open ends, no groups, and an all_to_all, \
         all_gather, all_reduce_gathered, reduce_scatter, or an all_reduce in a multiple of as many parts as ranks"
    )]
    NoPattern,
    #[error("in the compact form, step {step} would not be the same: {}", why(*what))]
    Changed { step: u32, what: Difference },
    #[error("the schedule that was found does not hold")]
    Rejected(Box<Rejected<AnySchedule>>),
}

fn why(what: Difference) -> &'static str {
    match what {
        Difference::Transfers => "two of its transfers share a link, or one carries nothing",
        Difference::Additions => "a rank would add what it receives in another order",
    }
}

impl Form {
    /// The form on a machine, unless stated: compact from 512 ranks on.
    pub fn of(topology: &Topology) -> Self {
        if topology.rank_count() >= COMPACT_RANKS { Self::Compact } else { Self::Explicit }
    }
}

/// The compact form of a schedule that need not hold. It says the same, but for the order of transfers that does not
/// matter. O(moves log moves).
///
/// # Errors
///
/// [`FormError::NoPattern`] if there is none; [`FormError::Changed`] if it would say something else.
pub fn compacted(problem: &Problem, schedule: &Schedule) -> Result<CompactSchedule, FormError> {
    let found = find_pattern(problem, schedule).ok_or(FormError::NoPattern)?;
    match same::difference(schedule, &found.expand()) {
        Some((step, what)) => Err(FormError::Changed { step, what }),
        None => Ok(found),
    }
}

/// A schedule in this form or, unless stated, in the compact form on large machines where that has less than half of
/// the moves. O(moves log moves) to find a pattern.
///
/// # Errors
///
/// [`FormError::NoPattern`] if the compact form is stated and there is none; [`FormError::Rejected`] if what was found
/// is wrong, which is a bug.
pub fn formed(verified: Verified<Solution>, stated: Option<Form>) -> Result<Verified<AnySolution>, FormError> {
    let form = stated.unwrap_or(Form::of(verified.problem.machine()));
    if form == Form::Explicit {
        return Ok(verified.into_any());
    }
    let moves = verified.schedule.move_count();
    let worth_it = |found: &CompactSchedule| stated.is_some() || 2 * found.stated_moves() < moves;
    match find_pattern(&verified.problem, &verified.schedule).filter(worth_it) {
        Some(found) => {
            let compact = verified.into_inner().map(|_| found.into());
            Verified::new(compact, &Options::default()).map_err(FormError::Rejected)
        }
        None if stated.is_some() => Err(FormError::NoPattern),
        None => Ok(verified.into_any()),
    }
}
