//! Judging the compact form as it is, without expanding it.
//!
//! The verdict is that on the expanded schedule. Chunks are independent but for the room on links, so it takes three
//! things:
//!
//! 1. **The pattern, once.** Rank 0's chunks are executed on the intact machine. Translation maps this machine, its
//!    collective and the pattern onto themselves, so a chunk for which nothing is wrong there is as good at every rank,
//!    *as long as its moves cross no link that failed*. (A failed rank has only failed links: whoever must receive from
//!    it, or send to it, crosses one. And with fewer ranks, less is required.)
//! 2. **All other chunks, one by one**: the exceptions, the chunks whose moves cross failed links, and every
//!    translation of a chunk for which something is wrong. They are executed like those of any schedule.
//! 3. **The room of every link in every step**, by counting: each transfer of the expanded schedule, with those of
//!    its chunks that are not executed.
//!
//! Not looked for in step 1: whether ranks add the arrivals of one step in different orders from translation to
//! translation (`W003`, a warning).
//!
//! Memory: the chunks of (2) and their moves, the pattern, and one step; no link's load outlives its step. Time:
//! O(moves of these chunks and of the pattern, and transfers of the expanded schedule); no other chunk is even named.

use super::decide::decide;
use super::fact::Place;
use super::ledger::Ledger;
use super::routes::find_link;
use super::scope::{Part, Scope};
use super::{Options, Report, judge};
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{ChunkId, ChunkSet};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Op, Schedule, Slot, Solution, Transfer};
use collsynth_core::topology::{Direction, RankId, Topology, TopologySpec};

/// Memory for each move that is executed, roughly.
const BYTES_PER_MOVE: u64 = 40;

/// Executes a solution in the compact form and reports every violation: codes, places and totals are those of the
/// expanded schedule, but for `W003` (see the module). What a run shows besides ([`Report::observed`]) is left out.
///
/// O(moves stated, and transfers of the expanded schedule), unless the pattern is wrong.
pub fn verify_compact(solution: &Solution<CompactSchedule>, options: &Options) -> Report {
    let Solution { problem, schedule, bounds, .. } = solution;
    let (part, schedule, fits) = split(problem, schedule, options.memory);
    if !fits {
        let mut ledger = Ledger::new(options.max_errors, options.memory);
        ledger.fits(u64::MAX);
        return ledger.into_report(&[], None, |_| unreachable!("nothing was found"));
    }
    let part_of_it = Solution { problem: problem.clone(), schedule, bounds: bounds.clone(), origin: None };
    judge(&part_of_it, options, &Scope::Part(&part))
}

/// The chunks to execute and the transfers that matter to them or to the room of links; false if they take too much
/// memory.
fn split(problem: &Problem, compact: &CompactSchedule, memory: u64) -> (Part, Schedule, bool) {
    let machine = problem.machine();
    let ranks = machine.rank_count();
    let mut is_executed = ChunkSet::new(problem.chunk_count() as usize);
    for &chunk in compact.exceptions() {
        is_executed.insert(chunk);
    }
    let translation = compact.translation();
    for (chunk, _) in (0..).map(ChunkId).zip(wrong_chunks(problem, compact)).filter(|(_, wrong)| *wrong) {
        for by in (0..ranks as u32).map(RankId) {
            is_executed.insert(translation.chunk(chunk, by));
        }
    }
    compact.for_each_slot(|slot| {
        if !slot.sources.is_empty() && find_link(machine, &transfer(slot)).is_err() {
            for chunk in compact.chunks(slot) {
                is_executed.insert(chunk);
            }
        }
    });
    let mut part = Part { chunks: is_executed.iter().collect(), ..Part::default() };
    let Some(apart) = apart(compact, &part.chunks, memory) else { return (part, Schedule::default(), false) };
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
        executed.extend_from_slice(&slot.own);
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
    (part, builder.finish(), true)
}

/// A move of the pattern, translated: of a chunk that is executed, or does not follow it.
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
    let translation = compact.translation();
    let pattern = compact.pattern();
    let mut moves = vec![Vec::new(); translation.chunks_of_rank() as usize];
    for step in pattern.steps() {
        for transfer in step.transfers {
            for chunk in pattern.chunks(transfer) {
                moves[chunk.index()].push((step.number, transfer));
            }
        }
    }
    let of_rank_0 = |chunk| {
        let owner = translation.owner(chunk);
        (translation.chunk(chunk, translation.between(owner, RankId(0))), owner)
    };
    let count: usize = chunks.iter().map(|&chunk| moves[of_rank_0(chunk).0.index()].len()).sum();
    if (count + chunks.len() + compact.own().move_count()) as u64 * BYTES_PER_MOVE > memory {
        return None;
    }
    let mut apart = Vec::with_capacity(count);
    for &chunk in chunks {
        let (of_rank_0, owner) = of_rank_0(chunk);
        apart.extend(moves[of_rank_0.index()].iter().map(|&(step, transfer)| {
            let [from, to] = [transfer.from, transfer.to].map(|rank| translation.rank(rank, owner));
            Apart { step, from, way: (to, transfer.via, transfer.op), chunk }
        }));
    }
    apart.sort_unstable();
    Some(apart)
}

/// Of each chunk of rank 0: does the run on the intact machine find anything?
fn wrong_chunks(problem: &Problem, compact: &CompactSchedule) -> Vec<bool> {
    let chunks = compact.translation().chunks_of_rank();
    let shape = TopologySpec::new(problem.machine().spec().shape.clone());
    let intact = Topology::new(shape).map(|machine| Problem::new(machine, problem.collective().clone()));
    let Ok(Ok(intact)) = intact else { return vec![true; chunks as usize] };
    let pattern = compact.pattern();
    let solution = Solution { problem: intact, schedule: pattern.clone(), bounds: Bounds::default(), origin: None };
    let mut ledger = Ledger::new(usize::MAX, u64::MAX);
    decide(&solution, &Scope::Range(0..chunks), &mut ledger);
    let mut is_wrong = vec![false; chunks as usize];
    for place in ledger.places() {
        match place {
            Place::InStep { chunk: Some(chunk), .. } | Place::AtEnd { chunk, .. } => is_wrong[chunk.index()] = true,
            Place::InStep { transfer: Some(transfer), .. } => {
                let transfer = &pattern.transfers()[transfer];
                pattern.chunks(transfer).iter().for_each(|chunk| is_wrong[chunk.index()] = true);
            }
            // An idle step concerns no chunk.
            Place::InStep { .. } => {}
            // No move at all, so nothing was run.
            _ => is_wrong.fill(true),
        }
    }
    is_wrong
}

fn transfer(slot: &Slot<'_>) -> Transfer {
    Transfer::over(slot.from, slot.to, slot.via, slot.op)
}
