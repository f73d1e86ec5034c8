//! Playing a role on buffers: the hot loop.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::element::{Element, Operation};
use super::layout::Block;
use super::packet::{Packet, Pool};
use super::role::{Kept, Origin, Place, Role, Send, Sent, Whole};
use super::transport::{Incoming, Outgoing, Transport, TransportError};

/// Where a rank's own values are, and where its results go. Ranges are of elements in a block.
pub(super) trait Ends<E> {
    /// What was there before the first step.
    fn own(&self, block: Block, range: Range<usize>) -> &[E];

    /// The input as a packet, if it is one.
    fn input_packet(&self) -> Option<Arc<Packet>> {
        None
    }

    /// Takes a result, for this block of the output.
    fn deliver(&mut self, block: u32, range: Range<usize>, value: &[E]);

    /// Takes a result that is the rank's own.
    fn deliver_own(&mut self, from: Block, block: u32, range: Range<usize>);

    /// The input is not read any more.
    fn input_is_done(&mut self) {}
}

/// Input and output as they are given by the caller.
pub(super) struct Slices<'a, E> {
    pub(super) input: &'a [E],
    pub(super) output: &'a mut [E],
    /// Elements of a block.
    pub(super) block: usize,
}

/// One call, and what is to be done in it.
pub(super) struct Job<'a, N> {
    pub(super) ends: &'a mut N,
    /// Elements of a block.
    pub(super) block: usize,
    /// Elements that are not cut apart.
    pub(super) unit: usize,
    /// Parts of a block.
    pub(super) parts: usize,
    /// What `reduce` does.
    pub(super) op: Operation,
    /// Pieces every chunk is cut in; the role is played once for each.
    pub(super) pieces: usize,
    /// Distinguishes this call's packets from those of others: the upper half of every tag.
    pub(super) call: u32,
}

/// What is needed while a role is played; kept from call to call.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The elements of each part that are worked on now, within their block.
    ranges: Vec<Range<usize>>,
    /// Where each chunk of `Role::received` begins in its packet, in elements.
    offsets: Vec<usize>,
    /// The packets that are held, by their place in `Role::packets`.
    held: Vec<Option<Arc<Packet>>>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// For each of `incoming`, its place in `Role::packets`.
    arriving: Vec<usize>,
    /// Time spent in each step of the last call, all pieces together.
    pub(super) step_times: Vec<Duration>,
}

/// A transport's error, and the step it happened in, from 1.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: u32,
    pub(super) error: TransportError,
}

/// Part `part` of `parts` of a block: `part*block/parts .. (part+1)*block/parts`, without overflow.
pub(super) fn part_range(block: usize, parts: usize, part: usize) -> Range<usize> {
    let (whole, rest) = (block / parts, block % parts);
    let bound = |part: usize| part * whole + part * rest / parts;
    bound(part)..bound(part + 1)
}

/// Plays a role. The buffers have the lengths that its layout asks for.
pub(super) fn run<E: Element, T: Transport, N: Ends<E>>(
    role: &Role,
    work: &mut Workspace,
    transport: &mut T,
    job: &mut Job<'_, N>,
) -> Result<(), Failed> {
    work.step_times.clear();
    work.step_times.resize(role.steps.len(), Duration::ZERO);
    work.held.clear();
    work.held.resize_with(role.packets.len(), || None);
    let pool = transport.pool();
    for piece in 0..job.pieces {
        work.measure(role, job, piece);
        work.deliver::<E, N>(role, job, 0..role.owed);
        let first_packet = (piece * role.packet_count) as u32;
        for (number, step) in role.steps.iter().enumerate() {
            let started = Instant::now();
            let tag = |packet: u32| u64::from(job.call) << 32 | u64::from(first_packet.wrapping_add(packet));
            for send in &role.sends[step.sends.clone()] {
                if let Some(packet) = work.packet::<E, N>(role, job, &pool, send) {
                    work.outgoing.push(Outgoing { to: send.to, tag: tag(send.number), packet });
                }
            }
            if number + 1 == role.input_steps && piece + 1 == job.pieces {
                job.ends.input_is_done();
            }
            work.release(&role.releases[step.release_early.clone()], &pool);
            for at in step.arrivals.clone() {
                let kept = &role.packets[at];
                let bytes = work.elements(role, kept) * size_of::<E>();
                if let (Origin::Peer { from, number }, 1..) = (&kept.origin, bytes) {
                    work.incoming.push(Incoming { from: *from, tag: tag(*number), bytes, packet: None });
                    work.arriving.push(at);
                }
            }
            if !(work.outgoing.is_empty() && work.incoming.is_empty()) {
                let exchanged = transport.exchange(&mut work.outgoing, &mut work.incoming);
                exchanged.map_err(|error| Failed { step: number as u32 + 1, error })?;
                for (arrived, at) in work.incoming.drain(..).zip(work.arriving.drain(..)) {
                    work.held[at] = arrived.packet;
                }
            }
            for &at in &role.taken_in[step.taken_in.clone()] {
                work.take_in::<E, N>(role, job, at as usize, &pool);
            }
            work.deliver::<E, N>(role, job, step.deliveries.clone());
            work.release(&role.releases[step.release_late.clone()], &pool);
            work.step_times[number] += started.elapsed();
        }
    }
    Ok(())
}

impl Workspace {
    /// Works out the ranges of this piece of every part, and where chunks begin in their packets.
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

    /// The elements of a packet.
    fn elements(&self, role: &Role, kept: &Kept) -> usize {
        match kept.chunks.clone().next_back() {
            Some(last) => self.offsets[last] + self.ranges[role.received[last].part as usize].len(),
            None => 0,
        }
    }

    /// A packet to be sent; none if it has no elements.
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
        self.put_together::<E, N>(job, pool, &role.sent[send.chunks.clone()]).map(Arc::new)
    }

    /// A packet of copies of these chunks; none if they have no elements.
    fn put_together<E: Element, N: Ends<E>>(&self, job: &Job<'_, N>, pool: &Pool, chunks: &[Sent]) -> Option<Packet> {
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

    /// Adds to a packet what is to be added, delivers its results and holds it, if it is read later.
    fn take_in<E: Element, N: Ends<E>>(&mut self, role: &Role, job: &mut Job<'_, N>, at: usize, pool: &Pool) {
        let kept = &role.packets[at];
        let packet = match &kept.origin {
            Origin::Peer { .. } => self.held[at].take(),
            Origin::Own { sent } => self.put_together::<E, N>(job, pool, &role.sent[sent.clone()]).map(Arc::new),
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

    /// Copies values to the output.
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

impl<E: Copy> Ends<E> for Slices<'_, E> {
    fn own(&self, block: Block, range: Range<usize>) -> &[E] {
        match block {
            Block::Input(block) => &self.input[within(self.block, block, &range)],
            Block::Output(block) => &self.output[within(self.block, block, &range)],
        }
    }

    fn deliver(&mut self, block: u32, range: Range<usize>, value: &[E]) {
        self.output[within(self.block, block, &range)].copy_from_slice(value);
    }

    fn deliver_own(&mut self, from: Block, block: u32, range: Range<usize>) {
        let to = within(self.block, block, &range);
        match from {
            Block::Input(from) => self.output[to].copy_from_slice(&self.input[within(self.block, from, &range)]),
            Block::Output(from) => self.output.copy_within(within(self.block, from, &range), to.start),
        }
    }
}

/// Elements of a block, in a buffer of blocks of this length.
fn within(length: usize, block: u32, range: &Range<usize>) -> Range<usize> {
    let start = block as usize * length;
    start + range.start..start + range.end
}

/// The elements of a part, where they are.
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

/// The packet, to be changed: a copy of its own if somebody else reads it, too.
fn unshared<'a>(packet: &'a mut Arc<Packet>, pool: &Pool) -> &'a mut Packet {
    if Arc::get_mut(packet).is_none() {
        let mut copy = pool.packet(packet.len());
        copy.elements_mut::<u8>().copy_from_slice(packet.elements());
        pool.recycle(std::mem::replace(packet, Arc::new(copy)));
    }
    Arc::get_mut(packet).expect("a packet just made has one owner")
}
