//! Finding the pattern of a schedule.

use crate::exact::narrow;
use std::collections::BTreeMap;

use super::CompactSchedule;
use crate::collective::{ChunkId, ChunkSet};
use crate::problem::Problem;
use crate::schedule::slot::Way;
use crate::schedule::{Schedule, Translation};
use crate::topology::RankId;

impl CompactSchedule {
    /// Finds the pattern in a schedule: of each chunk of rank 0, the moves that most of its translations make; the
    /// others are exceptions. `None` if the problem has no translations. Expanded, the result has the same moves.
    ///
    /// O(moves log moves).
    pub fn find(problem: &Problem, schedule: &Schedule) -> Option<Self> {
        let translation = Translation::new(problem)?;
        let ranks = problem.machine().rank_count();
        if schedule.transfers().iter().any(|transfer| transfer.from.index() >= ranks || transfer.to.index() >= ranks) {
            return None;
        }
        let step_of: Vec<u32> =
            schedule.steps().flat_map(|step| step.transfers.iter().map(move |_| step.number)).collect();
        let mut moves: Vec<(ChunkId, u32)> = Vec::with_capacity(schedule.move_count());
        for (index, transfer) in (0..).zip(schedule.transfers()) {
            moves.extend(schedule.chunks(transfer).iter().map(|&chunk| (chunk, index)));
        }
        moves.sort_unstable();
        let chunks = problem.chunk_count();
        if moves.last().is_some_and(|last| last.0.0 >= chunks) {
            return None;
        }
        // Where each chunk's moves begin, unless most chunks have none: then a search finds them.
        let mut first = Vec::new();
        if u64::from(chunks) <= 8 * moves.len() as u64 {
            first.resize(chunks as usize + 1, 0);
            moves.iter().for_each(|(chunk, _)| first[chunk.index() + 1] += 1);
            (1..first.len()).for_each(|at| first[at] += first[at - 1]);
        }
        let range = |chunk: ChunkId| match first.get(chunk.index()..chunk.index() + 2) {
            Some(ends) => ends[0]..ends[1],
            None => {
                let begin = moves.partition_point(|one| one.0 < chunk);
                begin..begin + moves[begin..].partition_point(|one| one.0 == chunk)
            }
        };
        // A chunk's moves as seen from the rank it belongs to.
        let seen = |chunk: ChunkId| -> Vec<(u32, RankId, Way)> {
            let owner = translation.owner(chunk);
            let mut seen: Vec<_> = moves[range(chunk)]
                .iter()
                .map(|&(_, index)| {
                    let transfer = &schedule.transfers()[index as usize];
                    let [from, to] = [transfer.from, transfer.to].map(|rank| translation.between(owner, rank));
                    (step_of[index as usize], from, (to, transfer.via, transfer.op))
                })
                .collect();
            seen.sort_unstable();
            seen
        };
        let mut patterns: BTreeMap<(u32, RankId, Way), Vec<ChunkId>> = BTreeMap::new();
        let mut is_exception = ChunkSet::new(chunks as usize);
        // Others move nowhere.
        let mut is_moved = ChunkSet::new(translation.chunks_of_rank() as usize);
        for &(chunk, _) in &moves {
            let back = translation.between(translation.owner(chunk), RankId(0));
            is_moved.insert(translation.chunk(chunk, back));
        }
        let mut exceptions = Vec::new();
        for chunk in is_moved.iter() {
            let all = || (0..narrow(ranks)).map(|by| translation.chunk(chunk, RankId(by)));
            let mut votes: BTreeMap<Vec<(u32, RankId, Way)>, usize> = BTreeMap::new();
            all().for_each(|chunk| *votes.entry(seen(chunk)).or_default() += 1);
            let (pattern, _) = votes.into_iter().rev().max_by_key(|(_, votes)| *votes)?;
            let different: Vec<ChunkId> = all().filter(|&chunk| seen(chunk) != pattern).collect();
            exceptions.extend(different.into_iter().filter(|&chunk| is_exception.insert(chunk)));
            pattern.into_iter().for_each(|one| patterns.entry(one).or_default().push(chunk));
        }
        exceptions.sort_unstable();
        let (mut pattern, mut own) = (Schedule::builder(), Schedule::builder());
        let mut patterns = patterns.into_iter().peekable();
        for step in schedule.steps() {
            pattern.step(step.width);
            while let Some(((_, from, (to, via, op)), chunks)) = patterns.next_if(|((at, ..), _)| *at == step.number) {
                pattern.transfer(from, to, via, op, chunks);
            }
            own.step(step.width);
            for transfer in step.transfers {
                let chunks = schedule.chunks(transfer).iter().copied().filter(|&chunk| is_exception.holds(chunk));
                let mut chunks = chunks.peekable();
                if chunks.peek().is_some() {
                    own.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
                }
            }
        }
        Self::new(problem, pattern.finish(), own.finish(), exceptions).ok()
    }
}
