//! Schedules whose second half is the first one backward: what is summed up along trees comes back along them.
//!
//! ```text
//!   step 1  1 -> 0 reduce     step 4  0 -> 1 copy
//!   step 2  2 -> 1 reduce     step 3  1 -> 2 copy
//! ```

use std::collections::BTreeMap;

use super::compact::Cell;
use super::{
    CompactError, CompactSchedule, Exceptions, Op, Repeated, Schedule, ScheduleBuilder, Transfer, Translation,
};
use crate::collective::ChunkId;
use crate::problem::Problem;
use crate::topology::{Direction, RankId};

/// What tells the transfers of a step apart.
type Key = (RankId, RankId, Option<Direction>, Op);

impl Schedule {
    /// The steps, and then the same in reverse order with the same widths, in which every transfer goes back over the
    /// opposite link and copies; these are sorted by sender, receiver and direction.
    pub fn mirrored(&self) -> Self {
        let mut both = ScheduleBuilder { schedule: self.clone() };
        for step in self.steps().rev() {
            both.step(step.width);
            let mut back: Vec<(Key, &Transfer)> = step.transfers.iter().map(|one| (back(one), one)).collect();
            back.sort_by_key(|(key, _)| *key);
            for ((from, to, via, op), transfer) in back {
                both.transfer(from, to, via, op, self.chunks(transfer).iter().copied());
            }
        }
        both.finish()
    }
}

impl CompactSchedule {
    /// The schedule whose first half these are, and whose second half mirrors it. The arguments are those of
    /// [`CompactSchedule::new`].
    ///
    /// # Errors
    ///
    /// As [`CompactSchedule::new`].
    pub fn mirrored(
        problem: &Problem,
        pattern: &Schedule,
        repeated: Option<Repeated>,
        exceptions: Exceptions,
    ) -> Result<Self, CompactError> {
        let repeated = repeated.map(|repeated| repeated.mirrored(problem)).transpose()?;
        let Exceptions { chunks, without, moves } = exceptions;
        let exceptions = Exceptions { chunks, without: without.mirrored(), moves: moves.mirrored() };
        Self::new(problem, pattern.mirrored(), repeated, exceptions)
    }
}

impl Repeated {
    /// The same with the way back, each transfer of which is translated to where its sender is in the first cell.
    ///
    /// # Errors
    ///
    /// A [`CompactError`]: the problem has no translations, or they do not fit it.
    pub fn mirrored(self, problem: &Problem) -> Result<Self, CompactError> {
        let translation = Translation::new(problem).ok_or(CompactError::NotTranslatable)?;
        let count = self.moves.step_count();
        let cell = Cell::new(problem, &translation, self)?;
        let mirrored = cell.stated.moves.mirrored();
        let mut both = Schedule::builder();
        for step in mirrored.steps() {
            both.step(step.width);
            let mut sent: BTreeMap<Key, Vec<ChunkId>> = BTreeMap::new();
            for one in step.transfers {
                let chunks = mirrored.chunks(one).iter().copied();
                if step.number as usize <= count {
                    both.transfer(one.from, one.to, one.via, one.op, chunks);
                    continue;
                }
                let by = translation.between(one.from, cell.home(one.from));
                let [from, to] = [one.from, one.to].map(|rank| translation.rank(rank, by));
                let chunks = chunks.map(|chunk| translation.chunk(chunk, by));
                sent.entry((from, to, one.via, one.op)).or_default().extend(chunks);
            }
            for ((from, to, via, op), mut chunks) in sent {
                chunks.sort_unstable();
                both.transfer(from, to, via, op, chunks);
            }
        }
        Ok(Self { moves: both.finish(), ..cell.stated })
    }
}

/// The way back of a transfer.
fn back(transfer: &Transfer) -> Key {
    (transfer.to, transfer.from, transfer.via.map(Direction::opposite), Op::Copy)
}
