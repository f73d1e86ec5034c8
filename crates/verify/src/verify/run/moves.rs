//! What each transfer does to each of its chunks, sorted by chunk.

use super::scope::Scope;
use collsynth_core::collective::ChunkId;
use collsynth_core::exact::narrow;
use collsynth_core::schedule::Schedule;

/// A chunk in a transfer. Sorts by chunk, then in the order of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::verify) struct Move(u64);

impl Move {
    fn new(chunk: ChunkId, transfer: usize) -> Self {
        Self(u64::from(chunk.0) << 32 | u64::from(narrow(transfer)))
    }

    pub(in crate::verify) fn chunk(self) -> ChunkId {
        ChunkId((self.0 >> 32) as u32)
    }

    /// Counted through the schedule.
    pub(in crate::verify) fn transfer(self) -> usize {
        narrow(self.0 & u64::from(u32::MAX)) as usize
    }
}

/// Every move of the chunks in the scope, sorted. O(moves * log(moves)).
pub(in crate::verify) fn moves_by_chunk(schedule: &Schedule, scope: &Scope<'_>) -> Vec<Move> {
    let mut moves = Vec::with_capacity(schedule.move_count());
    for (index, transfer) in schedule.transfers().iter().enumerate() {
        let known = schedule.chunks(transfer).iter().filter(|&&chunk| scope.contains(chunk));
        moves.extend(known.map(|&chunk| Move::new(chunk, index)));
    }
    moves.sort_unstable();
    moves
}
