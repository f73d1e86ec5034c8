//! What a sentence may mention, and the names in it.

use crate::verify::Case;
use crate::verify::run::moves::Move;
use crate::verify::run::routes::Route;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::RankId;

#[derive(Clone, Copy)]
pub(in crate::verify) struct Scene<'a> {
    pub(super) problem: &'a Problem,
    pub(super) schedule: &'a Schedule,
    pub(super) routes: &'a [Route],
    moves: &'a [Move],
    /// Does the schedule have all chunks of each transfer?
    pub(super) is_whole: bool,
}

/// The most ranks a sentence lists.
const LISTED: usize = 4;

impl<'a> Scene<'a> {
    /// `moves` has, sorted, those of all chunks with findings.
    pub(in crate::verify) fn new(case: Case<'a>, routes: &'a [Route], moves: &'a [Move], is_whole: bool) -> Self {
        Self { problem: case.problem, schedule: case.schedule, routes, moves, is_whole }
    }

    /// All moves of a chunk, in the order of the schedule.
    pub(super) fn moves(&self, chunk: ChunkId) -> &'a [Move] {
        let start = self.moves.partition_point(|one| one.chunk() < chunk);
        let end = self.moves.partition_point(|one| one.chunk() <= chunk);
        &self.moves[start..end]
    }

    pub(super) fn route(&self, one: Move) -> Route {
        self.routes[one.transfer()]
    }

    pub(super) fn rank(&self, rank: RankId) -> String {
        self.problem.topology().rank_label(rank)
    }

    /// "ranks 1 (1,0), 2 (2,0) and 13 more"
    pub(super) fn ranks(&self, ranks: &[RankId]) -> String {
        let names: Vec<String> = ranks.iter().take(LISTED).map(|&rank| self.rank(rank)).collect();
        match (ranks.len().saturating_sub(LISTED), &names[..]) {
            (0, [one]) => format!("rank {one}"),
            (0, [most @ .., last]) => format!("ranks {} and {last}", most.join(", ")),
            (0, []) => "no rank".to_owned(),
            (more, _) => format!("ranks {} and {more} more", names.join(", ")),
        }
    }

    /// The chunk's number, with its label where that says more.
    pub(super) fn chunk(&self, chunk: ChunkId) -> String {
        let label = self.problem.chunk_label(chunk);
        if label == chunk.to_string() { label } else { format!("{chunk} ({label})") }
    }
}
