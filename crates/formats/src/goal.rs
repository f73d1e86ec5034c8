//! Writes GOAL, the input of LogGOPSim (spcl/LogGOPSim; txt2bin.re is the grammar).
//!
//! The file has `num_ranks`, each rank's operations `send Nb to R tag T`, `recv Nb from R tag T` and `calc N`, and
//! `requires` between them. Packets of a channel carry its number as tag and match in order. A worker's operations
//! require one another in order; a wait requires the operation it waits for. Copies and reductions are `calc 0`; a
//! packet without slots has one byte. LogGOPS cannot express that a full channel blocks its sender.

use std::fmt::Write;

use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// The text of a program with slots of `slot_bytes` bytes. O(operations).
pub fn to_string(program: &Program, slot_bytes: u64) -> String {
    let mut out = format!("num_ranks {}\n", program.rank_count());
    (0..program.rank_count() as u32).for_each(|rank| out += &rank_to_string(program, RankId(rank), slot_bytes));
    out
}

/// What [`to_string`] writes of one rank. O(operations of the rank).
///
/// # Panics
///
/// If the rank is out of range.
pub fn rank_to_string(program: &Program, rank: RankId, slot_bytes: u64) -> String {
    let mut out = format!("\nrank {rank} {{\n");
    let first = program.workers(rank).start;
    // Stated last, when all labels are known.
    let mut requires = String::new();
    for worker in program.workers(rank) {
        let own = worker - first;
        let mut before: Option<String> = None;
        let mut pending = Vec::new();
        for (number, operation) in program.operations()[program.range(worker)].iter().enumerate() {
            let label = format!("w{own}o{number}");
            if let Operation::Wait { worker, operation } = *operation {
                pending.push(format!("w{worker}o{operation}"));
            }
            let last = write_operation(&mut out, &mut requires, program, operation, &label, slot_bytes);
            for earlier in before.take().into_iter().chain(pending.drain(..)) {
                let _ = writeln!(requires, "{} requires {earlier}", first_label(operation, &label));
            }
            before = Some(last);
        }
    }
    out + &requires + "}\n"
}

/// The label of an operation's first half, if it has two, else its own.
fn first_label(operation: &Operation, label: &str) -> String {
    match operation {
        Operation::Receive { forward: Some(_), .. } => format!("{label}r"),
        _ => label.to_owned(),
    }
}

fn write_operation(
    out: &mut String,
    requires: &mut String,
    program: &Program,
    operation: &Operation,
    label: &str,
    slot_bytes: u64,
) -> String {
    let bytes = |count: u32| (u64::from(count) * slot_bytes).max(1);
    let send = |out: &mut String, channel: u32, count: u32| {
        let to = program.channels[channel as usize].to;
        let _ = writeln!(out, "{label}: send {}b to {to} tag {channel}", bytes(count));
    };
    let receive = |out: &mut String, label: &str, channel: u32, count: u32| {
        let from = program.channels[channel as usize].from;
        let _ = writeln!(out, "{label}: recv {}b from {from} tag {channel}", bytes(count));
    };
    match *operation {
        Operation::Send { channel, count, .. } => send(out, channel, count),
        Operation::Receive { channel, forward: None, count, .. } => receive(out, label, channel, count),
        Operation::Receive { channel, forward: Some(forward), count, .. } => {
            receive(out, &format!("{label}r"), channel, count);
            send(out, forward, count);
            let _ = writeln!(requires, "{label} requires {label}r");
        }
        Operation::Copy { .. } | Operation::Reduce { .. } | Operation::Wait { .. } => {
            let _ = writeln!(out, "{label}: calc 0");
        }
    }
    label.to_owned()
}
