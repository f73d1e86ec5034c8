//! Jobs that are too large are refused before anything is computed for them.

use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, UNREACHABLE};

use super::combined::MOST_MOVES;
use super::{JobGoal, NAME};
use crate::model::error::PlanError;

/// The most pairs of a chunk and a rank that negotiate: 8 bytes each in every try.
const MOST_PAIRS: u64 = 1 << 28;

/// Refuses a job with too many chunks to negotiate and too many moves to put together.
///
/// # Errors
///
/// [`PlanError::NotApplicable`], which says what to do.
pub fn check_job_size(problems: &[Problem], goal: &JobGoal) -> Result<(), PlanError> {
    let chunks: u64 = problems.iter().map(|problem| u64::from(problem.chunk_count())).sum();
    check_pairs(problems, chunks).or_else(|_| {
        let capacities = problems.iter().flat_map(|problem| {
            let machine = problem.machine();
            machine.live_links().map(|id| u64::from(machine.link(id).capacity))
        });
        let capacity = capacities.max().unwrap_or(1);
        let all = problems.iter().map(least).fold(Least::default(), |all, one| all.with(one));
        // With steps stated, nothing is put together.
        match goal.steps.is_none() && all.moves / capacity <= MOST_MOVES {
            true => Ok(()),
            false => check_pairs(problems, all.chunks),
        }
    })
}

/// Refuses this many chunks if they are too many to negotiate.
pub(super) fn check_pairs(problems: &[Problem], chunks: u64) -> Result<(), PlanError> {
    let ranks = problems.first().map_or(0, |problem| problem.machine().rank_count());
    if chunks.saturating_mul(ranks as u64) <= MOST_PAIRS {
        return Ok(());
    }
    let most = MOST_PAIRS / ranks as u64;
    let instead = match problems.iter().any(|problem| problem.parts() > 1) {
        true => "use fewer parts, or sizes that differ less",
        false => "plan a smaller machine, or smaller `groups`, or each collective by itself with --collective",
    };
    let reason = format!(
        "{chunks} chunks to move among {ranks} ranks are too many: those of a job are at most {most} there, or take at \
         most {MOST_MOVES} moves; {instead}"
    );
    Err(PlanError::NotApplicable { planner: NAME, reason })
}

/// The chunks that move, and the fewest moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Least {
    chunks: u64,
    moves: u64,
}

impl Least {
    fn with(self, other: Self) -> Self {
        Self { chunks: self.chunks + other.chunks, moves: self.moves + other.moves }
    }
}

/// Of a problem: the hops of each chunk, or a move to or from each rank.
fn least(problem: &Problem) -> Least {
    let holders = |holders| problem.holders(holders).count() as u64;
    let (mut origin, mut hops) = (RankId(u32::MAX), Vec::new());
    let mut moves = |chunk| {
        let rule = problem.rule(chunk);
        let (Holders::One(from), Holders::One(to)) = (rule.before, rule.after) else {
            return holders(rule.before).max(holders(rule.after)).saturating_sub(1);
        };
        // The chunks of a rank follow each other.
        if from != origin {
            (origin, hops) = (from, problem.topology().hops_from(from));
        }
        match hops[to.index()] {
            UNREACHABLE => 0,
            far => u64::from(far),
        }
    };
    let all = (0..problem.chunk_count()).map(|chunk| moves(ChunkId(chunk)));
    all.filter(|&moves| moves > 0).fold(Least::default(), |all, moves| all.with(Least { chunks: 1, moves }))
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;

    use super::*;

    fn problem(extents: &[u32], kind: Kind) -> Problem {
        Problem::new(Topology::torus(extents).unwrap(), Collective { kind, parts: 1 }).unwrap()
    }

    #[test]
    fn moves_are_counted_by_hops_and_by_ranks() {
        // On a ring of 5, the hops of a rank's messages are 1, 2, 2, 1.
        let of = |kind| least(&problem(&[5], kind));
        assert_eq!(of(Kind::AllToAll), Least { chunks: 20, moves: 30 });
        assert_eq!(of(Kind::AllGather), Least { chunks: 5, moves: 20 });
        assert_eq!(of(Kind::Broadcast(RankId(2))), Least { chunks: 1, moves: 4 });
        assert_eq!(of(Kind::Reduce(RankId(2))), Least { chunks: 1, moves: 4 });
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let refused = |problem: Problem| check_job_size(&[problem], &JobGoal::default()).unwrap_err().to_string();
        let said = refused(problem(&[16, 16, 8], Kind::AllToAll));
        assert!(said.contains("4192256 chunks to move among 2048 ranks are too many"), "{said}");
        assert!(said.contains("at most 131072 there") && said.contains("plan a smaller machine"), "{said}");
        let cut = problem(&[16, 8, 8], Kind::AllToAll).with_parts(9).unwrap();
        assert!(refused(cut).contains("use fewer parts"));
        // Few moves, or few chunks.
        assert_eq!(check_job_size(&[problem(&[16, 8, 8], Kind::AllToAll)], &JobGoal::default()), Ok(()));
        assert_eq!(check_job_size(&[problem(&[16, 16, 16], Kind::AllGather)], &JobGoal::default()), Ok(()));
        let stated = JobGoal { steps: Some(9), ..JobGoal::default() };
        assert!(check_job_size(&[problem(&[16, 8, 8], Kind::AllToAll)], &stated).is_err());
    }
}
