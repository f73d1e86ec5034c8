//! One interleaving, which represents all: it gets as far as any other and pairs packets with receives like any other.
//!
//! A worker runs until it must wait; its progress may unblock others. No operation takes what another waits for,
//! because each end of a channel belongs to one worker. So the order in which workers are tried does not matter.

use collsynth_core::exact::narrow;
use std::collections::VecDeque;

use super::structure::{Ends, NOBODY};
use crate::audit::facts::code::ProgramCode;
use crate::audit::facts::fact::{Fact, Obstacle, Waiting};
use crate::audit::facts::ledger::Ledger;
use crate::audit::facts::values::{SlotValue, SlotValues};

use collsynth_core::collective::ChunkId;
use collsynth_core::program::{Layout, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// How the interleaving went.
pub(in crate::audit) struct Interleaving<'a> {
    /// The operations in the order they ran.
    pub(in crate::audit) order: Vec<u32>,
    /// For each operation, the one that sent the packet it received, if any; else [`NOBODY`].
    pub(in crate::audit) sent_by: Vec<u32>,
    pub(in crate::audit) layouts: Vec<Layout<'a>>,
    /// For each rank, where its places begin in `places`.
    pub(in crate::audit) first_place: Vec<usize>,
    /// What each place holds at the end.
    pub(in crate::audit) places: Vec<SlotValue>,
    /// For each place, the operation that wrote it last; [`NOBODY`]: none.
    pub(in crate::audit) written_by: Vec<u32>,
    pub(in crate::audit) values: SlotValues,
}

/// Runs a program. `None` if it gets stuck, or leaves packets behind. O(slots moved).
pub(in crate::audit) fn run<'a>(program: &'a Program, ends: &Ends, ledger: &mut Ledger) -> Option<Interleaving<'a>> {
    let mut run = Run::new(program, ends, ledger)?;
    while let Some(worker) = run.ready.pop() {
        if !run.advance(worker as usize, ledger) {
            return None;
        }
    }
    run.complain(ledger).then_some(run.interleaving)
}

/// The packets in flight in a channel.
#[derive(Clone, Default)]
struct Queue {
    /// The operations that sent them.
    packets: VecDeque<u32>,
    values: VecDeque<SlotValue>,
    /// The sender waits for room, or the receiver for a packet.
    sender_waits: bool,
    receiver_waits: bool,
}

struct Run<'a, 'e> {
    program: &'a Program,
    ends: &'e Ends,
    queues: Vec<Queue>,
    /// For each worker, its next operation among all operations.
    next: Vec<usize>,
    /// For each worker, the operations awaited, with the workers that wait.
    waiting: Vec<Vec<(usize, u32)>>,
    ready: Vec<u32>,
    rank_of: Vec<RankId>,
    held: Vec<SlotValue>,
    interleaving: Interleaving<'a>,
}

impl<'a, 'e> Run<'a, 'e> {
    /// `None` if the places take more memory than allowed.
    fn new(program: &'a Program, ends: &'e Ends, ledger: &mut Ledger) -> Option<Self> {
        let problem = &program.problem;
        let ranks = || (0..narrow(program.rank_count())).map(RankId);
        let layouts: Vec<Layout<'_>> = ranks().map(|rank| program.layout(rank)).collect();
        let mut first_place = vec![0];
        for layout in &layouts {
            first_place.push(first_place[first_place.len() - 1] + layout.place_count());
        }
        let most = layouts.iter().map(Layout::place_count).max().unwrap_or(0);
        let bytes = first_place[layouts.len()] * (size_of::<SlotValue>() + size_of::<u32>());
        // What an operation holds is no more than its rank has.
        if !ledger.memory.take((bytes + most * size_of::<SlotValue>()) as u64) {
            return None;
        }
        let mut places = vec![SlotValue::Unset; first_place[layouts.len()]];
        for chunk in (0..problem.chunk_count()).map(ChunkId) {
            for rank in problem.holders(problem.rule(chunk).before) {
                let layout = &layouts[rank.index()];
                if let Some(slot) = layout.before(chunk) {
                    places[first_place[rank.index()] + layout.place(slot)] = SlotValue::Own(chunk, rank);
                }
            }
        }
        let combining = problem.rule(ChunkId(0)).combining;
        let workers = program.worker_count();
        let count = program.operations().len();
        Some(Self {
            program,
            ends,
            queues: vec![Queue::default(); program.channels.len()],
            next: (0..workers).map(|worker| program.range(worker).start).collect(),
            waiting: vec![Vec::new(); workers],
            ready: (0..narrow(workers)).rev().collect(),
            rank_of: ranks().flat_map(|rank| program.workers(rank).map(move |_| rank)).collect(),
            held: Vec::new(),
            interleaving: Interleaving {
                order: Vec::with_capacity(count),
                sent_by: vec![NOBODY; count],
                first_place,
                written_by: vec![NOBODY; places.len()],
                places,
                values: SlotValues::new(program.rank_count(), combining),
                layouts,
            },
        })
    }

    /// Runs a worker until it must wait. False if a packet had another length than its receive, or memory ran out.
    fn advance(&mut self, worker: usize, ledger: &mut Ledger) -> bool {
        let end = self.program.range(worker).end;
        while self.next[worker] < end {
            let number = self.next[worker];
            match self.obstacle(worker, number) {
                None => {}
                Some(Obstacle::Packet(channel)) => {
                    self.queues[channel as usize].receiver_waits = true;
                    return true;
                }
                Some(Obstacle::Room(channel)) => {
                    self.queues[channel as usize].sender_waits = true;
                    return true;
                }
                Some(Obstacle::Operation(target)) => {
                    let wanted = self.awaited(worker, number);
                    self.waiting[target].push((wanted, narrow(worker)));
                    return true;
                }
            }
            if !self.carry_out(worker, number, ledger) {
                return false;
            }
            self.interleaving.order.push(narrow(number));
            self.next[worker] += 1;
            let next = self.next[worker];
            self.ready.extend(self.waiting[worker].extract_if(.., |one| one.0 < next).map(|(_, who)| who));
        }
        true
    }

    /// What keeps a worker from its next operation.
    fn obstacle(&self, worker: usize, number: usize) -> Option<Obstacle> {
        let full = |channel: u32| {
            self.queues[channel as usize].packets.len() >= self.program.channels[channel as usize].slots as usize
        };
        match self.program.operations()[number] {
            Operation::Send { channel, .. } if full(channel) => Some(Obstacle::Room(channel)),
            Operation::Receive { channel, .. } if self.queues[channel as usize].packets.is_empty() => {
                Some(Obstacle::Packet(channel))
            }
            Operation::Receive { forward: Some(channel), .. } if full(channel) => Some(Obstacle::Room(channel)),
            Operation::Wait { worker: other, .. } => {
                let target = self.worker_of_rank(worker, other);
                (self.next[target] <= self.awaited(worker, number)).then_some(Obstacle::Operation(target))
            }
            _ => None,
        }
    }

    /// The operation a wait is for, among all operations.
    fn awaited(&self, worker: usize, number: usize) -> usize {
        match self.program.operations()[number] {
            Operation::Wait { worker: other, operation } => {
                self.program.range(self.worker_of_rank(worker, other)).start + operation as usize
            }
            _ => number,
        }
    }

    fn worker_of_rank(&self, worker: usize, other: u32) -> usize {
        self.program.workers(self.rank_of[worker]).start + other as usize
    }

    fn carry_out(&mut self, worker: usize, number: usize, ledger: &mut Ledger) -> bool {
        let rank = self.rank_of[worker];
        match self.program.operations()[number] {
            Operation::Send { channel, src, count } => {
                self.load(rank, src, count);
                return self.post(channel, number, ledger);
            }
            Operation::Receive { channel, add, dst, forward, count } => {
                let queue = &mut self.queues[channel as usize];
                let sender = queue.packets.pop_front().unwrap_or(NOBODY);
                let sent = match self.program.operations()[sender as usize] {
                    Operation::Send { count, .. } | Operation::Receive { count, .. } => count,
                    _ => 0,
                };
                if sent != count {
                    let sender = sender as usize;
                    ledger.add(ProgramCode::P002, Some(number), || Fact::OtherLength { sender, sent, count });
                    return false;
                }
                self.held.clear();
                self.held.extend(queue.values.drain(..count as usize));
                if std::mem::take(&mut queue.sender_waits) {
                    self.ready.push(self.ends.sender[channel as usize]);
                }
                self.interleaving.sent_by[number] = sender;
                if let Some(add) = add
                    && !self.add_held(rank, add, count, number, ledger)
                {
                    return false;
                }
                if let Some(dst) = dst {
                    self.store(rank, dst, count, number);
                }
                if let Some(forward) = forward {
                    return self.post(forward, number, ledger);
                }
            }
            Operation::Copy { src, dst, count } => {
                self.load(rank, src, count);
                self.store(rank, dst, count, number);
            }
            Operation::Reduce { src, dst, count } => {
                self.load(rank, src, count);
                if !self.add_held(rank, dst, count, number, ledger) {
                    return false;
                }
                self.store(rank, dst, count, number);
            }
            Operation::Wait { .. } => {}
        }
        true
    }

    fn places(&self, rank: RankId, slot: Slot, count: u32) -> std::ops::Range<usize> {
        if count == 0 {
            return 0..0;
        }
        let start = self.interleaving.first_place[rank.index()] + self.interleaving.layouts[rank.index()].place(slot);
        start..start + count as usize
    }

    fn load(&mut self, rank: RankId, slot: Slot, count: u32) {
        let places = self.places(rank, slot, count);
        self.held.clear();
        self.held.extend_from_slice(&self.interleaving.places[places]);
    }

    /// False if memory ran out.
    fn add_held(&mut self, rank: RankId, slot: Slot, count: u32, number: usize, ledger: &mut Ledger) -> bool {
        let places = self.places(rank, slot, count);
        let values = &mut self.interleaving.values;
        self.held.iter_mut().zip(places).all(|(held, place)| {
            let before = values.bytes();
            *held = values.add(self.interleaving.places[place], *held, number);
            ledger.memory.take(values.bytes() - before)
        })
    }

    fn store(&mut self, rank: RankId, slot: Slot, count: u32, number: usize) {
        let places = self.places(rank, slot, count);
        self.interleaving.places[places.clone()].copy_from_slice(&self.held);
        self.interleaving.written_by[places].fill(narrow(number));
    }

    /// False if memory ran out.
    fn post(&mut self, channel: u32, number: usize, ledger: &mut Ledger) -> bool {
        let queue = &mut self.queues[channel as usize];
        // A queue keeps its room, and doubles it when it is full.
        let (needed, room) = (queue.values.len() + self.held.len(), queue.values.capacity());
        if needed > room && !ledger.memory.take((2 * needed.max(room) * size_of::<SlotValue>()) as u64) {
            return false;
        }
        queue.packets.push_back(narrow(number));
        queue.values.extend(&self.held);
        if std::mem::take(&mut queue.receiver_waits) {
            self.ready.push(self.ends.receiver[channel as usize]);
        }
        true
    }

    /// Reports what is left over: cycles of waiting workers, receives without packets, packets without receives. True
    /// if there is nothing.
    fn complain(&self, ledger: &mut Ledger) -> bool {
        let before = ledger.count();
        let mut color = vec![0_u32; self.next.len()];
        for start in 0..self.next.len() {
            let (mut path, mut at) = (Vec::new(), start);
            loop {
                if self.is_done(at) {
                    self.complain_alone(path.last().copied(), ledger);
                    break;
                }
                if color[at] != 0 {
                    if let Some(from) = path.iter().position(|&worker| worker == at) {
                        self.complain_cycle(&path[from..], ledger);
                    }
                    break;
                }
                color[at] = narrow(start) + 1;
                path.push(at);
                match self.waits_for(at) {
                    Some(next) => at = next,
                    None => {
                        self.complain_alone(Some(at), ledger);
                        break;
                    }
                }
            }
        }
        if ledger.count() == before {
            for (channel, queue) in self.queues.iter().enumerate() {
                if let Some(&packet) = queue.packets.front() {
                    let packets = queue.packets.len();
                    ledger.add(ProgramCode::P001, Some(packet as usize), || Fact::NeverReceived { channel, packets });
                }
            }
        }
        ledger.count() == before
    }

    fn is_done(&self, worker: usize) -> bool {
        self.next[worker] >= self.program.range(worker).end
    }

    /// The worker that must act before this one can proceed.
    fn waits_for(&self, worker: usize) -> Option<usize> {
        let known = |end: u32| (end != NOBODY).then_some(end as usize);
        match self.obstacle(worker, self.next[worker])? {
            Obstacle::Packet(channel) => known(self.ends.sender[channel as usize]),
            Obstacle::Room(channel) => known(self.ends.receiver[channel as usize]),
            Obstacle::Operation(target) => Some(target),
        }
    }

    /// A worker waits for one that has finished or does not exist.
    fn complain_alone(&self, worker: Option<usize>, ledger: &mut Ledger) {
        let Some(worker) = worker else { return };
        let number = self.next[worker];
        ledger.add(ProgramCode::P001, Some(number), || Fact::WaitsForever(self.obstacle(worker, number)));
    }

    fn complain_cycle(&self, cycle: &[usize], ledger: &mut Ledger) {
        let waiting = |&worker: &usize| {
            let operation = self.next[worker];
            let obstacle = self.obstacle(worker, operation);
            Waiting { operation, obstacle, worker: self.waits_for(worker).unwrap_or(worker) }
        };
        let first = self.next[cycle[0]];
        ledger.add(ProgramCode::P003, Some(first), || Fact::Deadlock(cycle.iter().map(waiting).collect()));
    }
}
