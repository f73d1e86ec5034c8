//! The role of a rank in a rank program that was audited.
//!
//! The [rounds](super::rounds) of the program become steps. Slots are only names here: what is tracked is which value
//! each slot holds, and where that value is. A copy makes nothing but another name, scratch takes no memory, and a slot
//! that is overwritten lets go of what it held when nobody reads that any more.
//!
//! A slot may hold what is of no use: what was never written, or a sum of different chunks. The audit has seen to it
//! that no result depends on that; it is not sent.
//!
//! Takes time in the number of slots that all ranks move.

use std::collections::HashMap;

use super::rounds::{Event, Round, rounds};
use super::{Delivery, Kept, LastRead, Origin, Place, Received, Role, Sent, Step, note_read};
use collsynth_core::collective::ChunkId;
use collsynth_core::program::{Block, Layout, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// Works out a rank's part of a program that was audited.
pub(in super::super) fn of_program(program: &Program, rank: RankId) -> Role {
    let mut compiler = Compiler::new(program, rank);
    for round in rounds(program) {
        compiler.round(&round);
    }
    compiler.finish()
}

/// A value of the rank whose role is worked out.
#[derive(Clone, Copy, Debug)]
struct Value {
    chunk: ChunkId,
    place: Place,
}

/// Who reads what was in a part of the output before.
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
    /// For each rank, where its places begin in `chunks`.
    first_place: Vec<usize>,
    /// Of each place of each rank, the chunk that a useful value there is of.
    chunks: Vec<Option<ChunkId>>,
    /// Of each place of this rank, the value.
    values: Vec<Option<Place>>,
    /// The packets on their way, by number: what they carry.
    on_their_way: HashMap<u32, Vec<Option<ChunkId>>>,
    /// What this rank is to send on, by number.
    forwards: HashMap<u32, Vec<Option<Value>>>,
    /// Packets that have arrived and were not received yet, by number.
    arrived: HashMap<u32, u32>,
    /// By part; collectives that begin with something in the output have one block there.
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
            on_their_way: HashMap::new(),
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

    /// The rank that an operation belongs to.
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

    /// Where slots of a rank stand among all places, and where among its own.
    fn places(&self, rank: RankId, slot: Slot, count: u32) -> impl Iterator<Item = (usize, usize)> + use<> {
        let own = if count == 0 { 0 } else { self.layouts[rank.index()].place(slot) };
        let first = self.first_place[rank.index()];
        (own..own + count as usize).map(move |own| (first + own, own))
    }

    /// What this rank has in a place.
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

    /// A packet leaves.
    fn send(&mut self, number: u32) {
        let (owner, operation) = (self.owner(number), self.program.operations()[number as usize]);
        let mut values = self.forwards.remove(&number);
        if let Operation::Send { src, count, .. } = operation {
            let places = self.places(owner, src, count);
            let carried: Vec<Option<ChunkId>> = places.map(|(all, _)| self.chunks[all]).collect();
            let useful = carried.iter().flatten().count();
            self.role.largest_packet = self.role.largest_packet.max(useful);
            self.on_their_way.insert(number, carried);
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

    /// A packet arrives, if it is one for this rank and carries anything.
    fn arrive(&mut self, number: u32) {
        let Some(channel) = self.channel(number).map(|channel| self.program.channels[channel as usize]) else { return };
        let useful = self.on_their_way.get(&number).is_some_and(|carried| carried.iter().any(Option::is_some));
        if channel.to == self.rank && useful {
            let start = self.role.received.len();
            for chunk in self.on_their_way[&number].iter().flatten() {
                self.role.received.push(Received { part: self.blocks.part(*chunk), add: None, deliver: None });
            }
            let chunks = start..self.role.received.len();
            let origin = Origin::Peer { from: channel.from, number };
            let packet = self.keep(origin, chunks);
            self.arrived.insert(number, packet);
        }
    }

    fn keep(&mut self, origin: Origin, chunks: std::ops::Range<usize>) -> u32 {
        self.role.packets.push(Kept { origin, chunks, keep: false });
        self.last_read.push(None);
        self.taken_in.push(0);
        self.role.packets.len() as u32 - 1
    }

    /// A packet is taken in.
    fn take_in(&mut self, packet: u32) {
        self.role.taken_in.push(packet);
        self.taken_in[packet as usize] = self.role.steps.len() + 1;
    }

    /// A packet is received.
    fn receive(&mut self, number: u32, packet: u32) {
        let Operation::Receive { add, dst, forward, count, .. } = self.program.operations()[number as usize] else {
            return;
        };
        let owner = self.owner(number);
        let carried = self.on_their_way.remove(&packet).unwrap_or_default();
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
            self.on_their_way.insert(number, results.into_iter().map(|(chunk, _)| chunk).collect());
        }
    }

    /// A copy, or a reduction of what the rank has.
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

    /// Notes that a value is read in the step that is being worked out: to be sent, or to be added to a packet.
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

    /// Adds what is known only at the end: when results go to the output, and when packets can go.
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
