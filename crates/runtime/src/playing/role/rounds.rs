//! One interleaving of a rank program in which ranks keep step: in each round, all that can be sent is sent, then all
//! that can be received is received.
//!
//! ```text
//!  round 1   sends    worker after worker: send, copy, wait - until each wants to receive, or must wait
//!            arrives  worker after worker: receive, reduce, copy, wait - until each wants to send, or must wait
//!  round 2   sends    first what receives of round 1 send on; then as before
//! ```
//!
//! The audit has shown that every interleaving ends with the same values, so this one does too. It blocks only where
//! the program does (order, waits, packets, room in channels), and where more than [`PACKETS_A_STEP`] packets, the
//! guaranteed capacity of transports, would go from one rank to another in a round.
//!
//! O(operations + the sum of unfinished workers over the rounds).

use std::collections::{BTreeMap, VecDeque};

use crate::transports::transport::PACKETS_A_STEP;
use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// The execution of an operation. Packets have the numbers of the operations that send them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Send(u32),
    /// The result of a receive in the previous round is sent on.
    Forward(u32),
    Receive {
        operation: u32,
        packet: u32,
    },
    /// A copy, or a reduction of the rank's own values.
    Local(u32),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    /// Before anything arrives: sends, copies.
    pub(crate) sends: Vec<Event>,
    /// After it: receives, copies, reductions.
    pub(crate) receives: Vec<Event>,
}

/// The rounds of an audited program.
pub(crate) fn rounds(program: &Program) -> Vec<Round> {
    let mut clock = Clock::new(program);
    let mut rounds = Vec::new();
    while !clock.unfinished.is_empty() || !clock.forwards.is_empty() {
        let mut round = Round::default();
        clock.send_on(&mut round.sends);
        clock.go_on(true, &mut round.sends);
        clock.go_on(false, &mut round.receives);
        let idle = round.sends.is_empty() && round.receives.is_empty();
        if idle && !clock.progressed {
            // Unreachable for an audited program, which never gets stuck.
            break;
        }
        if !idle {
            rounds.push(round);
        }
    }
    rounds
}

struct Clock<'a> {
    program: &'a Program,
    /// For each worker, its next operation among all operations.
    next: Vec<usize>,
    /// For each worker, its rank's first worker.
    first: Vec<usize>,
    unfinished: Vec<usize>,
    /// For each channel, the packets sent and not yet received.
    queues: Vec<VecDeque<u32>>,
    /// For each channel, the slots not taken by those packets or by ones about to be sent on.
    room: Vec<u32>,
    /// For each channel, the pair of ranks it joins.
    pair: Vec<usize>,
    /// For each pair, packets of this round, and of the next.
    packets: Vec<[usize; 2]>,
    /// Receives whose results are to be sent on.
    forwards: Vec<u32>,
    /// An operation was executed in this round, if only a wait.
    progressed: bool,
}

impl<'a> Clock<'a> {
    fn new(program: &'a Program) -> Self {
        let mut pairs = BTreeMap::new();
        let mut pair = Vec::with_capacity(program.channels.len());
        for channel in &program.channels {
            let fresh = pairs.len();
            pair.push(*pairs.entry((channel.from, channel.to)).or_insert(fresh));
        }
        let ranks = (0..program.rank_count() as u32).map(RankId);
        let mut clock = Self {
            program,
            next: (0..program.worker_count()).map(|worker| program.range(worker).start).collect(),
            first: ranks.flat_map(|rank| program.workers(rank).map(move |_| program.workers(rank).start)).collect(),
            unfinished: (0..program.worker_count()).collect(),
            queues: vec![VecDeque::new(); program.channels.len()],
            room: program.channels.iter().map(|channel| channel.slots).collect(),
            packets: vec![[0; 2]; pairs.len()],
            pair,
            forwards: Vec::new(),
            progressed: false,
        };
        clock.forget_finished();
        clock
    }

    /// Begins a round: sends on the results of the previous one.
    fn send_on(&mut self, events: &mut Vec<Event>) {
        self.progressed = !self.forwards.is_empty();
        for packets in &mut self.packets {
            *packets = [packets[1], 0];
        }
        for operation in std::mem::take(&mut self.forwards) {
            if let Operation::Receive { forward: Some(channel), .. } = self.program.operations()[operation as usize] {
                self.queues[channel as usize].push_back(operation);
                events.push(Event::Forward(operation));
            }
        }
    }

    /// Advances every worker until it is about to receive (or, when not sending, to send) or must wait.
    fn go_on(&mut self, sending: bool, events: &mut Vec<Event>) {
        loop {
            let mut moved = false;
            for at in 0..self.unfinished.len() {
                let worker = self.unfinished[at];
                let end = self.program.range(worker).end;
                while self.next[worker] < end && self.carry_out(worker, sending, events) {
                    self.next[worker] += 1;
                    moved = true;
                }
            }
            if !moved {
                return;
            }
            self.progressed = true;
            self.forget_finished();
        }
    }

    fn forget_finished(&mut self) {
        let (program, next) = (self.program, &self.next);
        self.unfinished.retain(|&worker| next[worker] < program.range(worker).end);
    }

    /// Executes a worker's next operation; false if it must wait.
    fn carry_out(&mut self, worker: usize, sending: bool, events: &mut Vec<Event>) -> bool {
        let number = self.next[worker];
        let operation = number as u32;
        match self.program.operations()[number] {
            Operation::Send { channel, .. } => {
                let packets = self.packets[self.pair[channel as usize]][0];
                if !sending || self.room[channel as usize] == 0 || packets >= PACKETS_A_STEP {
                    return false;
                }
                self.room[channel as usize] -= 1;
                self.packets[self.pair[channel as usize]][0] += 1;
                self.queues[channel as usize].push_back(operation);
                events.push(Event::Send(operation));
            }
            Operation::Receive { channel, forward, .. } => {
                if sending {
                    return false;
                }
                let Some(&packet) = self.queues[channel as usize].front() else { return false };
                if let Some(forward) = forward {
                    let packets = self.packets[self.pair[forward as usize]][1];
                    if self.room[forward as usize] == 0 || packets >= PACKETS_A_STEP {
                        return false;
                    }
                    self.room[forward as usize] -= 1;
                    self.packets[self.pair[forward as usize]][1] += 1;
                    self.forwards.push(operation);
                }
                self.queues[channel as usize].pop_front();
                self.room[channel as usize] += 1;
                events.push(Event::Receive { operation, packet });
            }
            Operation::Copy { .. } => events.push(Event::Local(operation)),
            Operation::Reduce { .. } if sending => return false,
            Operation::Reduce { .. } => events.push(Event::Local(operation)),
            Operation::Wait { worker: other, operation } => {
                let target = self.first[worker] + other as usize;
                return self.next[target] > self.program.range(target).start + operation as usize;
            }
        }
        true
    }
}
