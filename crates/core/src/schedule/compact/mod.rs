//! The compact form: a pattern, translated over the torus, and moves of their own for exceptions.
//!
//! On an intact torus, planners make the schedule of rank 0's chunks and translate it to all ranks. A failure touches
//! few of them: those are the *exceptions*, and the *pattern* serves for all others.
//!
//! ```text
//!   pattern     step 1   0 -> 1  the chunk 0>2        every rank r: r -> r+1  the chunk r>r+2
//!               step 2   1 -> 2  the chunk 0>2                      r+1 -> r+2
//!   exceptions  3>1                                   not these
//!   own moves   step 1   3 -> 2  the chunk 3>1        but these
//! ```
//!
//! Failures that repeat with a period touch chunks of every rank, but alike in every cell: [`Repeated`] states the
//! moves of those of the first cell.
//!
//! A chunk that departs from the pattern in a few moves is *altered*: it follows the pattern (or its like in the cell)
//! without these, and with moves of its own.
//!
//! What it means is the *expanded* schedule: in each step, one transfer for each sender, receiver, direction and
//! operation that occur, sorted so, with its chunks ascending.

mod altered;
mod cell;
mod slots;

pub use altered::Exceptions;
pub use cell::Repeated;

use thiserror::Error;

use super::{Choice, Schedule, Timetable, Translation};
use crate::collective::{ChunkId, ChunkSet};
use crate::problem::Problem;
use crate::topology::{PeriodError, RankId};
pub(super) use cell::Cell;

/// More chunk moves, or transfers, than any expanded schedule may have.
const MOST_MOVES: u64 = 1 << 32;
/// More transfers than any step of it may have: what shows or writes a step holds all of them. No torus whose problems
/// have translations has as many links.
const MOST_SLOTS: u64 = 1 << 22;

/// A schedule in the compact form, for one problem.
#[derive(Clone, Debug)]
pub struct CompactSchedule {
    pattern: Schedule,
    cell: Option<Cell>,
    exceptions: Exceptions,
    is_exception: ChunkSet,
    /// The chunks that are without a move, ascending.
    altered: Vec<ChunkId>,
    translation: Translation,
}

/// Why a pattern and exceptions are no schedule in the compact form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum CompactError {
    #[error(
        "a pattern needs a torus that looks the same from every rank, all ranks in one group, and all_to_all, \
         all_gather, all_reduce_gathered, reduce_scatter, or all_reduce in a multiple of as many parts as ranks"
    )]
    NotTranslatable,
    #[error("the pattern moves chunk {0}, which does not belong to rank 0")]
    NotOfRankZero(ChunkId),
    #[error("the pattern names rank {0}, which is out of range")]
    RankOutOfRange(RankId),
    #[error(transparent)]
    Period(#[from] PeriodError),
    #[error("the chunks of the cell are to be ascending and in range, each once: see chunk {0}")]
    CellOrder(ChunkId),
    #[error(
        "chunk {0} of the cell does not belong to a rank of the first cell, whose coordinates are below the period"
    )]
    NotOfFirstCell(ChunkId),
    #[error("rank {0} sends in the cell, but is not in the first one, where all coordinates are below the period")]
    SenderElsewhere(RankId),
    #[error("chunk {0} is sent in the cell, but neither it nor a translation of it is listed there")]
    NotListed(ChunkId),
    #[error("the exceptions are to be ascending and in range, each once: see chunk {0}")]
    ExceptionOrder(ChunkId),
    #[error("chunk {0} has moves of its own, but is no exception, and no step leaves out a move of it")]
    NoException(ChunkId),
    #[error(
        "step {step} leaves out a move of chunk {chunk} that neither the pattern nor a cell makes there exactly once"
    )]
    NotMade { step: u32, chunk: ChunkId },
    #[error("the pattern and the moves of the exceptions differ in their steps or widths")]
    Steps,
    #[error("expanded, the schedule has more than {MOST_MOVES} moves or transfers")]
    TooManyMoves,
    #[error("expanded, step {0} has more than {MOST_SLOTS} transfers")]
    TooManySlots(u32),
}

impl CompactSchedule {
    /// A schedule for a problem. The pattern moves chunks of rank 0, as if no link or rank had failed. All parts have
    /// the same steps and widths.
    ///
    /// # Errors
    ///
    /// A [`CompactError`]. Whether the schedule holds is for the verifier to decide.
    pub fn new(
        problem: &Problem,
        pattern: Schedule,
        repeated: Option<Repeated>,
        exceptions: Exceptions,
    ) -> Result<Self, CompactError> {
        let translation = Translation::new(problem).ok_or(CompactError::NotTranslatable)?;
        let ranks = problem.machine().rank_count();
        let chunks = problem.chunk_count();
        let has_same_steps = |other: &Schedule| pattern.widths().eq(other.widths());
        if ![&exceptions.without, &exceptions.moves].into_iter().all(has_same_steps)
            || !repeated.as_ref().is_none_or(|repeated| has_same_steps(&repeated.moves))
        {
            return Err(CompactError::Steps);
        }
        if let Some(&chunk) = pattern.chunks.iter().find(|chunk| chunk.0 >= translation.chunks_of_rank()) {
            return Err(CompactError::NotOfRankZero(chunk));
        }
        let ends = pattern.transfers().iter().flat_map(|transfer| [transfer.from, transfer.to]);
        if let Some(rank) = ends.into_iter().find(|rank| rank.index() >= ranks) {
            return Err(CompactError::RankOutOfRange(rank));
        }
        let cell = repeated.map(|repeated| Cell::new(problem, &translation, repeated)).transpose()?;
        let altered = exceptions.altered();
        let is_exception = exceptions.check(chunks, &altered)?;
        let each = |schedule: &Schedule| (schedule.move_count() + schedule.transfers().len()) as u64;
        let in_cells = cell.as_ref().map_or(0, |cell| each(&cell.stated.moves) * u64::from(cell.cells));
        if each(&pattern) * ranks as u64 + in_cells + exceptions.moves.move_count() as u64 >= MOST_MOVES {
            return Err(CompactError::TooManyMoves);
        }
        let compact = Self { pattern, cell, exceptions, is_exception, altered, translation };
        compact.check_left_out(chunks)?;
        match compact.numbers().find(|&step| compact.most_slots(step) > MOST_SLOTS) {
            Some(step) => Err(CompactError::TooManySlots(step)),
            None => Ok(compact),
        }
    }

    /// What the chunks of rank 0 do where nothing failed.
    pub fn pattern(&self) -> &Schedule {
        &self.pattern
    }

    /// The chunks that depart from the pattern for themselves, and how.
    pub fn exceptions(&self) -> &Exceptions {
        &self.exceptions
    }

    /// Is this chunk an exception, which does not follow the pattern at all? O(1).
    pub fn is_exception(&self, chunk: ChunkId) -> bool {
        self.is_exception.holds(chunk)
    }

    /// The chunks that follow the pattern but for some moves, ascending.
    pub fn altered(&self) -> &[ChunkId] {
        &self.altered
    }

    /// The translations of its torus.
    pub fn translation(&self) -> &Translation {
        &self.translation
    }

    /// The number of moves in the file, not of the expanded schedule.
    pub fn stated_moves(&self) -> usize {
        let in_cell = self.repeated().map_or(0, |repeated| repeated.moves.move_count());
        self.pattern.move_count() + in_cell + self.exceptions.without.move_count() + self.exceptions.moves.move_count()
    }

    /// An upper bound on the bytes that it takes to expand the schedule, growing arrays counted twice, and then `each`
    /// for every move.
    pub fn expanded_bytes(&self, each: u64) -> u64 {
        let of_move = 2 * size_of::<ChunkId>() as u64 + each;
        let bytes =
            |schedule: &Schedule| of_move * schedule.move_count() as u64 + 2 * size_of_val(schedule.transfers()) as u64;
        let in_cells = self.cell.as_ref().map_or(0, |cell| bytes(&cell.stated.moves) * u64::from(cell.cells));
        bytes(&self.pattern) * u64::from(self.translation.rank_count()) + in_cells + bytes(&self.exceptions.moves)
    }

    /// The expanded schedule. O(moves), and sorting the chunks of each transfer.
    pub fn expand(&self) -> Schedule {
        let mut builder = Schedule::builder();
        for step in self.numbers() {
            builder.step(self.width(step));
            for slot in self.slots(step, &Choice::default()) {
                builder.transfer(slot.from, slot.to, slot.via, slot.op, self.chunks_of(&slot).iter().copied());
            }
        }
        builder.finish()
    }
}

impl PartialEq for CompactSchedule {
    fn eq(&self, other: &Self) -> bool {
        (&self.pattern, &self.exceptions, self.repeated()) == (&other.pattern, &other.exceptions, other.repeated())
    }
}

#[cfg(test)]
mod tests {
    use super::{CompactError, CompactSchedule, Exceptions};
    use crate::collective::{ChunkId, Collective, Kind};
    use crate::problem::Problem;
    use crate::schedule::{Op, Schedule};
    use crate::topology::{RankId, Topology};

    /// An all-to-all on a ring of 3, without the cable between ranks 0 and 1: two messages go around.
    fn problem() -> Problem {
        let ring = Topology::torus(&[3]).unwrap().fail_cable(0, 1).unwrap();
        Problem::new(ring, Collective::new(Kind::AllToAll)).unwrap()
    }

    #[test]
    fn what_is_no_compact_form_is_refused() {
        let steps = |moves: &[(u32, u32, u32)]| {
            let mut builder = Schedule::builder();
            builder.step(1);
            for &(from, to, chunk) in moves {
                builder.transfer(RankId(from), RankId(to), None, Op::Copy, [ChunkId(chunk)]);
            }
            builder.finish()
        };
        let build =
            |pattern: &[(u32, u32, u32)], without: &[(u32, u32, u32)], own: &[(u32, u32, u32)], chunks: &[u32]| {
                let chunks = chunks.iter().copied().map(ChunkId).collect();
                let exceptions = Exceptions { chunks, without: steps(without), moves: steps(own) };
                CompactSchedule::new(&problem(), steps(pattern), None, exceptions)
            };
        let try_it = |pattern: &[_], own: &[_], chunks: &[_]| build(pattern, &[], own, chunks).unwrap_err();
        assert_eq!(try_it(&[(0, 1, 3)], &[], &[]), CompactError::NotOfRankZero(ChunkId(3)));
        assert_eq!(try_it(&[(0, 3, 1)], &[], &[]), CompactError::RankOutOfRange(RankId(3)));
        assert_eq!(try_it(&[], &[], &[4, 4]), CompactError::ExceptionOrder(ChunkId(4)));
        assert_eq!(try_it(&[], &[], &[9]), CompactError::ExceptionOrder(ChunkId(9)));
        assert_eq!(try_it(&[], &[(0, 1, 4)], &[3]), CompactError::NoException(ChunkId(4)));
        let exceptions = Exceptions::replacing(vec![], Schedule::default());
        assert_eq!(CompactSchedule::new(&problem(), steps(&[]), None, exceptions), Err(CompactError::Steps));

        // What 0 does with 0>1, 1 does with 1>2.
        let pattern = [(0, 1, 1)];
        assert!(build(&pattern, &[(1, 2, 5)], &[(1, 0, 5)], &[]).is_ok());
        let not_made = |chunk| Err(CompactError::NotMade { step: 1, chunk: ChunkId(chunk) });
        assert_eq!(build(&pattern, &[(1, 0, 5)], &[], &[]), not_made(5), "another way");
        assert_eq!(build(&pattern, &[(1, 2, 4)], &[], &[]), not_made(4), "another chunk");
        assert_eq!(build(&pattern, &[(7, 2, 4)], &[], &[]), not_made(4), "no such sender");
        assert_eq!(build(&pattern, &[(1, 2, 77)], &[], &[]), not_made(77), "no such chunk");
        assert_eq!(build(&pattern, &[(1, 2, 5)], &[], &[5]), not_made(5), "an exception");
        assert_eq!(build(&pattern, &[(1, 2, 5), (1, 2, 5)], &[], &[]), not_made(5), "twice");
        assert_eq!(build(&pattern, &[(1, 2, 5)], &[(0, 1, 4)], &[]), Err(CompactError::NoException(ChunkId(4))));
    }
}
