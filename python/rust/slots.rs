//! The slots that each chunk move of a schedule reads and writes, taken from the program it is lowered to.

use std::collections::HashMap;

use collsynth::program::{Buffer, Operation, Program, Slot};
use collsynth::schedule::{Schedule, Transfer};
use collsynth::topology::{RankId, Topology};

/// Per rank: the slots of input, output and scratch.
pub fn sizes(program: &Program) -> Vec<i32> {
    let ranks = (0..program.rank_count() as u32).map(RankId);
    let of_rank = |rank| {
        let layout = program.layout(rank);
        Buffer::ALL.map(|buffer| layout.len(buffer) as i32)
    };
    ranks.flat_map(of_rank).collect()
}

/// Chunk moves: step, from, to, direction (twice the dimension, and 1 more for the positive one; -1 on a graph), then
/// buffer and offset of what is sent, of what is added to it (buffer -1: nothing), and of where it is kept. Copies:
/// rank, buffer and offset of the source, buffer and offset of the destination.
///
/// All moves of a step read before any of them writes. `None` if the program is not one of this schedule. O(moves).
pub fn tables(topology: &Topology, schedule: &Schedule, program: &Program) -> Option<(Vec<i32>, Vec<i32>)> {
    let (mut sent, mut received) = (vec![Vec::new(); program.channels.len()], vec![Vec::new(); program.channels.len()]);
    let mut copies = Vec::new();
    for worker in 0..program.worker_count() {
        for operation in &program.operations()[program.range(worker)] {
            match *operation {
                Operation::Send { channel, src, count } => sent[channel as usize].push((src, count)),
                Operation::Receive { channel, add, dst, forward: None, count } => {
                    received[channel as usize].push((add, dst?, count));
                }
                Operation::Copy { src, dst, count } => {
                    for k in 0..count {
                        copies.push(program.rank_of(worker).0 as i32);
                        copies.extend(words(src.plus(k)?).into_iter().chain(words(dst.plus(k)?)));
                    }
                }
                Operation::Wait { .. } => {}
                Operation::Receive { .. } | Operation::Reduce { .. } => return None,
            }
        }
    }
    let channels: HashMap<_, _> = program
        .channels
        .iter()
        .enumerate()
        .map(|(number, channel)| ((channel.from, channel.to, channel.via), number))
        .collect();
    // Packets of each channel so far.
    let mut done = vec![0; program.channels.len()];
    let mut moves = Vec::with_capacity(schedule.move_count() * 10);
    for step in schedule.steps() {
        for transfer in step.transfers {
            let channel = *channels.get(&(transfer.from, transfer.to, transfer.via))?;
            let direction = direction(topology, transfer);
            let mut left = schedule.chunks(transfer).len();
            while left > 0 {
                let packet = done[channel];
                let ((src, count), (add, dst, same)) = (*sent[channel].get(packet)?, *received[channel].get(packet)?);
                if count != same {
                    return None;
                }
                (left, done[channel]) = (left.checked_sub(count as usize)?, packet + 1);
                for k in 0..count {
                    moves.extend([step.number as i32, transfer.from.0 as i32, transfer.to.0 as i32, direction]);
                    moves.extend(words(src.plus(k)?));
                    match add {
                        Some(add) => moves.extend(words(add.plus(k)?)),
                        None => moves.extend([-1, 0]),
                    }
                    moves.extend(words(dst.plus(k)?));
                }
            }
        }
    }
    Some((moves, copies))
}

fn words(slot: Slot) -> [i32; 2] {
    [slot.buffer as i32, slot.offset as i32]
}

/// The direction of a transfer's link.
fn direction(topology: &Topology, transfer: &Transfer) -> i32 {
    let of_link =
        || topology.links_between(transfer.from, transfer.to).next().and_then(|id| topology.link(id).direction);
    transfer.via.or_else(of_link).map_or(-1, |direction| 2 * i32::from(direction.dim) + i32::from(direction.positive))
}
