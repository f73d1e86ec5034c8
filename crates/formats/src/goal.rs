//! Writes GOAL, the input of LogGOPSim (spcl/LogGOPSim; txt2bin.re is the grammar).
//!
//! The file has `num_ranks`, each rank's operations `send Nb to R tag T`, `recv Nb from R tag T` and `calc N`, and
//! `requires` between them. Packets of a channel carry its number as tag and match in order. A worker's operations
//! require one another in order; a wait requires the operation it waits for. Copies and reductions are `calc 0`; a
//! packet without slots has one byte. LogGOPS cannot express that a full channel blocks its sender.

use std::fmt::Write;

use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// The text of programs that run side by side, with slots of `slot_bytes` bytes: one, or those of a job. Tags and
/// labels of the second go on where those of the first end. O(operations).
pub fn to_string(programs: &[Program], slot_bytes: u64) -> String {
    let count = programs.iter().map(Program::rank_count).max().unwrap_or(0);
    let mut out = format!("num_ranks {count}\n");
    (0..count as u32).for_each(|rank| out += &rank_to_string(programs, RankId(rank), slot_bytes));
    out
}

/// What [`to_string`] writes of one rank. O(operations of the rank).
///
/// # Panics
///
/// If the rank is out of range.
pub fn rank_to_string(programs: &[Program], rank: RankId, slot_bytes: u64) -> String {
    let mut text =
        Text { operations: String::new(), requires: String::new(), slot_bytes, first_worker: 0, first_tag: 0 };
    for program in programs {
        text.add(program, rank);
        text.first_worker += program.workers(rank).len();
        text.first_tag += program.channels.len();
    }
    format!("\nrank {rank} {{\n{}{}}}\n", text.operations, text.requires)
}

struct Text {
    operations: String,
    /// Stated last, when all labels are known.
    requires: String,
    slot_bytes: u64,
    /// What the workers and channels of a program are counted from.
    first_worker: usize,
    first_tag: usize,
}

impl Text {
    fn add(&mut self, program: &Program, rank: RankId) {
        let first = program.workers(rank).start;
        for worker in program.workers(rank) {
            let own = self.first_worker + worker - first;
            let mut before: Option<String> = None;
            let mut pending = Vec::new();
            for (number, operation) in program.operations()[program.range(worker)].iter().enumerate() {
                let label = format!("w{own}o{number}");
                if let Operation::Wait { worker, operation } = *operation {
                    pending.push(format!("w{}o{operation}", self.first_worker + worker as usize));
                }
                self.operation(program, operation, &label);
                for earlier in before.take().into_iter().chain(pending.drain(..)) {
                    let _ = writeln!(self.requires, "{} requires {earlier}", first_label(operation, &label));
                }
                before = Some(label);
            }
        }
    }

    fn operation(&mut self, program: &Program, operation: &Operation, label: &str) {
        match *operation {
            Operation::Send { channel, count, .. } => self.send(program, label, channel, count),
            Operation::Receive { channel, forward: None, count, .. } => self.receive(program, label, channel, count),
            Operation::Receive { channel, forward: Some(forward), count, .. } => {
                self.receive(program, &format!("{label}r"), channel, count);
                self.send(program, label, forward, count);
                let _ = writeln!(self.requires, "{label} requires {label}r");
            }
            Operation::Copy { .. } | Operation::Reduce { .. } | Operation::Wait { .. } => {
                let _ = writeln!(self.operations, "{label}: calc 0");
            }
        }
    }

    fn send(&mut self, program: &Program, label: &str, channel: u32, count: u32) {
        let to = program.channels[channel as usize].to;
        let (bytes, tag) = (self.bytes(count), self.first_tag + channel as usize);
        let _ = writeln!(self.operations, "{label}: send {bytes}b to {to} tag {tag}");
    }

    fn receive(&mut self, program: &Program, label: &str, channel: u32, count: u32) {
        let from = program.channels[channel as usize].from;
        let (bytes, tag) = (self.bytes(count), self.first_tag + channel as usize);
        let _ = writeln!(self.operations, "{label}: recv {bytes}b from {from} tag {tag}");
    }

    fn bytes(&self, count: u32) -> u64 {
        (u64::from(count) * self.slot_bytes).max(1)
    }
}

/// The label of an operation's first half, if it has two, else its own.
fn first_label(operation: &Operation, label: &str) -> String {
    match operation {
        Operation::Receive { forward: Some(_), .. } => format!("{label}r"),
        _ => label.to_owned(),
    }
}
