//! Collectives of a job in messages that are cut further.

use collsynth_core::collective::{Collective, Demand, Kind};
use collsynth_core::problem::{Problem, ProblemError};
use collsynth_core::topology::RankId;

/// A kind whose messages are cut in this many pieces: a demand counts each chunk as so many.
///
/// # Errors
///
/// If those are too many chunks.
pub fn in_pieces(kind: &Kind, pieces: u32) -> Result<Kind, ProblemError> {
    let Some(demand) = kind.demand() else { return Ok(kind.clone()) };
    let counts = demand.counts().map(|count| count.checked_mul(pieces)).collect::<Option<Vec<u32>>>();
    let finer = counts.and_then(|counts| Demand::new(demand.ranks(), &counts));
    let finer = Kind::named(kind.name(), RankId(0), finer.ok_or(ProblemError::TooManyChunks)?);
    let finer = finer.expect("a kind is named as it is called");
    Ok(kind.groups().map_or(finer.clone(), |groups| finer.in_groups(groups.clone())))
}

/// The same problem with every chunk cut in this many pieces; a barrier as it is.
pub(super) fn problem_in_pieces(problem: &Problem, pieces: u32) -> Result<Problem, ProblemError> {
    let collective = problem.collective();
    if !collective.kind.has_volume() {
        return Ok(problem.clone());
    }
    let parts = problem.parts().checked_mul(pieces).ok_or(ProblemError::TooManyChunks)?;
    let kind = in_pieces(&collective.kind, pieces)?;
    Problem::new(problem.machine().clone(), Collective { kind, parts })
}
