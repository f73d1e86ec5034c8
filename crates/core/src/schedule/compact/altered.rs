//! What single chunks do in place of the pattern, or besides it.

use super::{CompactError, CompactSchedule};
use crate::collective::{ChunkId, ChunkSet};
use crate::schedule::slot::Slot;
use crate::schedule::{Choice, Schedule};

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

    /// The exceptions as a set, of so many chunks.
    pub(super) fn check(&self, chunks: u32) -> Result<ChunkSet, CompactError> {
        let mut is_exception = ChunkSet::new(if self.chunks.is_empty() { 0 } else { chunks as usize });
        for (index, &chunk) in self.chunks.iter().enumerate() {
            if chunk.0 >= chunks || (index > 0 && self.chunks[index - 1] >= chunk) {
                return Err(CompactError::ExceptionOrder(chunk));
            }
            is_exception.insert(chunk);
        }
        let altered = self.altered();
        let has_moves = |chunk: &ChunkId| is_exception.holds(*chunk) || altered.binary_search(chunk).is_ok();
        match self.moves.chunks.iter().find(|&chunk| !has_moves(chunk)) {
            Some(&chunk) => Err(CompactError::NoException(chunk)),
            None => Ok(is_exception),
        }
    }
}

impl CompactSchedule {
    /// Is each move that is left out one that would be made once, and left out once?
    ///
    /// O(moves that the pattern and the cell have for the senders of these).
    pub(super) fn check_left_out(&self) -> Result<(), CompactError> {
        for step in self.exceptions.without.steps().filter(|step| !step.transfers.is_empty()) {
            let mut ranks: Vec<_> = step.transfers.iter().map(|transfer| transfer.from).collect();
            ranks.sort_unstable();
            ranks.dedup();
            let from_them = Choice { ranks: Some(ranks), ..Choice::default() };
            for mut slot in self.stated_slots(step.number, &from_them) {
                let mut without = std::mem::take(&mut slot.without).into_owned();
                without.sort_unstable();
                let mut made: Vec<ChunkId> = self.chunks(&Slot { own: (&[]).into(), ..slot }).collect();
                made.sort_unstable();
                let count = |list: &[ChunkId], chunk| {
                    let first = list.partition_point(|one| *one < chunk);
                    list[first..].iter().take_while(|one| **one == chunk).count()
                };
                let is_wrong = |&&chunk: &&ChunkId| [&without, &made].iter().any(|list| count(list, chunk) != 1);
                if let Some(&chunk) = without.iter().find(is_wrong) {
                    return Err(CompactError::NotMade { step: step.number, chunk });
                }
            }
        }
        Ok(())
    }
}
