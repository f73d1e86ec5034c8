//! Lowering: from a verified schedule to a rank program.
//!
//! Every link in use becomes a channel with a dedicated worker at each end, so that links do not wait for each other:
//!
//! ```text
//!  rank 3   worker 0  local   copy input 3 -> output 3
//!           worker 1  -> 4    send scratch 0, send input 6..7, ...
//!           worker 2  <- 4    receive -> output 5, receive -> scratch 0, ...
//! ```
//!
//! The chunks of a transfer are sorted by their place at the sender, and slots that are consecutive at both ends share
//! a packet. A chunk that a rank needs is received in place; one that only passes through has scratch from its arrival
//! until it is sent on for the last time. The chunks of a transfer take scratch in ascending order.
//!
//! So where a rank keeps chunks follows from its own transfers alone, and its program from these and where the ranks it
//! is joined to keep chunks, hence from their transfers: [`lower_rank`] lowers no others.
//!
//! The order of the schedule (all sends of a step, then all its receives) is one interleaving of the program: where two
//! operations of different workers touch a slot, the later one in that order waits for the earlier one. With as many
//! slots in a channel as a step has packets, that interleaving never gets stuck, so none does.
//!
//! By itself, only data keeps steps apart. [`Barriers`](collsynth_core::program::Barriers) are packets without slots,
//! on existing channels (between neighbors) or along a tree (of all ranks).
//!
//! O(m log m) for m chunk moves.

mod barrier;
mod lifetimes;
mod nearby;
mod ops;
mod scratch;
mod target;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::program::{Buffer, Layout, Program, Slot};
use collsynth_core::schedule::{Op, Origin, Schedule, Solution, Stated, Timetable, Transfer, View};
use collsynth_core::topology::RankId;
use collsynth_verify::verify::Verified;

use barrier::Barrier;
use lifetimes::Lifetimes;
use nearby::{nearby, used};
use ops::{Draft, Link};
use scratch::Scratch;

pub use target::{LowerError, Target};

/// What lowering takes for each move, roughly: two operations and what they wait for, and where the chunk is.
pub const MOVE_BYTES: u64 = 300;
/// What it takes for each slot of a rank: who wrote and read it last.
const SLOT_BYTES: u64 = 80;

/// Lowers a schedule; one in the compact form is expanded.
///
/// # Errors
///
/// A [`LowerError`] if the target cannot be met. With few slots, the program may get stuck, which the audit reports.
pub fn lower<S: Stated>(solution: &Verified<Solution<S>>, target: &Target) -> Result<Program, LowerError> {
    let schedule = match solution.schedule.view() {
        View::Explicit(schedule) => Cow::Borrowed(schedule),
        View::Compact(schedule) => {
            check_memory(schedule.expanded_bytes(MOVE_BYTES), target)?;
            Cow::Owned(schedule.expand())
        }
    };
    lowered(&solution.problem, &schedule, used(&*schedule), &solution.origin, target, None)
}

/// What [`lower`] makes of a schedule, in either form, for one rank: the others have no operations, and of
/// the channels only those of the rank have slots and transfers.
///
/// Time and memory for the transfers of the rank and of the ranks it is joined to, and to number the channels,
/// O(transfers) of the schedule without their chunks; with barriers of all ranks, O(links * steps) time.
///
/// # Errors
///
/// As [`lower`].
///
/// # Panics
///
/// If the rank is out of range.
pub fn lower_rank<S: Timetable>(
    solution: &Verified<Solution<S>>,
    rank: RankId,
    target: &Target,
) -> Result<Program, LowerError> {
    let (problem, schedule) = (&solution.problem, &solution.schedule);
    assert!(rank.index() < problem.topology().rank_count(), "rank {rank} is out of range");
    lowered(problem, &nearby(schedule, rank), used(schedule), &solution.origin, target, Some(rank))
}

/// Lowers a schedule with channels on these links, or the program of one rank.
fn lowered(
    problem: &Problem,
    schedule: &Schedule,
    links: BTreeSet<Link>,
    origin: &Option<Origin>,
    target: &Target,
    only: Option<RankId>,
) -> Result<Program, LowerError> {
    let kind = &problem.collective().kind;
    if target.in_place && (!Layout::has_in_place(kind) || kind.name() == "all_to_all") {
        return Err(LowerError::NotInPlace { kind: kind.name() });
    }
    check_size(problem, schedule, target, only)?;
    let barrier = Barrier::new(problem, &links, target.barriers)?;
    let mut channels = links;
    channels.extend(barrier.channels());
    let mut lowering = Lowering::new(problem, schedule, *target, &channels, only);
    lowering.own_chunks();
    for step in schedule.steps() {
        lowering.step(step.transfers);
        if (step.number as usize) < schedule.step_count() {
            barrier.add(&mut lowering.draft);
        }
    }
    let scratch = lowering.scratch.iter().map(|scratch| scratch.peak).collect();
    Ok(lowering.draft.finish(problem, target, scratch, origin.clone()))
}

/// Refuses what takes more memory than allowed, before any is taken.
fn check_size(problem: &Problem, schedule: &Schedule, target: &Target, only: Option<RankId>) -> Result<(), LowerError> {
    let ranks = (0..problem.topology().rank_count() as u32).map(RankId);
    let slots = |rank| {
        let layout = Layout::of_program(problem, target.in_place, rank, 0);
        u64::from(layout.len(Buffer::Input)) + u64::from(layout.len(Buffer::Output))
    };
    let slots: u64 = ranks.filter(|&rank| only.is_none_or(|only| only == rank)).map(slots).sum();
    check_memory(slots * SLOT_BYTES + schedule.move_count() as u64 * MOVE_BYTES, target)
}

fn check_memory(needed: u64, target: &Target) -> Result<(), LowerError> {
    match needed > target.memory {
        true => Err(LowerError::TooLarge { needed: needed.div_ceil(1 << 20), most: target.memory >> 20 }),
        false => Ok(()),
    }
}

struct Lowering<'a> {
    problem: &'a Problem,
    schedule: &'a Schedule,
    target: Target,
    /// The rank to lower, if not all are.
    only: Option<RankId>,
    layouts: Vec<Layout<'a>>,
    lifetimes: Lifetimes,
    /// Where each rank has a chunk that has moved; the others are where they began.
    places: HashMap<(RankId, ChunkId), Slot>,
    scratch: Vec<Scratch>,
    draft: Draft,
    /// Scratch to free after the step.
    to_free: Vec<(RankId, u32)>,
    /// Chunk moves so far.
    moves: usize,
}

/// A chunk of a transfer.
#[derive(Clone, Copy)]
struct Carried {
    chunk: ChunkId,
    /// Its number among all chunk moves.
    number: usize,
    src: Slot,
    add: Option<Slot>,
    dst: Slot,
}

impl<'a> Lowering<'a> {
    fn new(
        problem: &'a Problem,
        schedule: &'a Schedule,
        target: Target,
        channels: &BTreeSet<Link>,
        only: Option<RankId>,
    ) -> Self {
        let ranks = || (0..problem.topology().rank_count() as u32).map(RankId);
        // The size of scratch is known only at the end.
        let layouts: Vec<Layout<'_>> =
            ranks().map(|rank| Layout::of_program(problem, target.in_place, rank, 0)).collect();
        Self {
            problem,
            schedule,
            target,
            only,
            draft: Draft::new(channels, &layouts, only),
            layouts,
            lifetimes: Lifetimes::new(problem, schedule),
            places: HashMap::new(),
            scratch: ranks().map(|_| Scratch::default()).collect(),
            to_free: Vec::new(),
            moves: 0,
        }
    }

    /// Copies to the output the chunks that a rank has, needs and never receives.
    fn own_chunks(&mut self) {
        for chunk in (0..self.problem.chunk_count()).map(ChunkId) {
            match self.only {
                Some(rank) => self.own_chunk(rank, chunk),
                None => {
                    let rule = self.problem.rule(chunk);
                    self.problem.holders(rule.after).for_each(|rank| self.own_chunk(rank, chunk));
                }
            }
        }
    }

    fn own_chunk(&mut self, rank: RankId, chunk: ChunkId) {
        let layout = &self.layouts[rank.index()];
        let (Some(src), Some(dst)) = (layout.before(chunk), layout.after(chunk)) else { return };
        if layout.place(src) != layout.place(dst) && !self.lifetimes.arrives.contains(&(rank, chunk)) {
            self.draft.copy(rank, src, dst);
        }
    }

    fn step(&mut self, transfers: &[Transfer]) {
        let mut carried: Vec<Vec<Carried>> = Vec::with_capacity(transfers.len());
        // All sends read what their senders held when the step began.
        for transfer in transfers {
            let chunks = self.schedule.chunks(transfer);
            let one = |(&chunk, number)| {
                let src = self.place(transfer.from, chunk).unwrap_or_else(|| Slot::input(0));
                Carried { chunk, number, src, add: None, dst: src }
            };
            let mut list: Vec<Carried> = chunks.iter().zip(self.moves..).map(one).collect();
            self.moves += list.len();
            list.sort_by_key(|one| one.chunk);
            carried.push(list);
        }
        for (transfer, list) in transfers.iter().zip(&mut carried) {
            self.destinations(transfer, list);
            list.sort_by_key(|one| (self.layouts[transfer.from.index()].place(one.src), one.chunk));
        }
        let mut packets = Vec::new();
        for (transfer, list) in transfers.iter().zip(&carried) {
            let channel = self.draft.channel(transfer.from, transfer.to, transfer.via);
            if !self.draft.concerns(channel) {
                continue;
            }
            self.draft.end_transfer(channel, runs(list).count() as u32);
            for run in runs(list) {
                let (head, count) = (run[0], run.len() as u32);
                self.draft.send(transfer.from, channel, head.src, count);
                packets.push((transfer.to, channel, head, count));
            }
        }
        for (to, channel, head, count) in packets {
            self.draft.receive(to, channel, head.add, head.dst, count);
        }
        for (transfer, list) in transfers.iter().zip(&carried) {
            for one in list {
                if one.src.buffer == Buffer::Scratch && self.lifetimes.last_read[one.number] {
                    self.to_free.push((transfer.from, one.src.offset));
                }
            }
        }
        for (rank, offset) in std::mem::take(&mut self.to_free) {
            self.scratch[rank.index()].free(offset);
        }
    }

    /// Chooses the destinations of a transfer, with scratch for chunks that only pass through.
    fn destinations(&mut self, transfer: &Transfer, list: &mut [Carried]) {
        let to = transfer.to;
        let mut passing = Vec::new();
        for (index, one) in list.iter_mut().enumerate() {
            let held = self.place(to, one.chunk);
            one.add = held.filter(|_| transfer.op == Op::Reduce);
            let stays = self.target.in_place && one.add.is_some_and(|slot| slot.buffer == Buffer::Input);
            match (self.layouts[to.index()].after(one.chunk), one.add) {
                (Some(output), _) => one.dst = output,
                (None, Some(slot)) if stays || slot.buffer == Buffer::Scratch => one.dst = slot,
                (None, _) => passing.push(index),
            }
        }
        let start = self.scratch[to.index()].take(passing.len() as u32);
        for (offset, &index) in (start..).zip(&passing) {
            list[index].dst = Slot::scratch(offset);
        }
        for one in list.iter() {
            if one.dst.buffer == Buffer::Scratch && !self.lifetimes.read_later[one.number] {
                self.to_free.push((to, one.dst.offset));
            }
            self.places.insert((to, one.chunk), one.dst);
        }
    }

    /// Where a rank has a chunk now.
    fn place(&self, rank: RankId, chunk: ChunkId) -> Option<Slot> {
        let moved = self.places.get(&(rank, chunk)).copied();
        moved.or_else(|| self.layouts[rank.index()].before(chunk))
    }
}

/// Runs of chunks that are consecutive at both ends.
fn runs(list: &[Carried]) -> impl Iterator<Item = &[Carried]> {
    let follows = |one: Slot, other: Slot| one.plus(1) == Some(other);
    list.chunk_by(move |one, other| {
        let added = match (one.add, other.add) {
            (None, None) => true,
            (Some(one), Some(other)) => follows(one, other),
            _ => false,
        };
        added && follows(one.src, other.src) && follows(one.dst, other.dst)
    })
}
