//! Playing a role on buffers: the hot loop.
//!
//! A step has two halves, with the exchange of packets in between: [`Workspace::begin`] assembles packets,
//! [`Workspace::end`] takes in arrivals. A rank can thus wait in a transport ([`run`]), or be suspended and resumed.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::element::{Element, ReduceOp};
use super::ends::Ends;
use super::role::{Kept, Origin, Place, Role, Send, Sent, Whole};
use crate::transports::packet::{Packet, Pool};
use crate::transports::transport::{Incoming, Outgoing, Transport, TransportError};

/// One call.
pub(crate) struct Job<'a, N> {
    pub(crate) ends: &'a mut N,
    /// Elements of a block.
    pub(crate) block: usize,
    /// Blocks are cut only at multiples of this many elements.
    pub(crate) unit: usize,
    /// Parts of a block.
    pub(crate) parts: usize,
    pub(crate) op: ReduceOp,
    /// Pieces of every chunk.
    pub(crate) pieces: usize,
    /// The pieces that the role is played for, once for each.
    pub(crate) played: Range<usize>,
    /// Distinguishes this call's packets from those of others: the upper half of every tag.
    pub(crate) call: u32,
}

/// State of playing a role; kept from call to call to reuse its memory.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// The current piece of each part, within its block.
    ranges: Vec<Range<usize>>,
    /// The first element of each chunk of `Role::received` in its packet.
    offsets: Vec<usize>,
    /// Packets held, by their place in `Role::packets`.
    held: Vec<Option<Arc<Packet>>>,
    pub(crate) outgoing: Vec<Outgoing>,
    pub(crate) incoming: Vec<Incoming>,
    /// For each of `incoming`, its place in `Role::packets`.
    arriving: Vec<usize>,
    piece: usize,
    /// From 0.
    pub(crate) step: usize,
    started: Option<Instant>,
    /// Time spent in each step of the last call, summed over pieces.
    pub(crate) step_times: Vec<Duration>,
}

/// A transport's error.
#[derive(Debug)]
pub(crate) struct Failed {
    /// From 1.
    pub(crate) step: u32,
    pub(crate) error: TransportError,
}

/// Part `part` of `parts` of a block: `part*block/parts .. (part+1)*block/parts`, without overflow.
pub(crate) fn part_range(block: usize, parts: usize, part: usize) -> Range<usize> {
    let (whole, rest) = (block / parts, block % parts);
    let bound = |part: usize| part * whole + part * rest / parts;
    bound(part)..bound(part + 1)
}

/// The pieces to cut chunks into so that no packet exceeds `most` bytes, if elements allow it. Blocks have `block`
/// elements and are cut into parts at multiples of `unit`; packets have at most `chunks` chunks.
pub(crate) fn pieces<E>(block: usize, unit: usize, parts: usize, chunks: usize, most: usize) -> usize {
    let largest = part_range(block.div_ceil(unit), parts, parts - 1).len().saturating_mul(unit).min(block);
    let chunk_bytes = largest * size_of::<E>();
    chunk_bytes.saturating_mul(chunks).div_ceil(most).clamp(1, chunk_bytes.max(1))
}

/// Plays a role. The buffers must have the lengths that its layout requires.
pub(crate) fn run<E: Element, T: Transport, N: Ends<E>>(
    role: &Role,
    work: &mut Workspace,
    transport: &mut T,
    job: &mut Job<'_, N>,
) -> Result<(), Failed> {
    let pool = transport.pool();
    work.start::<E, N>(role, job);
    while work.begin::<E, N>(role, job, &pool) {
        let exchanged = transport.exchange(&mut work.outgoing, &mut work.incoming);
        exchanged.map_err(|error| Failed { step: work.step as u32 + 1, error })?;
        work.end::<E, N>(role, job, &pool);
    }
    Ok(())
}

impl Workspace {
    pub(crate) fn start<E: Element, N: Ends<E>>(&mut self, role: &Role, job: &mut Job<'_, N>) {
        self.step_times.clear();
        self.step_times.resize(role.steps.len(), Duration::ZERO);
        self.held.clear();
        self.held.resize_with(role.packets.len(), || None);
        self.outgoing.clear();
        self.incoming.clear();
        self.arriving.clear();
        (self.piece, self.step) = (job.played.start, 0);
        self.enter_piece::<E, N>(role, job);
    }

    /// Advances to the next exchange, left in `outgoing` and `incoming`; false if the call is done.
    pub(crate) fn begin<E: Element, N: Ends<E>>(&mut self, role: &Role, job: &mut Job<'_, N>, pool: &Pool) -> bool {
        while self.piece < job.played.end {
            self.started = Some(Instant::now());
            let step = &role.steps[self.step];
            let first_packet = (self.piece * role.packet_count) as u32;
            let tag = |packet: u32| u64::from(job.call) << 32 | u64::from(first_packet.wrapping_add(packet));
            for send in &role.sends[step.sends.clone()] {
                if let Some(packet) = self.packet::<E, N>(role, job, pool, send) {
                    self.outgoing.push(Outgoing { to: send.to, tag: tag(send.number), packet });
                }
            }
            if self.step + 1 == role.input_steps && self.piece + 1 == job.played.end {
                job.ends.input_is_done();
            }
            self.release(&role.releases[step.release_early.clone()], pool);
            for at in step.arrivals.clone() {
                let kept = &role.packets[at];
                let bytes = self.elements(role, kept) * size_of::<E>();
                if let (Origin::Peer { from, number }, 1..) = (&kept.origin, bytes) {
                    self.incoming.push(Incoming { from: *from, tag: tag(*number), bytes, packet: None });
                    self.arriving.push(at);
                }
            }
            if !(self.outgoing.is_empty() && self.incoming.is_empty()) {
                return true;
            }
            self.end::<E, N>(role, job, pool);
        }
        false
    }

    /// Ends the step: takes in the packets of `incoming`.
    pub(crate) fn end<E: Element, N: Ends<E>>(&mut self, role: &Role, job: &mut Job<'_, N>, pool: &Pool) {
        let step = &role.steps[self.step];
        for (arrived, at) in self.incoming.drain(..).zip(self.arriving.drain(..)) {
            self.held[at] = arrived.packet;
        }
        for &at in &role.taken_in[step.taken_in.clone()] {
            self.take_in::<E, N>(role, job, at as usize, pool);
        }
        self.deliver::<E, N>(role, job, step.deliveries.clone());
        self.release(&role.releases[step.release_late.clone()], pool);
        if let Some(started) = self.started.take() {
            self.step_times[self.step] += started.elapsed();
        }
        self.step += 1;
        if self.step == role.steps.len() {
            (self.piece, self.step) = (self.piece + 1, 0);
            self.enter_piece::<E, N>(role, job);
        }
    }

    /// Begins a piece; all remaining ones if there are no steps.
    fn enter_piece<E: Element, N: Ends<E>>(&mut self, role: &Role, job: &mut Job<'_, N>) {
        while self.piece < job.played.end {
            self.measure(role, job, self.piece);
            self.deliver::<E, N>(role, job, 0..role.owed);
            if !role.steps.is_empty() {
                return;
            }
            self.piece += 1;
        }
    }

    /// Computes this piece of every part, and the offsets of chunks in their packets.
    fn measure<N>(&mut self, role: &Role, job: &Job<'_, N>, piece: usize) {
        self.ranges.clear();
        let units = job.block.div_ceil(job.unit);
        self.ranges.extend((0..job.parts).map(|part| {
            let whole = part_range(units, job.parts, part);
            let piece = part_range(whole.len(), job.pieces, piece);
            let end = |units: usize| ((whole.start + units) * job.unit).min(job.block);
            end(piece.start)..end(piece.end)
        }));
        self.offsets.clear();
        for kept in &role.packets {
            let mut offset = 0;
            for chunk in &role.received[kept.chunks.clone()] {
                self.offsets.push(offset);
                offset += self.ranges[chunk.part as usize].len();
            }
        }
    }

    fn elements(&self, role: &Role, kept: &Kept) -> usize {
        match kept.chunks.clone().next_back() {
            Some(last) => self.offsets[last] + self.ranges[role.received[last].part as usize].len(),
            None => 0,
        }
    }

    /// A packet to send; none if it has no elements.
    fn packet<E: Element, N: Ends<E>>(
        &self,
        role: &Role,
        job: &Job<'_, N>,
        pool: &Pool,
        send: &Send,
    ) -> Option<Arc<Packet>> {
        match send.whole {
            Some(Whole::Held(packet)) => return self.held[packet as usize].clone(),
            Some(Whole::Input) if job.pieces == 1 => {
                if let Some(packet) = job.ends.input_packet() {
                    return (!packet.is_empty()).then_some(packet);
                }
            }
            _ => {}
        }
        self.assemble::<E, N>(job, pool, &role.sent[send.chunks.clone()]).map(Arc::new)
    }

    /// A packet of copies of these chunks; none if they have no elements.
    fn assemble<E: Element, N: Ends<E>>(&self, job: &Job<'_, N>, pool: &Pool, chunks: &[Sent]) -> Option<Packet> {
        let elements: usize = chunks.iter().map(|chunk| self.ranges[chunk.part as usize].len()).sum();
        if elements == 0 {
            return None;
        }
        let mut packet = pool.packet(elements * size_of::<E>());
        let mut rest = packet.elements_mut::<E>();
        for chunk in chunks {
            let value = value(&self.held, &self.offsets, &*job.ends, chunk.from, &self.ranges[chunk.part as usize]);
            let (room, behind) = rest.split_at_mut(value.len());
            room.copy_from_slice(value);
            rest = behind;
        }
        Some(packet)
    }

    /// Combines a packet with the rank's values, delivers its results, and holds it if it is read later.
    fn take_in<E: Element, N: Ends<E>>(&mut self, role: &Role, job: &mut Job<'_, N>, at: usize, pool: &Pool) {
        let kept = &role.packets[at];
        let packet = match &kept.origin {
            Origin::Peer { .. } => self.held[at].take(),
            Origin::Own { sent } => self.assemble::<E, N>(job, pool, &role.sent[sent.clone()]).map(Arc::new),
        };
        let Some(mut packet) = packet else { return };
        for index in kept.chunks.clone() {
            let chunk = role.received[index];
            let range = &self.ranges[chunk.part as usize];
            let inside = self.offsets[index]..self.offsets[index] + range.len();
            if let Some(place) = chunk.add {
                let own = value(&self.held, &self.offsets, &*job.ends, place, range);
                E::combine(job.op, own, &mut unshared(&mut packet, pool).elements_mut()[inside.clone()]);
            }
            if let Some(block) = chunk.deliver {
                job.ends.deliver(block, range.clone(), &packet.elements::<E>()[inside]);
            }
        }
        match kept.keep {
            true => self.held[at] = Some(packet),
            false => pool.recycle(packet),
        }
    }

    fn deliver<E: Element, N: Ends<E>>(&self, role: &Role, job: &mut Job<'_, N>, deliveries: Range<usize>) {
        for delivery in &role.deliveries[deliveries] {
            let range = self.ranges[delivery.part as usize].clone();
            match delivery.from {
                Place::Own(from) => job.ends.deliver_own(from, delivery.block, range),
                Place::Held { packet, chunk } => {
                    let value = held_value(&self.held, &self.offsets, packet, chunk, range.len());
                    job.ends.deliver(delivery.block, range, value);
                }
            }
        }
    }

    fn release(&mut self, packets: &[u32], pool: &Pool) {
        for &packet in packets {
            if let Some(packet) = self.held[packet as usize].take() {
                pool.recycle(packet);
            }
        }
    }
}

fn value<'a, E: Element, N: Ends<E>>(
    held: &'a [Option<Arc<Packet>>],
    offsets: &[usize],
    ends: &'a N,
    place: Place,
    range: &Range<usize>,
) -> &'a [E] {
    match place {
        Place::Own(block) => ends.own(block, range.clone()),
        Place::Held { packet, chunk } => held_value(held, offsets, packet, chunk, range.len()),
    }
}

fn held_value<'a, E: Element>(
    held: &'a [Option<Arc<Packet>>],
    offsets: &[usize],
    packet: u32,
    chunk: u32,
    length: usize,
) -> &'a [E] {
    match &held[packet as usize] {
        Some(packet) => &packet.elements()[offsets[chunk as usize]..][..length],
        // A packet without elements is never sent.
        None => &[],
    }
}

/// The packet, made mutable: copied first if it is shared.
fn unshared<'a>(packet: &'a mut Arc<Packet>, pool: &Pool) -> &'a mut Packet {
    if Arc::get_mut(packet).is_none() {
        let mut copy = pool.packet(packet.len());
        copy.elements_mut::<u8>().copy_from_slice(packet.elements());
        pool.recycle(std::mem::replace(packet, Arc::new(copy)));
    }
    Arc::get_mut(packet).expect("a packet just made has one owner")
}
