//! Writing rank program files: one operation per line; equal programs give equal bytes.

use collsynth_core::exact::narrow;
use std::fmt::{self, Write};

use super::PROGRAM_FORMAT;
use crate::json::schedule::write::{
    separator, write_collective, write_groups, write_list, write_origin, write_topology,
};
use collsynth_core::program::{Buffer, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// The text of a rank program file. O(operations).
pub fn program_to_string(program: &Program) -> String {
    let mut text = String::with_capacity(1024 + 72 * program.operations().len());
    write_program(&mut text, program, None).expect("writing to a string cannot fail");
    text
}

/// The text of a file with the program of one rank alone: its channels, with their numbers in the whole program, and
/// what it does. O(channels + operations of the rank).
///
/// # Panics
///
/// If the rank is out of range.
pub fn rank_program_to_string(program: &Program, rank: RankId) -> String {
    let mut text = String::new();
    write_program(&mut text, program, Some(rank)).expect("writing to a string cannot fail");
    text
}

/// Writes all ranks, or only one.
fn write_program(out: &mut String, program: &Program, only: Option<RankId>) -> fmt::Result {
    write!(out, "{{\n  \"format\": \"{PROGRAM_FORMAT}\",\n  ")?;
    if program.has_links {
        out.push_str("\"topology\": ");
        write_topology(out, program.problem.topology().spec(), "  ")?;
    } else {
        write!(out, "\"ranks\": {}", program.rank_count())?;
    }
    if let Some(rank) = only {
        write!(out, ",\n  \"rank\": {rank}")?;
    }
    out.push_str(",\n  \"collective\": ");
    write_collective(out, program.problem.collective())?;
    write_groups(out, program.problem.collective())?;
    if program.in_place {
        out.push_str(",\n  \"in_place\": true");
    }
    write!(out, ",\n  \"barriers\": \"{}\"", program.barriers.name())?;
    write!(out, ",\n  \"contention_free\": {}", program.contention_free)?;
    out.push_str(",\n  \"channels\": [");
    let mut next = separator("\n    ", ",\n    ");
    // The number of each channel in the file.
    let mut numbers = vec![0; program.channels.len()];
    let mut written = 0;
    for (number, (channel, transfers)) in program.channels.iter().zip(&program.transfers).enumerate() {
        if only.is_some_and(|rank| rank != channel.from && rank != channel.to) {
            continue;
        }
        numbers[number] = written;
        written += 1;
        write!(out, "{}{{", next())?;
        if only.is_some() {
            write!(out, "\"number\": {number}, ")?;
        }
        write!(out, "\"from\": {}, \"to\": {}", channel.from, channel.to)?;
        if let Some(via) = channel.via {
            write!(out, ", \"via\": \"{via}\"")?;
        }
        write!(out, ", \"slots\": {}", channel.slots)?;
        if !transfers.is_empty() {
            out.push_str(", \"transfers\": ");
            write_list(out, ", ", transfers)?;
        }
        out.push('}');
    }
    let number = |channel: u32| numbers.get(channel as usize).copied().unwrap_or(channel);
    out.push_str(if written == 0 { "]" } else { "\n  ]" });
    out.push_str(",\n  \"programs\": [");
    let mut next = separator("\n    ", ",\n    ");
    for rank in (0..narrow(program.rank_count())).map(RankId).filter(|&rank| only.is_none_or(|only| only == rank)) {
        write!(out, "{}{{\"scratch\": {}, \"workers\": [", next(), program.scratch[rank.index()])?;
        let mut next = separator("\n      ", ",\n      ");
        for worker in program.workers(rank) {
            write!(out, "{}[", next())?;
            let mut next = separator("\n        ", ",\n        ");
            for operation in &program.operations()[program.range(worker)] {
                out.push_str(next());
                write_operation(out, operation, number)?;
            }
            out.push(']');
        }
        out.push_str("]}");
    }
    out.push_str("\n  ]");
    if let Some(origin) = &program.origin {
        out.push_str(",\n  \"origin\": ");
        write_origin(out, origin)?;
    }
    out.write_str("\n}\n")
}

/// Writes an operation, given the number that a channel has in the file.
fn write_operation(out: &mut String, operation: &Operation, number: impl Fn(u32) -> u32) -> fmt::Result {
    let counted = |out: &mut String, count: u32| match count {
        1 => Ok(()),
        _ => write!(out, ", \"count\": {count}"),
    };
    match *operation {
        Operation::Send { channel, src, count } => {
            write!(out, "{{\"op\": \"send\", \"channel\": {}", number(channel))?;
            if count > 0 {
                write_slot(out, "src", src)?;
            }
            counted(out, count)?;
        }
        Operation::Receive { channel, add, dst, forward, count } => {
            let name = if add.is_some() { "recv_reduce" } else { "recv" };
            write!(out, "{{\"op\": \"{name}\", \"channel\": {}", number(channel))?;
            if let Some(add) = add {
                write_slot(out, "src", add)?;
            }
            if let Some(dst) = dst {
                write_slot(out, "dst", dst)?;
            }
            counted(out, count)?;
            if let Some(forward) = forward {
                write!(out, ", \"forward\": {}", number(forward))?;
            }
        }
        Operation::Copy { src, dst, count } | Operation::Reduce { src, dst, count } => {
            let name = if matches!(operation, Operation::Copy { .. }) { "copy" } else { "reduce" };
            write!(out, "{{\"op\": \"{name}\"")?;
            write_slot(out, "src", src)?;
            write_slot(out, "dst", dst)?;
            counted(out, count)?;
        }
        Operation::Wait { worker, operation } => {
            write!(out, "{{\"op\": \"wait\", \"worker\": {worker}, \"operation\": {operation}")?;
        }
    }
    out.write_char('}')
}

fn write_slot(out: &mut String, key: &str, slot: Slot) -> fmt::Result {
    let buffer = match slot.buffer {
        Buffer::Input => "i",
        Buffer::Output => "o",
        Buffer::Scratch => "s",
    };
    write!(out, ", \"{key}\": [\"{buffer}\", {}]", slot.offset)
}
