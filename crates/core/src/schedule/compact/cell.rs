//! What repeats from cell to cell: chunks that depart from the pattern alike in every cell, and their moves.
//!
//! Failures that repeat with a period, as those of dead switches, leave the translations by its multiples. Of the ranks
//! of the first cell, these translations make all ranks; so the moves of their chunks are stated once for all cells.

use super::{CompactError, CompactSchedule};
use crate::collective::{ChunkId, ChunkSet};
use crate::problem::Problem;
use crate::schedule::slot::Way;
use crate::schedule::{Schedule, Translation};
use crate::topology::RankId;

/// Moves that repeat with a period, which stand in place of those of the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The extents of a cell.
    pub period: Vec<u32>,
    /// The chunks of ranks of the first cell whose translations by multiples of the period do not follow the pattern,
    /// ascending.
    pub chunks: Vec<ChunkId>,
    /// Their moves, each at the translation at which the sender is in the first cell.
    pub moves: Schedule,
}

/// The same, checked.
#[derive(Clone, Debug)]
pub(in crate::schedule) struct Cell {
    pub stated: Repeated,
    /// The rank of the first cell that translations by multiples of the period take to each rank.
    home: Vec<RankId>,
    /// The number of each rank of the first cell among these; 0 for others.
    number: Vec<u32>,
    /// The number of cells.
    pub cells: u32,
    /// The chunks as those of rank 0 that they are translations of, each with its rank in the first cell; sorted.
    pub departed: Vec<(ChunkId, RankId)>,
    /// The same: a bit for each chunk of each rank of the first cell.
    is_departed: ChunkSet,
    chunks_of_rank: u32,
}

impl Cell {
    pub fn new(problem: &Problem, translation: &Translation, stated: Repeated) -> Result<Self, CompactError> {
        let torus = problem.machine().as_torus().ok_or(CompactError::NotTranslatable)?;
        torus.check_period(&stated.period)?;
        let (ranks, chunks_of_rank) = (translation.rank_count(), translation.chunks_of_rank());
        let within = |rank: RankId, dim: usize| torus.position(rank, dim) % stated.period[dim];
        let dims = 0..stated.period.len();
        let first = |rank| RankId(dims.clone().map(|dim| within(rank, dim) * torus.stride(dim)).sum());
        let home: Vec<RankId> = (0..ranks).map(|rank| first(RankId(rank))).collect();
        let mut number = vec![0; home.len()];
        let mut size = 0;
        for (rank, _) in (0..).zip(&home).filter(|&(rank, home)| *home == RankId(rank)) {
            number[rank as usize] = size;
            size += 1;
        }
        // No more than there are chunks.
        let mut cell = Self {
            home,
            number,
            cells: ranks / size,
            departed: Vec::with_capacity(stated.chunks.len()),
            is_departed: ChunkSet::new((size * chunks_of_rank) as usize),
            chunks_of_rank,
            stated,
        };
        for (index, &chunk) in cell.stated.chunks.iter().enumerate() {
            if chunk.0 >= problem.chunk_count() || (index > 0 && cell.stated.chunks[index - 1] >= chunk) {
                return Err(CompactError::CellOrder(chunk));
            }
            let (of_rank_0, owner) = translation.seen_from_rank_0(chunk);
            if cell.home(owner) != owner {
                return Err(CompactError::NotOfFirstCell(chunk));
            }
            cell.departed.push((of_rank_0, owner));
            cell.is_departed.insert(ChunkId(cell.bit(of_rank_0, owner)));
        }
        cell.departed.sort_unstable();
        for transfer in cell.stated.moves.transfers() {
            if let Some(rank) = [transfer.from, transfer.to].into_iter().find(|rank| rank.0 >= ranks) {
                return Err(CompactError::RankOutOfRange(rank));
            }
            if cell.home(transfer.from) != transfer.from {
                return Err(CompactError::SenderElsewhere(transfer.from));
            }
        }
        let is_listed = |chunk: ChunkId| {
            let (of_rank_0, owner) = translation.seen_from_rank_0(chunk);
            cell.is_departed(of_rank_0, owner)
        };
        let exists = |chunk: ChunkId| chunk.0 < problem.chunk_count();
        match cell.stated.moves.chunks.iter().find(|&&chunk| !exists(chunk) || !is_listed(chunk)) {
            Some(&chunk) => Err(CompactError::NotListed(chunk)),
            None => Ok(cell),
        }
    }

    /// The rank of the first cell that translations by multiples of the period take to a rank.
    pub fn home(&self, rank: RankId) -> RankId {
        self.home[rank.index()]
    }

    /// Does the translation of a chunk of rank 0 by this rank depart from the pattern?
    pub fn is_departed(&self, of_rank_0: ChunkId, by: RankId) -> bool {
        self.is_departed.holds(ChunkId(self.bit(of_rank_0, self.home(by))))
    }

    fn bit(&self, of_rank_0: ChunkId, home: RankId) -> u32 {
        self.number[home.index()] * self.chunks_of_rank + of_rank_0.0
    }
}

impl CompactSchedule {
    /// What repeats with a period, if anything does.
    pub fn repeated(&self) -> Option<&Repeated> {
        self.cell.as_ref().map(|cell| &cell.stated)
    }

    /// The translations by multiples of the period; of no period, none.
    pub fn multiples(&self) -> impl Iterator<Item = RankId> + '_ {
        let ranks = (0..self.translation.rank_count()).map(RankId);
        ranks.filter(|&by| self.cell.as_ref().is_some_and(|cell| cell.home(by) == RankId(0)))
    }

    /// The moves of the chunks of the first cell that do not follow the pattern, as seen from there: each chunk by its
    /// number in the list, whatever cell it is sent in. `None` without a period.
    ///
    /// O(moves stated, and sorting them).
    pub fn departures(&self) -> Option<Schedule> {
        let cell = self.cell.as_ref()?;
        let mut builder = Schedule::builder();
        let mut moves: Vec<(RankId, Way, ChunkId)> = Vec::new();
        for step in cell.stated.moves.steps() {
            builder.step(step.width);
            for transfer in step.transfers {
                for &chunk in cell.stated.moves.chunks(transfer) {
                    let owner = self.translation.owner(chunk);
                    let by = self.translation.between(owner, cell.home(owner));
                    let [from, to] = [transfer.from, transfer.to].map(|rank| self.translation.rank(rank, by));
                    moves.push((from, (to, transfer.via, transfer.op), self.translation.chunk(chunk, by)));
                }
            }
            moves.sort_unstable();
            for same in moves.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                let (from, (to, via, op), _) = same[0];
                builder.transfer(from, to, via, op, same.iter().map(|one| one.2));
            }
            moves.clear();
        }
        Some(builder.finish())
    }
}
