//! Judging the compact form as it is, without expanding it.
//!
//! The verdict is that on the expanded schedule. Chunks are independent but for the room on links, so it takes these
//! things:
//!
//! 1. **The pattern, once.** Rank 0's chunks are executed on the intact machine. Translation maps this machine, its
//!    collective and the pattern onto themselves, so a chunk for which nothing is wrong there is as good at every rank,
//!    *as long as its moves cross no link that failed*. (A failed rank has only failed links: whoever must receive from
//!    it, or send to it, crosses one. And with fewer ranks, less is required.)
//! 2. **What repeats with a period, once.** The chunks of the first cell that depart from the pattern are executed on
//!    the intact machine too. Translation by multiples of the period maps their moves onto themselves as well, so the
//!    same holds of them, for these translations.
//! 3. **Altered chunks, some at a time**: each with its moves, on the machine as it is.
//! 4. **All other chunks, one by one**: the exceptions, the chunks whose moves cross failed links, and every
//!    translation of a chunk for which something is wrong, altered chunks too. They are executed like those of any
//!    schedule, and what is wrong is reported of them.
//! 5. **The room of every link in every step**, by counting: each transfer of the expanded schedule, with those of
//!    its chunks that are not executed.
//!
//! Not looked for in 1 and 2: whether ranks add the arrivals of one step in different orders from translation to
//! translation (`W003`, a warning). Where a copy might bring the very sum that the receiver holds (`W001`) in some of
//! them, all are executed.
//!
//! Memory: the chunks of (4) and their moves, some altered chunks and theirs, the pattern, what repeats, and one step;
//! no link's load outlives its step. Time: O(moves of these chunks and of what is stated, and transfers of the expanded
//! schedule); no other chunk is even named.

use super::facts::ledger::Ledger;
use super::facts::report::Report;
use super::options::Options;
use super::run::decide::decide;
use super::run::routes::find_link;
use super::run::scope::{Part, Scope};
use super::{Case, judge};
use collsynth_core::certificate::{Bounds, Work};
use collsynth_core::collective::{ChunkId, ChunkSet};
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Op, Schedule, Slot, Timetable, Transfer};
use collsynth_core::topology::{Direction, RankId, Topology, TopologySpec};

/// Memory for each chunk or move that is executed, roughly.
const BYTES_PER_MOVE: u64 = 40;
/// The share of the memory that altered chunks may take at a time.
const AT_A_TIME: u64 = 4;
/// How many times as many of their moves may be executed as fit: the time is to be in proportion too.
const IN_TURN: u64 = 16;

/// [`verify`](super::verify), in the compact form.
///
/// O(moves stated, and transfers of the expanded schedule), unless the pattern is wrong.
pub(super) fn verify(problem: &Problem, schedule: &CompactSchedule, bounds: &Bounds, options: &Options) -> Report {
    let Some((part, schedule)) = split(problem, schedule, options.memory) else {
        let mut ledger = Ledger::new(options.max_errors, options.memory);
        ledger.exceed();
        return ledger.into_report(&[], None, |_| unreachable!("nothing was found"));
    };
    let case = Case { problem, schedule: &schedule, bounds };
    judge(case, options, &Scope::Part(&part), &mut Work::default())
}

/// The chunks to execute and the transfers that matter to them or to the room of links; `None` if they take too much
/// memory.
fn split(problem: &Problem, compact: &CompactSchedule, memory: u64) -> Option<(Part, Schedule)> {
    let machine = problem.machine();
    let ranks = machine.rank_count();
    // A bit for each chunk here, and at most as many for those of rank 0.
    if u64::from(problem.chunk_count()) / 4 > memory {
        return None;
    }
    let fits = |chunks: u64| chunks * BYTES_PER_MOVE <= memory;
    let mut is_executed = ChunkSet::new(problem.chunk_count() as usize);
    let mut execute = |chunk: ChunkId| _ = is_executed.insert(chunk);
    compact.exceptions().chunks.iter().copied().for_each(&mut execute);
    let translation = compact.translation();
    let of_rank_0 = Scope::Range(0..translation.chunks_of_rank());
    let intact = intact(problem);
    let wrong = wrong_chunks(intact.as_ref(), compact.pattern(), &of_rank_0, memory)?;
    if !fits(wrong.count() * ranks as u64) {
        return None;
    }
    for chunk in wrong.iter() {
        (0..narrow(ranks)).for_each(|by| execute(translation.chunk(chunk, RankId(by))));
    }
    if let (Some(repeated), Some(moves)) = (compact.repeated(), compact.departures()) {
        // A route for each transfer, and a move for each chunk.
        if !fits((moves.transfers().len() + moves.move_count()) as u64) {
            return None;
        }
        let wrong = wrong_chunks(intact.as_ref(), &moves, &Scope::Chunks(&repeated.chunks), memory)?;
        if !fits(wrong.count() * compact.multiples().count() as u64) {
            return None;
        }
        for chunk in wrong.iter() {
            compact.multiples().for_each(|by| execute(translation.chunk(chunk, by)));
        }
    }
    for_each_wrong_altered(problem, compact, memory, &mut execute)?;
    compact.for_each_slot(|slot| {
        if slot.is_translated() && find_link(machine, &transfer(slot)).is_err() {
            compact.chunks(slot).for_each(&mut execute);
        }
    });
    if !fits(is_executed.count()) {
        return None;
    }
    let mut part = Part { chunks: is_executed.iter().collect(), ..Part::default() };
    let is_executed = |chunk: &ChunkId| is_executed.holds(*chunk);
    let apart = apart(compact, &part.chunks, memory)?;
    let mut apart = apart.into_iter().peekable();
    let widths: Vec<u32> = compact.pattern().widths().collect();
    part.is_used = vec![false; widths.len()];
    let mut builder = Schedule::builder();
    let (mut begun, mut number) = (0, 0);
    let mut last: Option<(RankId, RankId)> = None;
    let mut executed = Vec::new();
    // A link's transfers follow each other; where there are several, all of them are judged.
    let mut held_back: Option<(Transfer, usize, u64)> = None;
    compact.for_each_slot(|slot| {
        while begun < slot.step {
            builder.step(widths[begun as usize]);
            (begun, number, last, held_back) = (begun + 1, 0, None, None);
        }
        executed.clear();
        executed.extend(slot.own.iter().copied().filter(is_executed));
        let mut carried = slot.stated() as u64;
        while let Some(one) = apart.next_if(|one| one.is_of(slot)) {
            match compact.is_exception(one.chunk) {
                true => carried -= 1,
                false => executed.push(one.chunk),
            }
        }
        if carried == 0 {
            return;
        }
        part.is_used[slot.step as usize - 1] = true;
        let this = transfer(slot);
        let shared = last == Some((slot.from, slot.to));
        let room = |link| u64::from(widths[slot.step as usize - 1]) * u64::from(machine.link(link).capacity);
        let fits = find_link(machine, &this).is_ok_and(|link| carried <= room(link));
        if shared && let Some((other, number, carried)) = held_back.take() {
            builder.transfer(other.from, other.to, other.via, other.op, []);
            part.transfers.push((number, carried));
        }
        if shared || !fits || !executed.is_empty() {
            executed.sort_unstable();
            builder.transfer(slot.from, slot.to, slot.via, slot.op, executed.iter().copied());
            part.transfers.push((number, carried));
            held_back = None;
        } else {
            held_back = Some((this, number, carried));
        }
        (last, number) = (Some((slot.from, slot.to)), number + 1);
    });
    widths[begun as usize..].iter().for_each(|&width| {
        builder.step(width);
    });
    Some((part, builder.finish()))
}

/// A move of the pattern or of a cell, translated: of a chunk that is executed, or an exception.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Apart {
    step: u32,
    from: RankId,
    way: (RankId, Option<Direction>, Op),
    chunk: ChunkId,
}

impl Apart {
    fn is_of(&self, slot: &Slot<'_>) -> bool {
        (self.step, self.from, self.way) == (slot.step, slot.from, (slot.to, slot.via, slot.op))
    }
}

/// The translated moves of these chunks, in the order of slots; `None` if they take too much memory.
fn apart(compact: &CompactSchedule, chunks: &[ChunkId], memory: u64) -> Option<Vec<Apart>> {
    let seen = compact.seen_from_rank_0(chunks.iter().copied());
    let mut count: usize = 0;
    for step in compact.numbers().filter(|_| !chunks.is_empty()) {
        compact.for_each_translated(step, &seen, |_, _, _, _| count += 1);
    }
    if (count + chunks.len() + compact.exceptions().moves.move_count()) as u64 * BYTES_PER_MOVE > memory {
        return None;
    }
    let mut apart = Vec::with_capacity(count);
    for step in compact.numbers().filter(|_| count > 0) {
        compact.for_each_translated(step, &seen, |from, to, transfer, chunk| {
            apart.push(Apart { step, from, way: (to, transfer.via, transfer.op), chunk });
        });
    }
    apart.sort_unstable();
    Some(apart)
}

/// Visits the altered chunks for whose moves the run finds anything; `None` if that takes too much memory or, in
/// proportion, time.
fn for_each_wrong_altered(
    problem: &Problem,
    compact: &CompactSchedule,
    memory: u64,
    mut visit: impl FnMut(ChunkId),
) -> Option<()> {
    let chunks = compact.altered();
    let most_moves = most_followed(compact).max(1);
    if chunks.len() as u64 * most_moves / IN_TURN > memory / BYTES_PER_MOVE {
        return None;
    }
    let at_a_time = memory / AT_A_TIME / BYTES_PER_MOVE / most_moves;
    for some in chunks.chunks(at_a_time.max(1) as usize) {
        let moves = moves_of(compact, some);
        wrong_chunks(Some(problem), &moves, &Scope::Chunks(some), memory)?.iter().for_each(&mut visit);
    }
    Some(())
}

/// An upper bound on the moves that a chunk would make if it were not altered.
fn most_followed(compact: &CompactSchedule) -> u64 {
    let pattern = compact.pattern();
    let mut of_chunk = vec![0_u64; compact.translation().chunks_of_rank() as usize];
    pattern.transfers().iter().flat_map(|one| pattern.chunks(one)).for_each(|chunk| of_chunk[chunk.index()] += 1);
    let in_cell = compact.repeated().map_or(0, |repeated| repeated.moves.move_count() as u64);
    of_chunk.into_iter().max().unwrap_or(0).max(in_cell)
}

/// All moves of these chunks, which are ascending.
fn moves_of(compact: &CompactSchedule, chunks: &[ChunkId]) -> Schedule {
    let own = &compact.exceptions().moves;
    let seen = compact.seen_from_rank_0(chunks.iter().copied());
    type Way = (RankId, RankId, Option<Direction>, Op);
    let mut moves: Vec<(Way, ChunkId)> = Vec::new();
    let mut builder = Schedule::builder();
    for step in own.steps() {
        builder.step(step.width);
        compact.for_each_translated(step.number, &seen, |from, to, transfer, chunk| {
            moves.push(((from, to, transfer.via, transfer.op), chunk));
        });
        for transfer in step.transfers {
            let way = (transfer.from, transfer.to, transfer.via, transfer.op);
            let theirs = own.chunks(transfer).iter().filter(|chunk| chunks.binary_search(chunk).is_ok());
            moves.extend(theirs.map(|&chunk| (way, chunk)));
        }
        moves.sort_unstable();
        for same in moves.chunk_by(|a, b| a.0 == b.0) {
            let (from, to, via, op) = same[0].0;
            builder.transfer(from, to, via, op, same.iter().map(|one| one.1));
        }
        moves.clear();
    }
    builder.finish()
}

/// The same problem on the machine as if nothing had failed.
fn intact(problem: &Problem) -> Option<Problem> {
    let machine = Topology::new(TopologySpec::new(problem.machine().spec().shape.clone())).ok()?;
    Problem::new(machine, problem.collective().clone()).ok()
}

/// The chunks in a scope for which the run of their moves finds anything; without a problem to run them on, all.
/// `None` if that takes too much memory.
fn wrong_chunks(problem: Option<&Problem>, moves: &Schedule, scope: &Scope<'_>, memory: u64) -> Option<ChunkSet> {
    let most = scope.chunks().last().map_or(0, |last| last.0 + 1);
    let all = || {
        let mut all = ChunkSet::new(most as usize);
        scope.chunks().for_each(|chunk| _ = all.insert(chunk));
        Some(all)
    };
    let Some(problem) = problem else { return all() };
    let bounds = &Bounds::default();
    let mut ledger = Ledger::marking(most, moves.transfers().len(), memory);
    decide(Case { problem, schedule: moves, bounds }, scope, &mut Work::default(), &mut ledger);
    let mut marks = ledger.into_marks()?;
    if marks.all {
        // No move at all, so nothing was run.
        return all();
    }
    for (transfer, _) in moves.transfers().iter().zip(&marks.transfers).filter(|(_, is_wrong)| **is_wrong) {
        moves.chunks(transfer).iter().for_each(|&chunk| _ = marks.chunks.insert(chunk));
    }
    Some(marks.chunks)
}

fn transfer(slot: &Slot<'_>) -> Transfer {
    Transfer::over(slot.from, slot.to, slot.via, slot.op)
}
