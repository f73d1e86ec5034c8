//! The workers of a program under construction, and the waits between them.

use std::collections::{BTreeMap, BTreeSet};

use super::target::Target;
use collsynth_core::problem::Problem;
use collsynth_core::program::{Barriers, Channel, Layout, Operation, Program, ProgramBuilder, Slot};
use collsynth_core::schedule::Origin;
use collsynth_core::topology::{Direction, RankId};

pub(super) type Link = (RankId, RankId, Option<Direction>);

/// The worker of every rank that has no channel.
const LOCAL: u32 = 0;

/// Every added operation waits for earlier ones that it could conflict with; without waits, they would race.
pub(super) struct Draft {
    numbers: BTreeMap<Link, u32>,
    links: Vec<Link>,
    /// For each channel, the workers that send and receive.
    ends: Vec<(u32, u32)>,
    /// For each channel, the packets in flight now and at most.
    in_flight: Vec<(u32, u32)>,
    /// For each channel, the packets of each transfer.
    transfers: Vec<Vec<u32>>,
    ranks: Vec<Rank>,
    /// The rank whose operations alone are kept, if not all are.
    only: Option<RankId>,
}

struct Rank {
    workers: Vec<Vec<Operation>>,
    /// `known[a][b]`: the number of operations of worker `b` that `a` has waited for.
    known: Vec<Vec<u32>>,
    touched: Vec<Touched>,
    /// The first place of each buffer; scratch comes last and grows.
    first_places: [usize; 3],
}

/// A worker and one of its operations.
type Stamp = (u32, u32);

#[derive(Clone, Debug, Default)]
struct Touched {
    written: Option<Stamp>,
    /// Read since, the last by each worker.
    read: Vec<Stamp>,
}

impl Draft {
    /// Each rank has first the local worker, then those that send, then those that receive.
    pub(super) fn new(links: &BTreeSet<Link>, layouts: &[Layout<'_>], only: Option<RankId>) -> Self {
        let links: Vec<Link> = links.iter().copied().collect();
        let mut counts = vec![LOCAL + 1; layouts.len()];
        let mut take = |rank: RankId| {
            counts[rank.index()] += 1;
            counts[rank.index()] - 1
        };
        let senders: Vec<u32> = links.iter().map(|&(from, ..)| take(from)).collect();
        let receivers: Vec<u32> = links.iter().map(|&(_, to, _)| take(to)).collect();
        let rank = |((number, layout), &workers): ((u32, &Layout<'_>), &u32)| {
            let workers = if only.is_none_or(|only| only.0 == number) { workers as usize } else { 0 };
            Rank {
                workers: vec![Vec::new(); workers],
                known: vec![vec![0; workers]; workers],
                touched: Vec::new(),
                first_places: layout.first_places(),
            }
        };
        let ranks = (0..).zip(layouts).zip(&counts).map(rank).collect();
        Self {
            numbers: links.iter().copied().zip(0..).collect(),
            ends: senders.into_iter().zip(receivers).collect(),
            in_flight: vec![(0, 0); links.len()],
            transfers: vec![Vec::new(); links.len()],
            links,
            ranks,
            only,
        }
    }

    /// The channel of a link, which must be one of those given to [`Draft::new`].
    pub(super) fn channel(&self, from: RankId, to: RankId, via: Option<Direction>) -> u32 {
        self.numbers[&(from, to, via)]
    }

    /// Are the rank's operations kept?
    fn keeps(&self, rank: RankId) -> bool {
        self.only.is_none_or(|only| only == rank)
    }

    /// Does the channel begin or end at a rank whose operations are kept?
    pub(super) fn concerns(&self, channel: u32) -> bool {
        let (from, to, _) = self.links[channel as usize];
        self.keeps(from) || self.keeps(to)
    }

    pub(super) fn copy(&mut self, rank: RankId, src: Slot, dst: Slot) {
        let workers = &mut self.ranks[rank.index()].workers;
        if let Some(Operation::Copy { src: from, dst: to, count }) = workers[LOCAL as usize].last_mut()
            && from.plus(*count) == Some(src)
            && to.plus(*count) == Some(dst)
        {
            *count += 1;
            let stamp = (LOCAL, workers[LOCAL as usize].len() as u32 - 1);
            return self.ranks[rank.index()].note(stamp, [Some(src)], Some(dst), 1);
        }
        self.ranks[rank.index()].add(LOCAL, Operation::Copy { src, dst, count: 1 });
    }

    pub(super) fn send(&mut self, rank: RankId, channel: u32, src: Slot, count: u32) {
        let (now, most) = &mut self.in_flight[channel as usize];
        *now += 1;
        *most = (*most).max(*now);
        let worker = self.ends[channel as usize].0;
        self.add(rank, worker, Operation::Send { channel, src, count });
    }

    /// Records a channel's last `packets` packets as one transfer.
    pub(super) fn end_transfer(&mut self, channel: u32, packets: u32) {
        if packets > 0 {
            self.transfers[channel as usize].push(packets);
        }
    }

    pub(super) fn receive(&mut self, rank: RankId, channel: u32, add: Option<Slot>, dst: Slot, count: u32) {
        self.in_flight[channel as usize].0 -= 1;
        let dst = (count > 0).then_some(dst);
        let worker = self.ends[channel as usize].1;
        self.add(rank, worker, Operation::Receive { channel, add, dst, forward: None, count });
    }

    fn add(&mut self, rank: RankId, worker: u32, operation: Operation) {
        if self.keeps(rank) {
            self.ranks[rank.index()].add(worker, operation);
        }
    }

    /// The local worker of a rank waits for all operations of the rank so far.
    pub(super) fn gather(&mut self, rank: RankId) {
        let rank = &mut self.ranks[rank.index()];
        (LOCAL + 1..rank.workers.len() as u32).for_each(|worker| rank.catch_up(LOCAL, worker));
    }

    /// A channel's sender waits for all operations of the local worker so far.
    pub(super) fn sender_follows(&mut self, channel: u32) {
        let (from, ..) = self.links[channel as usize];
        if self.keeps(from) {
            self.ranks[from.index()].catch_up(self.ends[channel as usize].0, LOCAL);
        }
    }

    /// The local worker waits for all operations of a channel's receiver so far.
    pub(super) fn local_follows(&mut self, channel: u32) {
        let (_, to, _) = self.links[channel as usize];
        if self.keeps(to) {
            self.ranks[to.index()].catch_up(LOCAL, self.ends[channel as usize].1);
        }
    }

    pub(super) fn links(&self) -> impl Iterator<Item = (u32, Link)> + use<> {
        (0..).zip(self.links.clone())
    }

    pub(super) fn finish(
        self,
        problem: &Problem,
        target: &Target,
        scratch: Vec<u32>,
        origin: Option<Origin>,
    ) -> Program {
        let mut builder = ProgramBuilder::new(problem.clone(), true, target.in_place);
        for (&(from, to, via), &(_, most)) in self.links.iter().zip(&self.in_flight) {
            builder.channel(Channel { from, to, via, slots: target.slots.unwrap_or(most.max(1)) });
        }
        for ((number, rank), scratch) in (0..).map(RankId).zip(self.ranks).zip(scratch) {
            builder.rank(if self.only.is_none_or(|only| only == number) { scratch } else { 0 });
            for worker in rank.workers {
                builder.worker();
                for operation in worker {
                    builder.operation(operation);
                }
            }
        }
        if target.barriers != Barriers::None {
            let shown = |packets: Vec<u32>| if packets.iter().all(|&count| count == 1) { Vec::new() } else { packets };
            builder.contention_free(self.transfers.into_iter().map(shown).collect());
        }
        let mut program = builder.finish(target.barriers);
        program.origin = origin;
        program
    }
}

impl Rank {
    /// Adds an operation to a worker, after the waits it needs.
    fn add(&mut self, worker: u32, operation: Operation) {
        let mut needed = vec![0_u32; self.workers.len()];
        let mut after = |stamp: Option<Stamp>| {
            if let Some((other, number)) = stamp.filter(|&(other, _)| other != worker) {
                needed[other as usize] = needed[other as usize].max(number + 1);
            }
        };
        for (slot, count) in operation.reads() {
            for place in self.places(slot, count) {
                after(self.touched.get(place).and_then(|touched| touched.written));
            }
        }
        if let Some((slot, count)) = operation.writes() {
            for touched in self.places(slot, count).filter_map(|place| self.touched.get(place)) {
                after(touched.written);
                touched.read.iter().for_each(|&stamp| after(Some(stamp)));
            }
        }
        for (other, done) in needed.into_iter().enumerate() {
            self.wait(worker, other as u32, done);
        }
        let stamp = (worker, self.workers[worker as usize].len() as u32);
        self.workers[worker as usize].push(operation);
        let (mut reads, writes) = (operation.reads(), operation.writes());
        let (first, second) = (reads.next(), reads.next());
        let count = first.or(writes).map_or(0, |(_, count)| count);
        self.note(stamp, [first, second].map(|one| one.map(|(slot, _)| slot)), writes.map(|(slot, _)| slot), count);
    }

    /// A worker waits for all operations of another so far.
    fn catch_up(&mut self, worker: u32, other: u32) {
        self.wait(worker, other, self.workers[other as usize].len() as u32);
    }

    /// A worker waits for the first `done` operations of another, unless it already has.
    fn wait(&mut self, worker: u32, other: u32, done: u32) {
        let known = &mut self.known[worker as usize][other as usize];
        if *known < done {
            *known = done;
            self.workers[worker as usize].push(Operation::Wait { worker: other, operation: done - 1 });
        }
    }

    /// Records the places that an operation touches.
    fn note<const N: usize>(&mut self, stamp: Stamp, reads: [Option<Slot>; N], write: Option<Slot>, count: u32) {
        for slot in reads.into_iter().flatten() {
            for place in self.places(slot, count) {
                let touched = self.touched(place);
                match touched.read.iter_mut().find(|(worker, _)| *worker == stamp.0) {
                    Some(read) => *read = stamp,
                    None => touched.read.push(stamp),
                }
            }
        }
        if let Some(slot) = write {
            for place in self.places(slot, count) {
                let touched = self.touched(place);
                touched.written = Some(stamp);
                touched.read.clear();
            }
        }
    }

    fn places(&self, slot: Slot, count: u32) -> std::ops::Range<usize> {
        let first = self.first_places[slot.buffer as usize] + slot.offset as usize;
        first..first + count as usize
    }

    fn touched(&mut self, place: usize) -> &mut Touched {
        if self.touched.len() <= place {
            self.touched.resize(place + 1, Touched::default());
        }
        &mut self.touched[place]
    }
}
