//! The role of a rank in an audited rank program.
//!
//! The [rounds](super::rounds) of the program become steps. Slots are only names: the compiler tracks which value each
//! slot holds, and where that value is. A copy only adds a name, scratch takes no memory, and the value of an
//! overwritten slot is released once it is no longer read.
//!
//! A slot may hold garbage: uninitialized data, or a sum of different chunks. The audit has proven that no result
//! depends on it; it is not sent.
//!
//! O(slots that all ranks move).

use std::collections::HashMap;

use super::rounds::{Event, Round, rounds};
use super::{Delivery, Kept, LastRead, Origin, Place, Received, Role, Sent, Step, note_read};
use collsynth_core::collective::ChunkId;
use collsynth_core::program::{Block, Layout, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// Compiles a rank's role in an audited program.
pub(crate) fn of_program(program: &Program, rank: RankId) -> Role {
    let mut compiler = Compiler::new(program, rank);
    for round in rounds(program) {
        compiler.round(&round);
    }
    compiler.finish()
}

/// A value at the compiled rank.
#[derive(Clone, Copy, Debug)]
struct Value {
    chunk: ChunkId,
    place: Place,
}

/// The reads of a part of the output's old contents.
#[derive(Clone, Copy, Debug, Default)]
struct OutputReads {
    /// The last step that sends it, from 1.
    sent: usize,
    /// The last step in which it is added to a packet, and
    added: usize,
    /// that packet; `None`: several.
    to: Option<u32>,
}

struct Compiler<'a> {
    program: &'a Program,
    rank: RankId,
    blocks: Layout<'a>,
    layouts: Vec<Layout<'a>>,
    /// For each rank, its first place in `chunks`.
    first_place: Vec<usize>,
    /// The chunk at each place of each rank; `None`: garbage.
    chunks: Vec<Option<ChunkId>>,
    /// The value at each place of this rank.
    values: Vec<Option<Place>>,
    /// The contents of packets in flight, by number.
    in_flight: HashMap<u32, Vec<Option<ChunkId>>>,
    /// Values that this rank is to send on, by number.
    forwards: HashMap<u32, Vec<Option<Value>>>,
    /// Packets that have arrived but are not yet received, by number.
    arrived: HashMap<u32, u32>,
    /// By part; collectives that start with data in the output have one block there.
    output_reads: HashMap<u32, OutputReads>,
    last_read: Vec<Option<LastRead>>,
    /// For each packet, the step it is taken in, from 1.
    taken_in: Vec<usize>,
    role: Role,
}

impl<'a> Compiler<'a> {
    fn new(program: &'a Program, rank: RankId) -> Self {
        let problem = &program.problem;
        let layouts: Vec<Layout<'_>> =
            (0..program.rank_count() as u32).map(|rank| program.layout(RankId(rank))).collect();
        let mut first_place = vec![0];
        for layout in &layouts {
            first_place.push(first_place[first_place.len() - 1] + layout.place_count());
        }
        let blocks = Layout::of_call(problem, rank);
        let mut chunks = vec![None; first_place[layouts.len()]];
        let mut values = vec![None; layouts[rank.index()].place_count()];
        for chunk in (0..problem.chunk_count()).map(ChunkId) {
            for holder in problem.holders(problem.rule(chunk).before) {
                let Some(slot) = layouts[holder.index()].before(chunk) else { continue };
                let place = layouts[holder.index()].place(slot);
                chunks[first_place[holder.index()] + place] = Some(chunk);
                if holder == rank {
                    values[place] = blocks.block_before(chunk).map(Place::Own);
                }
            }
        }
        Self {
            program,
            rank,
            blocks,
            layouts,
            first_place,
            chunks,
            values,
            in_flight: HashMap::new(),
            forwards: HashMap::new(),
            arrived: HashMap::new(),
            output_reads: HashMap::new(),
            last_read: Vec::new(),
            taken_in: Vec::new(),
            role: Role { packet_count: program.operations().len(), ..Role::default() },
        }
    }

    fn round(&mut self, round: &Round) {
        let (first_send, first_packet) = (self.role.sends.len(), self.role.packets.len());
        let first_taken = self.role.taken_in.len();
        round.sends.iter().for_each(|&event| self.event(event));
        for &event in &round.sends {
            if let Event::Send(number) | Event::Forward(number) = event {
                self.arrive(number);
            }
        }
        let arrivals = first_packet..self.role.packets.len();
        round.receives.iter().for_each(|&event| self.event(event));
        self.role.steps.push(Step {
            sends: first_send..self.role.sends.len(),
            arrivals,
            taken_in: first_taken..self.role.taken_in.len(),
            ..Step::default()
        });
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Send(number) | Event::Forward(number) => self.send(number),
            Event::Receive { operation, packet } => self.receive(operation, packet),
            Event::Local(number) => self.local(number),
        }
    }

    fn owner(&self, number: u32) -> RankId {
        self.program.rank_of(self.program.worker_of(number as usize))
    }

    /// The channel that an operation sends on.
    fn channel(&self, number: u32) -> Option<u32> {
        match self.program.operations()[number as usize] {
            Operation::Send { channel, .. } => Some(channel),
            Operation::Receive { forward, .. } => forward,
            _ => None,
        }
    }

    /// The places of a rank's slots, among all places and among its own.
    fn places(&self, rank: RankId, slot: Slot, count: u32) -> impl Iterator<Item = (usize, usize)> + use<> {
        let own = if count == 0 { 0 } else { self.layouts[rank.index()].place(slot) };
        let first = self.first_place[rank.index()];
        (own..own + count as usize).map(move |own| (first + own, own))
    }

    fn value(&self, (all, own): (usize, usize)) -> Option<Value> {
        Some(Value { chunk: self.chunks[all]?, place: self.values[own]? })
    }

    fn set(&mut self, rank: RankId, (all, own): (usize, usize), chunk: Option<ChunkId>, place: Option<Place>) {
        self.chunks[all] = chunk;
        if rank == self.rank {
            self.values[own] = place;
        }
    }

    fn part(&self, chunk: ChunkId) -> u32 {
        self.blocks.part(chunk)
    }

    fn send(&mut self, number: u32) {
        let (owner, operation) = (self.owner(number), self.program.operations()[number as usize]);
        let mut values = self.forwards.remove(&number);
        if let Operation::Send { src, count, .. } = operation {
            let places = self.places(owner, src, count);
            let carried: Vec<Option<ChunkId>> = places.map(|(all, _)| self.chunks[all]).collect();
            let useful = carried.iter().flatten().count();
            self.role.largest_packet = self.role.largest_packet.max(useful);
            self.in_flight.insert(number, carried);
            if owner == self.rank {
                values = Some(self.places(owner, src, count).map(|place| self.value(place)).collect());
            }
        }
        let Some(channel) = self.channel(number).filter(|_| owner == self.rank) else { return };
        let mut chunks = Vec::new();
        for Value { chunk, place } in values.unwrap_or_default().into_iter().flatten() {
            self.read(place, chunk, None);
            chunks.push(Sent { part: self.part(chunk), from: place });
        }
        let to = self.program.channels[channel as usize].to;
        self.role.send(to, number, &self.blocks, chunks.into_iter());
    }

    /// Takes the arrival of a packet that is for this rank and carries anything.
    fn arrive(&mut self, number: u32) {
        let Some(channel) = self.channel(number).map(|channel| self.program.channels[channel as usize]) else { return };
        let useful = self.in_flight.get(&number).is_some_and(|carried| carried.iter().any(Option::is_some));
        if channel.to == self.rank && useful {
            let start = self.role.received.len();
            for chunk in self.in_flight[&number].iter().flatten() {
                self.role.received.push(Received { part: self.blocks.part(*chunk), add: None, deliver: None });
            }
            let origin = Origin::Peer { from: channel.from, number };
            let packet = self.keep(origin, start..self.role.received.len());
            self.arrived.insert(number, packet);
        }
    }

    fn keep(&mut self, origin: Origin, chunks: std::ops::Range<usize>) -> u32 {
        self.role.packets.push(Kept { origin, chunks, keep: false });
        self.last_read.push(None);
        self.taken_in.push(0);
        self.role.packets.len() as u32 - 1
    }

    fn take_in(&mut self, packet: u32) {
        self.role.taken_in.push(packet);
        self.taken_in[packet as usize] = self.role.steps.len() + 1;
    }

    fn receive(&mut self, number: u32, packet: u32) {
        let Operation::Receive { add, dst, forward, count, .. } = self.program.operations()[number as usize] else {
            return;
        };
        let owner = self.owner(number);
        let carried = self.in_flight.remove(&packet).unwrap_or_default();
        let kept = self.arrived.remove(&packet).filter(|_| owner == self.rank);
        let mut at = kept.map_or(0, |kept| self.role.packets[kept as usize].chunks.start);
        let added: Option<Vec<_>> = add.map(|add| self.places(owner, add, count).collect());
        let mut results: Vec<(Option<ChunkId>, Option<Place>)> = Vec::with_capacity(carried.len());
        for (index, &chunk) in carried.iter().enumerate() {
            let mut result = chunk;
            if let Some(added) = &added {
                result = chunk.filter(|_| self.chunks[added[index].0] == chunk);
            }
            let mut place = None;
            if let (Some(packet), Some(_)) = (kept, chunk) {
                if let (Some(added), Some(chunk)) = (&added, result)
                    && let Some(own) = self.value(added[index])
                {
                    self.role.received[at].add = Some(own.place);
                    self.read(own.place, chunk, Some(packet));
                }
                place = Some(Place::Held { packet, chunk: at as u32 });
                at += 1;
            }
            results.push((result, place));
        }
        if let Some(packet) = kept {
            self.take_in(packet);
        }
        if let Some(dst) = dst {
            for (place, &(chunk, value)) in self.places(owner, dst, count).zip(&results) {
                self.set(owner, place, chunk, value);
            }
        }
        if forward.is_some() {
            if owner == self.rank {
                let value =
                    |&(chunk, place): &(Option<ChunkId>, Option<Place>)| Some(Value { chunk: chunk?, place: place? });
                self.forwards.insert(number, results.iter().map(value).collect());
            }
            self.in_flight.insert(number, results.into_iter().map(|(chunk, _)| chunk).collect());
        }
    }

    /// A copy, or a reduction of the rank's own values.
    fn local(&mut self, number: u32) {
        let owner = self.owner(number);
        match self.program.operations()[number as usize] {
            Operation::Copy { src, dst, count } => {
                let from = self.places(owner, src, count);
                for (from, to) in from.zip(self.places(owner, dst, count)) {
                    let place = if owner == self.rank { self.values[from.1] } else { None };
                    self.set(owner, to, self.chunks[from.0], place);
                }
            }
            Operation::Reduce { src, dst, count } => {
                let (sent, received) = (self.role.sent.len(), self.role.received.len());
                let packet = self.role.packets.len() as u32;
                let mut reads = Vec::new();
                let from = self.places(owner, src, count);
                for (from, to) in from.zip(self.places(owner, dst, count)) {
                    let chunk = self.chunks[from.0].filter(|_| self.chunks[from.0] == self.chunks[to.0]);
                    let mut place = None;
                    if let (Some(chunk), true) = (chunk, owner == self.rank)
                        && let (Some(one), Some(other)) = (self.value(from), self.value(to))
                    {
                        let at = self.role.received.len() as u32;
                        let part = self.part(chunk);
                        self.role.sent.push(Sent { part, from: one.place });
                        self.role.received.push(Received { part, add: Some(other.place), deliver: None });
                        reads.extend([(one.place, chunk), (other.place, chunk)]);
                        place = Some(Place::Held { packet, chunk: at });
                    }
                    self.set(owner, to, chunk, place);
                }
                if !reads.is_empty() {
                    let origin = Origin::Own { sent: sent..self.role.sent.len() };
                    self.keep(origin, received..self.role.received.len());
                    for (place, chunk) in reads {
                        self.read(place, chunk, Some(packet));
                    }
                    self.take_in(packet);
                }
            }
            _ => {}
        }
    }

    /// Records that the current step reads a value: to send it, or to add it to a packet.
    fn read(&mut self, place: Place, chunk: ChunkId, to: Option<u32>) {
        let step = self.role.steps.len();
        self.role.read(&mut self.last_read, place, to.is_some());
        if let Place::Own(Block::Output(_)) = place {
            let part = self.part(chunk);
            let reads = self.output_reads.entry(part).or_default();
            match to {
                None => reads.sent = step + 1,
                Some(_) if reads.added == step + 1 && reads.to != to => reads.to = None,
                Some(_) => (reads.added, reads.to) = (step + 1, to),
            }
        }
    }

    /// Only now is known when results go to the output, and when packets can be released.
    fn finish(mut self) -> Role {
        let problem = &self.program.problem;
        // When, from 1; 0: before the first step.
        let mut late: Vec<(usize, Delivery)> = Vec::new();
        for chunk in (0..problem.chunk_count()).map(ChunkId) {
            let (Some(slot), Some(block)) =
                (self.layouts[self.rank.index()].after(chunk), self.blocks.block_after(chunk))
            else {
                continue;
            };
            let Some(from) = self.values[self.layouts[self.rank.index()].place(slot)] else { continue };
            let part = self.part(chunk);
            let reads = self.output_reads.get(&part).copied().unwrap_or_default();
            let read = reads.sent.max(reads.added);
            match from {
                Place::Own(Block::Output(_)) => {}
                Place::Own(Block::Input(_)) => late.push((read, Delivery { part, from, block })),
                Place::Held { packet, chunk } => {
                    let taken_in = self.taken_in[packet as usize];
                    let alone = reads.added < taken_in || (reads.added == taken_in && reads.to == Some(packet));
                    if alone && reads.sent <= taken_in {
                        self.role.received[chunk as usize].deliver = Some(block);
                    } else {
                        let when = read.max(taken_in);
                        note_read(&mut self.last_read, from, when - 1, true);
                        late.push((when, Delivery { part, from, block }));
                    }
                }
            }
        }
        late.sort_by_key(|&(when, _)| when);
        self.role.owed = late.partition_point(|&(when, _)| when == 0);
        for (number, step) in self.role.steps.iter_mut().enumerate() {
            let end = |when| late.partition_point(|&(other, _)| other <= when);
            step.deliveries = end(number)..end(number + 1);
        }
        self.role.deliveries = late.into_iter().map(|(_, delivery)| delivery).collect();
        self.role.release(&self.last_read);
        self.role
    }
}
