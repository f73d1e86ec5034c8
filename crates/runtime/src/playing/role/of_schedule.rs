//! The role of a rank in a verified schedule.
//!
//! The last arrival of a chunk that the rank needs goes to the output at once: every later transfer of the chunk sends
//! what arrived, so the old contents are no longer read.

use std::collections::HashMap;
use std::ops::Range;

use super::{Delivery, Kept, LastRead, Origin, Place, Received, Role, Sent, Step};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::program::{Block, Layout};
use collsynth_core::schedule::{Op, Schedule, Transfer};
use collsynth_core::topology::RankId;

/// Compiles a rank's role in a schedule verified for the problem. O(transfers + the rank's moves).
pub(crate) fn of_schedule(problem: &Problem, schedule: &Schedule, rank: RankId) -> Role {
    let mut compiler = Compiler {
        layout: Layout::of_call(problem, rank),
        schedule,
        rank,
        places: HashMap::new(),
        last_arrival: HashMap::new(),
        last_read: Vec::new(),
        role: Role {
            steps: Vec::with_capacity(schedule.step_count()),
            packet_count: schedule.transfers().len(),
            largest_packet: schedule.transfers().iter().map(|one| schedule.chunks(one).len()).max().unwrap_or(0),
            ..Role::default()
        },
    };
    compiler.own_blocks();
    for step in schedule.steps() {
        compiler.step(step.transfers, step.first_transfer);
    }
    compiler.finish()
}

struct Compiler<'a> {
    layout: Layout<'a>,
    schedule: &'a Schedule,
    rank: RankId,
    /// The place of each chunk encountered; `None`: the rank lacks it.
    places: HashMap<ChunkId, Option<Place>>,
    /// The last arrival of each chunk, by its place among `received`.
    last_arrival: HashMap<ChunkId, usize>,
    /// By packet.
    last_read: Vec<Option<LastRead>>,
    role: Role,
}

impl Compiler<'_> {
    /// Data that the rank owes itself goes to the output first.
    fn own_blocks(&mut self) {
        if let Some((from, to)) = self.layout.own_blocks() {
            for (block, to) in from.zip(to..) {
                for part in 0..self.layout.parts() as u32 {
                    let from = Place::Own(Block::Input(block));
                    self.role.deliveries.push(Delivery { part, from, block: to });
                }
            }
        }
        self.role.owed = self.role.deliveries.len();
    }

    fn step(&mut self, transfers: &[Transfer], first: usize) {
        let (rank, numbered) = (self.rank, || transfers.iter().zip(first as u32..));
        let (first_send, first_packet) = (self.role.sends.len(), self.role.packets.len());
        for (transfer, number) in numbered().filter(|(transfer, _)| transfer.from == rank) {
            self.send(transfer, number);
        }
        for (transfer, number) in numbered().filter(|(transfer, _)| transfer.to == rank) {
            self.receive(transfer, number);
        }
        let arrivals = first_packet..self.role.packets.len();
        self.role.taken_in.extend(arrivals.clone().map(|packet| packet as u32));
        self.role.steps.push(Step {
            sends: first_send..self.role.sends.len(),
            taken_in: arrivals.clone(),
            arrivals,
            deliveries: self.role.owed..self.role.owed,
            ..Step::default()
        });
    }

    fn send(&mut self, transfer: &Transfer, number: u32) {
        let mut chunks = Vec::new();
        for &chunk in self.schedule.chunks(transfer) {
            if let Some(from) = self.place(chunk) {
                self.role.read(&mut self.last_read, from, false);
                chunks.push(Sent { part: self.layout.part(chunk), from });
            }
        }
        self.role.send(transfer.to, number, &self.layout, chunks.into_iter());
    }

    fn receive(&mut self, transfer: &Transfer, number: u32) {
        let (start, packet) = (self.role.received.len(), self.role.packets.len() as u32);
        for &chunk in self.schedule.chunks(transfer) {
            let own = self.place(chunk);
            let add = own.filter(|_| transfer.op == Op::Reduce);
            if let Some(place) = add {
                self.role.read(&mut self.last_read, place, true);
            }
            let at = self.role.received.len();
            self.role.received.push(Received { part: self.layout.part(chunk), add, deliver: None });
            self.places.insert(chunk, Some(Place::Held { packet, chunk: at as u32 }));
            self.last_arrival.insert(chunk, at);
        }
        let chunks: Range<usize> = start..self.role.received.len();
        let origin = Origin::Peer { from: transfer.from, number };
        self.role.packets.push(Kept { origin, chunks, keep: false });
        self.last_read.push(None);
    }

    /// Where the rank has a chunk now.
    fn place(&mut self, chunk: ChunkId) -> Option<Place> {
        let layout = &self.layout;
        *self.places.entry(chunk).or_insert_with(|| layout.block_before(chunk).map(Place::Own))
    }

    /// Only now is known which arrivals are results, and when packets can be released.
    fn finish(self) -> Role {
        let mut role = self.role;
        for (&chunk, &at) in &self.last_arrival {
            role.received[at].deliver = self.layout.block_after(chunk);
        }
        role.release(&self.last_read);
        role
    }
}
