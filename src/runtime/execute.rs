//! Running a program on buffers: the hot loop.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::element::{Element, Operation};
use super::packet::{Packet, Pool};
use super::program::{Place, Program, Receive, Send};
use super::transport::{Incoming, Outgoing, Transport, TransportError};

/// The buffers of one call, and what is to be done with them.
pub(super) struct Job<'a, E> {
    pub(super) input: &'a [E],
    pub(super) output: &'a mut [E],
    /// Elements of a block.
    pub(super) block: usize,
    /// Parts of a block.
    pub(super) parts: usize,
    /// What `reduce` does.
    pub(super) op: Operation,
    /// Pieces every chunk is cut in; the program runs once for each.
    pub(super) pieces: usize,
    /// Distinguishes this call's packets from those of others: the upper half of every tag.
    pub(super) call: u32,
}

/// What a program needs while it runs; kept from call to call.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The elements of each part that are worked on now, within their block.
    ranges: Vec<Range<usize>>,
    /// Where each chunk of `Program::received` begins in its packet, in elements.
    offsets: Vec<usize>,
    /// The packets that are kept, by their place in `Program::receives`.
    held: Vec<Option<Arc<Packet>>>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// For each of `incoming`, its place in `Program::receives`.
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

/// Runs a program. The buffers have the lengths that its layout asks for.
pub(super) fn run<E: Element, T: Transport>(
    program: &Program,
    work: &mut Workspace,
    transport: &mut T,
    job: &mut Job<'_, E>,
) -> Result<(), Failed> {
    work.step_times.clear();
    work.step_times.resize(program.steps.len(), Duration::ZERO);
    work.held.resize_with(program.receives.len(), || None);
    let pool = transport.pool();
    for piece in 0..job.pieces {
        work.measure(program, job, piece);
        let first_packet = (piece * program.transfer_count) as u32;
        for (number, step) in program.steps.iter().enumerate() {
            let started = Instant::now();
            let tag = |transfer: u32| u64::from(job.call) << 32 | u64::from(first_packet.wrapping_add(transfer));
            for send in &program.sends[step.sends.clone()] {
                if let Some(packet) = work.gather(program, job, &pool, send) {
                    work.outgoing.push(Outgoing { to: send.to, tag: tag(send.transfer), packet });
                }
            }
            work.release(&program.releases[step.release_early.clone()], &pool);
            for at in step.receives.clone() {
                let receive = &program.receives[at];
                let bytes = work.elements(program, receive) * size_of::<E>();
                if bytes > 0 {
                    let (from, tag) = (receive.from, tag(receive.transfer));
                    work.incoming.push(Incoming { from, tag, bytes, packet: None });
                    work.arriving.push(at);
                }
            }
            if !(work.outgoing.is_empty() && work.incoming.is_empty()) {
                let exchanged = transport.exchange(&mut work.outgoing, &mut work.incoming);
                exchanged.map_err(|error| Failed { step: number as u32 + 1, error })?;
                work.take_in(program, job, &pool);
            }
            work.release(&program.releases[step.release_late.clone()], &pool);
            work.step_times[number] += started.elapsed();
        }
    }
    Ok(())
}

impl Workspace {
    /// Works out the ranges of this piece of every part, and where chunks begin in their packets.
    fn measure<E>(&mut self, program: &Program, job: &Job<'_, E>, piece: usize) {
        self.ranges.clear();
        self.ranges.extend((0..job.parts).map(|part| {
            let whole = part_range(job.block, job.parts, part);
            let piece = part_range(whole.len(), job.pieces, piece);
            whole.start + piece.start..whole.start + piece.end
        }));
        self.offsets.clear();
        for receive in &program.receives {
            let mut offset = 0;
            for chunk in &program.received[receive.chunks.clone()] {
                self.offsets.push(offset);
                offset += self.ranges[chunk.part as usize].len();
            }
        }
    }

    /// The elements of a packet that is to be received.
    fn elements(&self, program: &Program, receive: &Receive) -> usize {
        match receive.chunks.clone().next_back() {
            Some(last) => self.offsets[last] + self.ranges[program.received[last].part as usize].len(),
            None => 0,
        }
    }

    /// Puts a packet together; none if it has no elements.
    fn gather<E: Element>(&self, program: &Program, job: &Job<'_, E>, pool: &Pool, send: &Send) -> Option<Arc<Packet>> {
        if let Some(packet) = send.forward {
            return self.held[packet as usize].clone();
        }
        let chunks = &program.sent[send.chunks.clone()];
        let elements: usize = chunks.iter().map(|chunk| self.ranges[chunk.part as usize].len()).sum();
        if elements == 0 {
            return None;
        }
        let mut packet = pool.packet(elements * size_of::<E>());
        let mut rest = packet.elements_mut::<E>();
        let (held, offsets) = (&self.held, &self.offsets);
        let sources = Sources { input: job.input, output: job.output, block: job.block, held, offsets };
        for chunk in chunks {
            let value = sources.value(chunk.from, &self.ranges[chunk.part as usize]);
            let (room, behind) = rest.split_at_mut(value.len());
            room.copy_from_slice(value);
            rest = behind;
        }
        Some(Arc::new(packet))
    }

    /// Adds to what has arrived, delivers it and keeps it, in the order of the schedule.
    fn take_in<E: Element>(&mut self, program: &Program, job: &mut Job<'_, E>, pool: &Pool) {
        for (arrived, at) in self.incoming.drain(..).zip(self.arriving.drain(..)) {
            let receive = &program.receives[at];
            let Some(mut packet) = arrived.packet else { continue };
            for index in receive.chunks.clone() {
                let chunk = program.received[index];
                let range = &self.ranges[chunk.part as usize];
                let inside = self.offsets[index]..self.offsets[index] + range.len();
                if let Some(place) = chunk.add {
                    let (held, offsets) = (&self.held, &self.offsets);
                    let sources = Sources { input: job.input, output: job.output, block: job.block, held, offsets };
                    E::combine(
                        job.op,
                        sources.value(place, range),
                        &mut unshared(&mut packet, pool).elements_mut()[inside.clone()],
                    );
                }
                if let Some(block) = chunk.deliver {
                    let start = block as usize * job.block;
                    job.output[start + range.start..start + range.end].copy_from_slice(&packet.elements::<E>()[inside]);
                }
            }
            match receive.keep {
                true => self.held[at] = Some(packet),
                false => pool.recycle(packet),
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

/// Where values are read from.
struct Sources<'a, E> {
    input: &'a [E],
    output: &'a [E],
    /// Elements of a block.
    block: usize,
    held: &'a [Option<Arc<Packet>>],
    offsets: &'a [usize],
}

impl<'a, E: Element> Sources<'a, E> {
    /// The elements of a part, where they are.
    fn value(&self, place: Place, range: &Range<usize>) -> &'a [E] {
        let within = |block: u32| block as usize * self.block + range.start..block as usize * self.block + range.end;
        match place {
            Place::Input(block) => &self.input[within(block)],
            Place::Output(block) => &self.output[within(block)],
            Place::Held { packet, chunk } => match &self.held[packet as usize] {
                Some(packet) => &packet.elements()[self.offsets[chunk as usize]..][..range.len()],
                // A packet without elements is never sent.
                None => &[],
            },
        }
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
