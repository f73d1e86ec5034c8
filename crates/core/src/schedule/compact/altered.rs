//! What single chunks do in place of the pattern, or besides it.

use super::{CompactError, CompactSchedule};
use crate::collective::{ChunkId, ChunkSet};
use crate::schedule::{Op, Schedule};
use crate::topology::{Direction, RankId};

/// Chunks that depart from the pattern, each for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceptions {
    /// Those that do not follow it at all, ascending.
    pub chunks: Vec<ChunkId>,
    /// Moves of other chunks, which the pattern or a cell has, that are left out. These chunks are *altered*.
    pub without: Schedule,
    /// The moves of both.
    pub moves: Schedule,
}

impl Exceptions {
    /// Chunks with all their moves; the others follow the pattern in everything.
    pub fn replacing(chunks: Vec<ChunkId>, moves: Schedule) -> Self {
        Self { chunks, without: Schedule::of_widths(moves.widths()), moves }
    }

    /// The altered chunks, ascending.
    pub(super) fn altered(&self) -> Vec<ChunkId> {
        let mut altered = self.without.chunks.clone();
        altered.sort_unstable();
        altered.dedup();
        altered
    }

    /// Checks the lists of a collective with this number of chunks, and returns the exceptions as a set.
    pub(super) fn check(&self, chunks: u32, altered: &[ChunkId]) -> Result<ChunkSet, CompactError> {
        let mut is_exception = ChunkSet::new(if self.chunks.is_empty() { 0 } else { chunks as usize });
        for (index, &chunk) in self.chunks.iter().enumerate() {
            if chunk.0 >= chunks || (index > 0 && self.chunks[index - 1] >= chunk) {
                return Err(CompactError::ExceptionOrder(chunk));
            }
            is_exception.insert(chunk);
        }
        let has_moves = |chunk: &ChunkId| is_exception.holds(*chunk) || altered.binary_search(chunk).is_ok();
        match self.moves.chunks.iter().find(|&chunk| !has_moves(chunk)) {
            Some(&chunk) => Err(CompactError::NoException(chunk)),
            None => Ok(is_exception),
        }
    }
}

impl CompactSchedule {
    /// Is each move that is left out one that the pattern or the cell makes once, and left out once?
    ///
    /// O(moves stated, and sorting them).
    pub(super) fn check_left_out(&self, chunks: u32) -> Result<(), CompactError> {
        let Exceptions { without, .. } = &self.exceptions;
        for step in without.steps().filter(|step| !step.transfers.is_empty()) {
            let of_pattern = sent(&self.pattern, step.number);
            let of_cell = self.cell.as_ref().map_or_else(Vec::new, |cell| sent(&cell.stated.moves, step.number));
            let left_out = sent(without, step.number);
            for (index, one) in left_out.iter().enumerate() {
                let &(chunk, (from, to, via, op)) = one;
                let is_there = |rank: RankId| rank.0 < self.translation.rank_count();
                let is_made = || {
                    let (of_rank_0, owner) = self.translation.seen_from_rank_0(chunk);
                    // As seen from where it is stated: for rank 0, or with its sender in the first cell.
                    let departs = self.cell.as_ref().filter(|cell| cell.is_departed(of_rank_0, owner));
                    let (list, by) = match departs {
                        None => (&of_pattern, self.translation.between(owner, RankId(0))),
                        Some(cell) => (&of_cell, self.translation.between(from, cell.home(from))),
                    };
                    let [from, to] = [from, to].map(|rank| self.translation.rank(rank, by));
                    is_once(list, &(self.translation.chunk(chunk, by), (from, to, via, op)))
                };
                let is_followed = chunk.0 < chunks && !self.is_exception(chunk) && is_there(from) && is_there(to);
                let is_twice = index > 0 && left_out[index - 1] == *one;
                if is_twice || !is_followed || !is_made() {
                    return Err(CompactError::NotMade { step: step.number, chunk });
                }
            }
        }
        Ok(())
    }
}

/// A move: its chunk; and sender, receiver, direction and operation.
pub(super) type Move = (ChunkId, (RankId, RankId, Option<Direction>, Op));

/// The moves of a step, sorted.
pub(super) fn sent(schedule: &Schedule, number: u32) -> Vec<Move> {
    let mut moves = Vec::new();
    for transfer in schedule.step(number).transfers {
        let way = (transfer.from, transfer.to, transfer.via, transfer.op);
        moves.extend(schedule.chunks(transfer).iter().map(|&chunk| (chunk, way)));
    }
    moves.sort_unstable();
    moves
}

/// Is it in a sorted list exactly once?
fn is_once(list: &[Move], one: &Move) -> bool {
    let first = list.partition_point(|other| other < one);
    list.get(first) == Some(one) && list.get(first + 1) != Some(one)
}
