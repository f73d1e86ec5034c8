//! What one rank has to do, worked out beforehand: for every step what it sends and what it receives, each chunk with
//! the place it is read from. Running a program looks nothing up.
//!
//! A value is in one of three places: in the input, in the output, or in a packet that arrived earlier and is kept for
//! as long as it is read. An arrival never changes any of them but the packet it came in: `copy` leaves the value there,
//! `reduce` adds the rank's own value to it. The last arrival of a chunk that the rank needs is also copied to the
//! output. What a step sends is put together before anything of the step arrives, so it is what the rank held when the
//! step began; a packet that is to be sent on whole is not even copied.

use std::collections::{BTreeSet, HashMap};

use super::layout::{Block, Layout};
use crate::collective::ChunkId;
use crate::problem::Problem;
use crate::schedule::{Op, Schedule, Solution, Transfer};
use crate::topology::RankId;
use crate::verify::Verified;

/// The part of a schedule that one rank plays.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<StepProgram>,
    pub(super) sends: Vec<Send>,
    pub(super) sent: Vec<Sent>,
    pub(super) receives: Vec<Receive>,
    pub(super) received: Vec<Received>,
    /// Packets to let go, by their place among `receives`.
    pub(super) releases: Vec<u32>,
    /// The ranks it exchanges packets with, ascending.
    pub(super) peers: Vec<RankId>,
    /// Transfers of the whole schedule: packets are numbered so.
    pub(super) transfer_count: usize,
    /// The most chunks in a transfer of the whole schedule.
    pub(super) largest_transfer: usize,
}

/// One step: ranges of the program's arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct StepProgram {
    pub(super) sends: std::ops::Range<usize>,
    pub(super) receives: std::ops::Range<usize>,
    /// Let go once this step's packets are put together, and
    pub(super) release_early: std::ops::Range<usize>,
    /// once they have arrived.
    pub(super) release_late: std::ops::Range<usize>,
}

/// A packet to be sent.
#[derive(Debug)]
pub(super) struct Send {
    pub(super) to: RankId,
    pub(super) transfer: u32,
    /// Range of `Program::sent`.
    pub(super) chunks: std::ops::Range<usize>,
    /// It is this packet, whole.
    pub(super) forward: Option<u32>,
}

/// A chunk to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) part: u32,
    pub(super) from: Place,
}

/// A packet to be received.
#[derive(Debug)]
pub(super) struct Receive {
    pub(super) from: RankId,
    pub(super) transfer: u32,
    /// Range of `Program::received`.
    pub(super) chunks: std::ops::Range<usize>,
    /// It is read after it was received.
    pub(super) keep: bool,
}

/// A chunk to be received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub(super) part: u32,
    /// What is to be added to it.
    pub(super) add: Option<Place>,
    /// The block of the output it is to be copied to.
    pub(super) deliver: Option<u32>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Input(u32),
    Output(u32),
    /// In a packet: its place among `receives`, and that of the chunk among `received`.
    Held {
        packet: u32,
        chunk: u32,
    },
}

/// The pairs of ranks that exchange packets, lower rank first.
pub(super) fn pairs(schedule: &Schedule) -> BTreeSet<(RankId, RankId)> {
    let ends = |transfer: &Transfer| (transfer.from.min(transfer.to), transfer.from.max(transfer.to));
    schedule.transfers().iter().map(ends).collect()
}

/// The ranks that a rank exchanges packets with, ascending.
pub fn peers(schedule: &Verified<Solution>, rank: RankId) -> Vec<RankId> {
    let pairs = pairs(&schedule.schedule).into_iter();
    let others = pairs.filter_map(|(one, other)| match rank {
        rank if rank == one => Some(other),
        rank if rank == other => Some(one),
        _ => None,
    });
    others.collect()
}

/// Works out a rank's part of a schedule that was verified for the problem. O(transfers + the rank's moves).
pub(super) fn compile(problem: &Problem, schedule: &Schedule, rank: RankId) -> Program {
    let mut compiler = Compiler {
        layout: Layout::new(problem, rank),
        schedule,
        rank,
        places: HashMap::new(),
        last_arrival: HashMap::new(),
        last_read: Vec::new(),
        program: Program {
            steps: Vec::with_capacity(schedule.step_count()),
            sends: Vec::new(),
            sent: Vec::new(),
            receives: Vec::new(),
            received: Vec::new(),
            releases: Vec::new(),
            peers: Vec::new(),
            transfer_count: schedule.transfers().len(),
            largest_transfer: schedule.transfers().iter().map(|one| schedule.chunks(one).len()).max().unwrap_or(0),
        },
    };
    for step in schedule.steps() {
        compiler.step(step.transfers, step.first_transfer);
    }
    compiler.finish()
}

/// When a packet is read last.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LastRead {
    step: usize,
    /// As what is added to an arrival of the step, not only as what the step sends.
    late: bool,
}

struct Compiler<'a> {
    layout: Layout<'a>,
    schedule: &'a Schedule,
    rank: RankId,
    /// Where the rank has each chunk that it has met; `None`: it has it not.
    places: HashMap<ChunkId, Option<Place>>,
    /// The last arrival of each chunk, by its place among `received`.
    last_arrival: HashMap<ChunkId, usize>,
    /// For each packet received, when it is read last, if at all.
    last_read: Vec<Option<LastRead>>,
    program: Program,
}

impl Compiler<'_> {
    fn step(&mut self, transfers: &[Transfer], first: usize) {
        let (rank, numbered) = (self.rank, || transfers.iter().zip(first as u32..));
        let (first_send, first_receive) = (self.program.sends.len(), self.program.receives.len());
        for (transfer, number) in numbered().filter(|(transfer, _)| transfer.from == rank) {
            self.send(transfer, number);
        }
        for (transfer, number) in numbered().filter(|(transfer, _)| transfer.to == rank) {
            self.receive(transfer, number);
        }
        self.program.steps.push(StepProgram {
            sends: first_send..self.program.sends.len(),
            receives: first_receive..self.program.receives.len(),
            ..StepProgram::default()
        });
    }

    fn send(&mut self, transfer: &Transfer, number: u32) {
        let start = self.program.sent.len();
        for &chunk in self.schedule.chunks(transfer) {
            if let Some(from) = self.place(chunk) {
                self.read(from, false);
                self.program.sent.push(Sent { part: self.layout.part(chunk), from });
            }
        }
        let chunks = start..self.program.sent.len();
        let forward = self.whole_packet(chunks.clone());
        self.program.sends.push(Send { to: transfer.to, transfer: number, chunks, forward });
    }

    fn receive(&mut self, transfer: &Transfer, number: u32) {
        let (start, packet) = (self.program.received.len(), self.program.receives.len() as u32);
        for &chunk in self.schedule.chunks(transfer) {
            let own = self.place(chunk);
            let add = own.filter(|_| transfer.op == Op::Reduce);
            if let Some(place) = add {
                self.read(place, true);
            }
            let at = self.program.received.len();
            self.program.received.push(Received { part: self.layout.part(chunk), add, deliver: None });
            self.places.insert(chunk, Some(Place::Held { packet, chunk: at as u32 }));
            self.last_arrival.insert(chunk, at);
        }
        let chunks = start..self.program.received.len();
        self.program.receives.push(Receive { from: transfer.from, transfer: number, chunks, keep: false });
        self.last_read.push(None);
    }

    /// Where the rank has a chunk now.
    fn place(&mut self, chunk: ChunkId) -> Option<Place> {
        let layout = &self.layout;
        *self.places.entry(chunk).or_insert_with(|| {
            layout.before(chunk).map(|block| match block {
                Block::Input(block) => Place::Input(block),
                Block::Output(block) => Place::Output(block),
            })
        })
    }

    /// Notes that a value is read in the step that is being worked out.
    fn read(&mut self, place: Place, late: bool) {
        if let Place::Held { packet, .. } = place {
            let step = self.program.steps.len();
            let last = &mut self.last_read[packet as usize];
            let late = late || last.is_some_and(|last| last.step == step && last.late);
            *last = Some(LastRead { step, late });
        }
    }

    /// The packet that these chunks are, all of it, in its order.
    fn whole_packet(&self, chunks: std::ops::Range<usize>) -> Option<u32> {
        let sent = &self.program.sent[chunks];
        let Place::Held { packet, .. } = sent.first()?.from else { return None };
        let held = self.program.receives[packet as usize].chunks.clone();
        let same = held.len() == sent.len()
            && sent.iter().zip(held).all(|(one, at)| one.from == Place::Held { packet, chunk: at as u32 });
        same.then_some(packet)
    }

    /// Adds what is known only at the end: which arrivals are results, and when packets can go.
    fn finish(mut self) -> Program {
        let mut program = self.program;
        for (&chunk, &at) in &self.last_arrival {
            program.received[at].deliver = self.layout.after(chunk);
        }
        let mut releases: Vec<(usize, bool, u32)> = Vec::new();
        for (packet, last) in self.last_read.drain(..).enumerate() {
            program.receives[packet].keep = last.is_some();
            releases.extend(last.map(|last| (last.step, last.late, packet as u32)));
        }
        releases.sort_unstable();
        for (number, step) in program.steps.iter_mut().enumerate() {
            let end = |late| releases.partition_point(|&(step, is_late, _)| (step, is_late) <= (number, late));
            let start = releases.partition_point(|&(step, ..)| step < number);
            step.release_early = start..end(false);
            step.release_late = end(false)..end(true);
        }
        program.releases = releases.into_iter().map(|(.., packet)| packet).collect();
        let peers: BTreeSet<RankId> = program
            .sends
            .iter()
            .map(|send| send.to)
            .chain(program.receives.iter().map(|receive| receive.from))
            .collect();
        program.peers = peers.into_iter().collect();
        program
    }
}
