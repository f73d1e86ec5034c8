//! The form of a planned schedule: every move, or a pattern that is translated over the torus, with exceptions.

use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Solution};
use collsynth_core::topology::Topology;
use collsynth_plan::Goal;
use collsynth_verify::limits::MEMORY_WORD;
use collsynth_verify::verify::{Options, Rejected, Verified};
use thiserror::Error;

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

/// A schedule that holds, in either form.
#[derive(Clone, Debug)]
pub enum Formed {
    /// A pattern and exceptions.
    Compact(Box<Verified<Solution<CompactSchedule>>>),
    /// Every move.
    Explicit(Box<Verified<Solution>>),
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
    #[error("the compact form that was found does not hold")]
    Rejected(Box<Rejected<CompactSchedule>>),
    #[error("expanded, this schedule takes more than {most} MiB: {MEMORY_WORD} allows more")]
    TooLarge { most: u64 },
}

impl Form {
    /// The form on a machine, unless stated: compact from 512 ranks on.
    pub fn of(topology: &Topology) -> Self {
        if topology.rank_count() >= COMPACT_RANKS { Self::Compact } else { Self::Explicit }
    }
}

/// Is [`collsynth_plan::compact`] asked for a plan first? Else, or where it has none, planning states every move.
pub fn is_planned_compactly(problem: &Problem, goal: &Goal<'_>) -> bool {
    let is_large = Form::of(problem.machine()) == Form::Compact;
    is_large && goal.planner.is_none() && goal.price.is_none()
}

/// A schedule in this form or, unless stated, in the compact form on large machines where that has less than half of
/// the moves.
///
/// # Errors
///
/// [`FormError::NoPattern`] if the compact form is stated and there is none; [`FormError::Rejected`] if what was found
/// is wrong, which is a bug.
pub fn formed(verified: Verified<Solution>, stated: Option<Form>) -> Result<Formed, FormError> {
    let form = stated.unwrap_or(Form::of(verified.problem.machine()));
    if form == Form::Explicit {
        return Ok(Formed::Explicit(Box::new(verified)));
    }
    let moves = verified.schedule.move_count();
    let worth_it = |found: &CompactSchedule| stated.is_some() || 2 * found.stated_moves() < moves;
    match CompactSchedule::find(&verified.problem, &verified.schedule).filter(worth_it) {
        Some(schedule) => {
            let Solution { problem, bounds, origin, .. } = verified.into_inner();
            let compact = Solution { problem, schedule, bounds, origin };
            let verified = Verified::compact(compact, &Options::default()).map_err(FormError::Rejected)?;
            Ok(Formed::Compact(Box::new(verified)))
        }
        None if stated.is_some() => Err(FormError::NoPattern),
        None => Ok(Formed::Explicit(Box::new(verified))),
    }
}

/// The same with every move stated. O(moves).
///
/// # Errors
///
/// [`FormError::TooLarge`] if that takes more than this number of bytes.
pub fn expanded(compact: &Solution<CompactSchedule>, room: u64) -> Result<Solution, FormError> {
    let Solution { problem, schedule, bounds, origin } = compact;
    if schedule.expanded_bytes(0) > room {
        return Err(FormError::TooLarge { most: room >> 20 });
    }
    let schedule = schedule.expand();
    Ok(Solution { problem: problem.clone(), schedule, bounds: bounds.clone(), origin: origin.clone() })
}
