//! Operations in words.

use collsynth_core::program::{Channel, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// `rank 3, worker 1, operation 7 (send input 4 to rank 2)`.
pub(super) fn describe(program: &Program, operation: usize) -> String {
    let worker = program.worker_of(operation);
    let index = operation - program.range(worker).start;
    let what = what(program, operation);
    format!("{}, operation {index} ({what})", name(program, worker))
}

/// `rank 3, worker 1`.
pub(super) fn name(program: &Program, worker: usize) -> String {
    let rank = program.rank_of(worker);
    let number = worker - program.workers(rank).start;
    format!("rank {}, worker {number}", program.problem.topology().numbered_name(rank))
}

/// What an operation does.
fn what(program: &Program, operation: usize) -> String {
    let end = |channel: u32, end: fn(&Channel) -> RankId| {
        let known = program.channels.get(channel as usize);
        let rank = known.map(|channel| program.problem.topology().numbered_name(end(channel)));
        format!("rank {} on channel {channel}", rank.unwrap_or_else(|| "?".to_owned()))
    };
    let to = |channel| end(channel, |ends| ends.to);
    let from = |channel| end(channel, |ends| ends.from);
    match program.operations()[operation] {
        Operation::Send { channel, count: 0, .. } => format!("send a token to {}", to(channel)),
        Operation::Receive { channel, count: 0, forward: None, .. } => {
            format!("receive a token from {}", from(channel))
        }
        Operation::Send { channel, src, count } => format!("send {} to {}", slots(src, count), to(channel)),
        Operation::Receive { channel, add, dst, forward, count } => {
            let mut text = format!("receive from {}", from(channel));
            if let Some(add) = add {
                text.push_str(&format!(", add {}", slots(add, count)));
            }
            if let Some(dst) = dst {
                text.push_str(&format!(" into {}", slots(dst, count)));
            }
            if let Some(forward) = forward {
                text.push_str(&format!(", send on to {}", to(forward)));
            }
            text
        }
        Operation::Copy { src, dst, count } => format!("copy {} to {dst}", slots(src, count)),
        Operation::Reduce { src, dst, count } => format!("reduce {} into {dst}", slots(src, count)),
        Operation::Wait { worker, operation } => format!("wait for worker {worker}, operation {operation}"),
    }
}

/// `input 4`, `input 4 to 6`.
fn slots(slot: Slot, count: u32) -> String {
    match count {
        0 | 1 => slot.to_string(),
        _ => format!("{slot} to {}", u64::from(slot.offset) + u64::from(count) - 1),
    }
}
