//! Finding the pattern of a schedule, and what repeats with a period.

use std::collections::BTreeMap;

use collsynth_bound::period::failure_period;
use collsynth_core::collective::{ChunkId, ChunkSet};
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Exceptions, Op, Repeated, Schedule, Translation};
use collsynth_core::topology::{Direction, RankId, Topology};
use collsynth_plan::with_exceptions;

/// A move: its step, sender, receiver, direction where that is stated, and operation.
type Move = (u32, RankId, (RankId, Option<Direction>, Op));

/// Finds the compact form of a schedule. The *pattern*: of each chunk of rank 0, the moves that most of its
/// translations make, or those of the translation that is most like all others. All other chunks are exceptions, or
/// altered. Where failures repeat with a period and it takes fewer words: of each chunk of the first cell, the moves
/// that most of its translations by multiples of the period make, if they are not those of the pattern; all others are
/// exceptions. `None` if the problem has no translations. Expanded, the result has the same moves.
///
/// O(moves log moves).
pub fn find_pattern(problem: &Problem, schedule: &Schedule) -> Option<CompactSchedule> {
    let translation = Translation::new(problem)?;
    let ranks = problem.machine().rank_count();
    if schedule.transfers().iter().any(|transfer| transfer.from.index() >= ranks || transfer.to.index() >= ranks) {
        return None;
    }
    let moves = Moves::new(problem, schedule, &translation)?;
    let period = failure_period(problem.machine());
    let repeats = period.map(|period| in_cells(problem, &moves, &Cells::new(problem.machine(), Some(period))));
    let alone = in_cells(problem, &moves, &Cells::new(problem.machine(), None));
    repeats.into_iter().chain([alone]).flatten().min_by_key(CompactSchedule::stated_moves)
}

/// The compact form with what repeats from cell to cell.
fn in_cells(problem: &Problem, moves: &Moves<'_>, cells: &Cells) -> Option<CompactSchedule> {
    let Moves { schedule, translation, .. } = *moves;
    let ranks = problem.machine().rank_count();
    let mut patterns: BTreeMap<Move, Vec<ChunkId>> = BTreeMap::new();
    let mut repeated: BTreeMap<Move, Vec<ChunkId>> = BTreeMap::new();
    let (mut departed, mut exceptions) = (Vec::new(), Vec::new());
    // Others move nowhere.
    let mut is_moved = ChunkSet::new(translation.chunks_of_rank() as usize);
    for &(chunk, _) in &moves.of_chunks {
        is_moved.insert(translation.seen_from_rank_0(chunk).0);
    }
    for of_rank_0 in is_moved.iter() {
        let by_rank: Vec<Vec<Move>> =
            (0..narrow(ranks)).map(|by| moves.seen(translation.chunk(of_rank_0, RankId(by)))).collect();
        let at = |rank: &RankId| &by_rank[rank.index()];
        let pattern = if cells.period.is_some() { most(by_rank.iter())?.0 } else { most_alike(&by_rank)? };
        for (home, members) in &cells.members {
            let mut others: Vec<RankId> = members.iter().copied().filter(|rank| at(rank) != pattern).collect();
            let Some((alike, count)) = most(others.iter().map(at)) else { continue };
            if cells.period.is_some() && count > 1 && count > members.len() - others.len() {
                departed.push(translation.chunk(of_rank_0, *home));
                for &(step, from, (to, via, op)) in alike {
                    let [from, to] = [from, to].map(|rank| translation.rank(rank, *home));
                    // Stated at the translation at which the sender is in the first cell.
                    let by = translation.between(from, cells.home[from.index()]);
                    let chunk = translation.chunk(of_rank_0, translation.rank(*home, by));
                    let sent = (step, translation.rank(from, by), (translation.rank(to, by), via, op));
                    repeated.entry(sent).or_default().push(chunk);
                }
                others = members.iter().copied().filter(|rank| at(rank) != alike).collect();
            }
            exceptions.extend(others.into_iter().map(|rank| translation.chunk(of_rank_0, rank)));
        }
        pattern.iter().for_each(|&one| patterns.entry(one).or_default().push(of_rank_0));
    }
    departed.sort_unstable();
    exceptions.sort_unstable();
    let pattern = timed(schedule, patterns);
    let repeated = cells.period.clone().filter(|_| !departed.is_empty()).map(|period| {
        let moves = timed(schedule, repeated);
        Repeated { period, chunks: departed, moves }
    });
    let own = schedule_of(schedule, |chunk| exceptions.binary_search(&chunk).is_ok());
    match repeated {
        None => with_exceptions(problem, pattern, exceptions, own).ok(),
        some => CompactSchedule::new(problem, pattern, some, Exceptions::replacing(exceptions, own)).ok(),
    }
}

/// What is there most often, and how often; of equals, the first in order.
fn most<'a>(of: impl Iterator<Item = &'a Vec<Move>>) -> Option<(&'a Vec<Move>, usize)> {
    let mut votes: BTreeMap<&Vec<Move>, usize> = BTreeMap::new();
    of.for_each(|one| *votes.entry(one).or_default() += 1);
    votes.into_iter().rev().max_by_key(|(_, votes)| *votes)
}

/// What differs from all others in the fewest moves, if no one is there more often than all others together.
fn most_alike(of: &[Vec<Move>]) -> Option<&Vec<Move>> {
    let (most, votes) = most(of.iter())?;
    if 2 * votes > of.len() {
        return Some(most);
    }
    let mut counts: BTreeMap<&Move, i64> = BTreeMap::new();
    of.iter().flatten().for_each(|one| *counts.entry(one).or_default() += 1);
    // Two differ in the moves of both, less twice those that they share.
    let alike = |moves: &&Vec<Move>| -> i64 { moves.iter().map(|one| 2 * counts[one] - of.len() as i64).sum() };
    of.iter().rev().max_by_key(alike)
}

/// Moves in the steps of a schedule.
fn timed(schedule: &Schedule, moves: BTreeMap<Move, Vec<ChunkId>>) -> Schedule {
    let mut timed = Schedule::builder();
    let mut moves = moves.into_iter().peekable();
    for step in schedule.steps() {
        timed.step(step.width);
        while let Some(((_, from, (to, via, op)), mut chunks)) = moves.next_if(|((at, ..), _)| *at == step.number) {
            chunks.sort_unstable();
            timed.transfer(from, to, via, op, chunks);
        }
    }
    timed.finish()
}

/// A schedule of some of the chunks.
fn schedule_of(schedule: &Schedule, is_kept: impl Fn(ChunkId) -> bool) -> Schedule {
    let mut kept = Schedule::builder();
    for step in schedule.steps() {
        kept.step(step.width);
        for transfer in step.transfers {
            let mut chunks = schedule.chunks(transfer).iter().copied().filter(|&chunk| is_kept(chunk)).peekable();
            if chunks.peek().is_some() {
                kept.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
            }
        }
    }
    kept.finish()
}

/// The moves of a schedule by chunk.
struct Moves<'a> {
    schedule: &'a Schedule,
    translation: &'a Translation,
    /// By transfer.
    step_of: Vec<u32>,
    /// A chunk and a transfer each, sorted.
    of_chunks: Vec<(ChunkId, u32)>,
    /// Where each chunk's begin, unless most chunks have none: then a search finds them.
    first: Vec<usize>,
}

impl<'a> Moves<'a> {
    /// `None` if a chunk is out of range.
    fn new(problem: &Problem, schedule: &'a Schedule, translation: &'a Translation) -> Option<Self> {
        let step_of = schedule.steps().flat_map(|step| step.transfers.iter().map(move |_| step.number)).collect();
        let mut of_chunks: Vec<(ChunkId, u32)> = Vec::with_capacity(schedule.move_count());
        for (index, transfer) in (0..).zip(schedule.transfers()) {
            of_chunks.extend(schedule.chunks(transfer).iter().map(|&chunk| (chunk, index)));
        }
        of_chunks.sort_unstable();
        let chunks = problem.chunk_count();
        if of_chunks.last().is_some_and(|last| last.0.0 >= chunks) {
            return None;
        }
        let mut first = Vec::new();
        if u64::from(chunks) <= 8 * of_chunks.len() as u64 {
            first.resize(chunks as usize + 1, 0);
            of_chunks.iter().for_each(|(chunk, _)| first[chunk.index() + 1] += 1);
            (1..first.len()).for_each(|at| first[at] += first[at - 1]);
        }
        Some(Self { schedule, translation, step_of, of_chunks, first })
    }

    /// A chunk's, as seen from the rank it belongs to; sorted.
    fn seen(&self, chunk: ChunkId) -> Vec<Move> {
        let owner = self.translation.owner(chunk);
        let range = match self.first.get(chunk.index()..chunk.index() + 2) {
            Some(ends) => ends[0]..ends[1],
            None => {
                let begin = self.of_chunks.partition_point(|one| one.0 < chunk);
                begin..begin + self.of_chunks[begin..].partition_point(|one| one.0 == chunk)
            }
        };
        let seen = |&(_, index): &(ChunkId, u32)| {
            let transfer = &self.schedule.transfers()[index as usize];
            let [from, to] = [transfer.from, transfer.to].map(|rank| self.translation.between(owner, rank));
            (self.step_of[index as usize], from, (to, transfer.via, transfer.op))
        };
        let mut seen: Vec<Move> = self.of_chunks[range].iter().map(seen).collect();
        seen.sort_unstable();
        seen
    }
}

/// The cells in which failures repeat; where they do not, one.
struct Cells {
    period: Option<Vec<u32>>,
    /// The rank of the first cell that translations by multiples of the period take to each rank; rank 0, where nothing
    /// repeats.
    home: Vec<RankId>,
    /// The ranks that it takes there.
    members: BTreeMap<RankId, Vec<RankId>>,
}

impl Cells {
    fn new(machine: &Topology, period: Option<Vec<u32>>) -> Self {
        let first = |rank: RankId| match (machine.as_torus(), &period) {
            (Some(torus), Some(period)) => {
                let dims = period.iter().enumerate();
                RankId(dims.map(|(dim, part)| torus.position(rank, dim) % part * torus.stride(dim)).sum())
            }
            _ => RankId(0),
        };
        let ranks = (0..narrow(machine.rank_count())).map(RankId);
        let home: Vec<RankId> = ranks.clone().map(first).collect();
        let mut members: BTreeMap<RankId, Vec<RankId>> = BTreeMap::new();
        ranks.zip(&home).for_each(|(rank, home)| members.entry(*home).or_default().push(rank));
        Self { period, home, members }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::TopologySpec;

    fn explicit(moves: &[&[(u32, u32, u32)]]) -> Schedule {
        let mut builder = Schedule::builder();
        for step in moves {
            builder.step(1);
            for &(from, to, chunk) in *step {
                builder.transfer(RankId(from), RankId(to), None, Op::Copy, [ChunkId(chunk)]);
            }
        }
        builder.finish()
    }

    fn ring(ranks: u32, cables: &[(u32, u32)]) -> Problem {
        let ring = Topology::new(TopologySpec::torus(&[ranks]).without_cables(cables)).unwrap();
        Problem::new(ring, Collective::new(Kind::AllToAll)).unwrap()
    }

    #[test]
    fn the_pattern_is_what_most_do() {
        // Without the cable between ranks 0 and 1: two messages go around.
        let explicit = explicit(&[
            &[(0, 2, 2), (1, 2, 5), (2, 0, 6), (2, 1, 7)],
            &[(0, 2, 1), (1, 2, 3)],
            &[(2, 0, 3), (2, 1, 1)],
        ]);
        let compact = find_pattern(&ring(3, &[(0, 1)]), &explicit).unwrap();
        let exceptions = compact.exceptions();
        assert_eq!(exceptions.chunks, [ChunkId(1), ChunkId(3)]);
        assert_eq!((compact.pattern().move_count(), exceptions.moves.move_count()), (2, 4));
        assert!(compact.repeated().is_none());
        assert_eq!(compact.expand(), explicit);
    }

    #[test]
    fn cells_repeat_what_departs() {
        // Every other cable is dead: up the ring only ranks 1 and 3 send, down only 0 and 2.
        let problem = ring(4, &[(0, 1), (2, 3)]);
        let alike = explicit(&[&[(0, 3, 3), (1, 2, 6), (2, 1, 9), (3, 0, 12)]]);
        let compact = find_pattern(&problem, &alike).unwrap();
        assert_eq!(compact.repeated().map(|one| &one.period[..]), Some(&[2][..]));
        assert_eq!((compact.exceptions().chunks.len(), compact.stated_moves()), (0, 2));
        assert_eq!(compact.expand(), alike);
        let odd = explicit(&[&[(1, 2, 6), (2, 1, 9), (3, 0, 12)]]);
        let compact = find_pattern(&problem, &odd).unwrap();
        assert_eq!(compact.repeated().map(|one| one.moves.move_count()), Some(1));
        assert_eq!((&compact.exceptions().chunks[..], compact.expand()), (&[ChunkId(9)][..], odd));
    }
}
