//! Schedules and rank programs as columns; `page/js/data/schedule.js` and `page/js/data/program.js` read them.

use collsynth_core::program::{Buffer, Operation, Program, Slot};
use collsynth_core::schedule::{Op, Schedule, Transfer};
use collsynth_core::topology::{LinkId, RankId, Topology};

use crate::columns::Columns;

/// Adds a schedule: the width and the number of transfers of each step; of each transfer its link (plus 1, as the
/// difference to the one before; 0: it names none, and its ends are in the next column), whether it reduces, and how
/// many chunks; and all chunks, as differences to the one before, from 0 in each transfer.
pub(crate) fn schedule(topology: &Topology, schedule: &Schedule, columns: &mut Columns) {
    columns.add(schedule.steps().map(|step| u64::from(step.width)));
    columns.add(schedule.steps().map(|step| step.transfers.len() as u64));
    let (mut links, mut ends, mut before) = (Vec::new(), Vec::new(), 0);
    for transfer in schedule.transfers() {
        let link = link(topology, transfer).map_or(0, |id| i64::from(id.0) + 1);
        if link == 0 {
            ends.extend([u64::from(transfer.from.0), u64::from(transfer.to.0)]);
        }
        links.push(link - before);
        before = link;
    }
    columns.add_signed(links);
    columns.add(ends);
    columns.add(schedule.transfers().iter().map(|transfer| u64::from(transfer.op == Op::Reduce)));
    columns.add(schedule.transfers().iter().map(|transfer| schedule.chunks(transfer).len() as u64));
    columns.add_signed(schedule.transfers().iter().flat_map(|transfer| {
        let mut before = 0;
        schedule.chunks(transfer).iter().map(move |chunk| {
            let number = i64::from(chunk.0);
            number - std::mem::replace(&mut before, number)
        })
    }));
}

/// The link a transfer uses, if it names one.
fn link(topology: &Topology, transfer: &Transfer) -> Option<LinkId> {
    let stated = |&id: &LinkId| transfer.via.is_none() || topology.link(id).direction == transfer.via;
    topology.links_between(transfer.from, transfer.to).find(stated)
}

/// Adds a rank program: of each channel its ends and slots; the workers of each rank; the operations of each worker; of
/// each operation its kind (send, receive, add and receive, copy, reduce, wait), its channel, the channel it forwards
/// to (plus 1), its count, and the slots it reads and writes (0: none; `1 + buffer + 3 * slot`). A wait has its worker
/// for a channel and its operation for a count.
pub(crate) fn program(program: &Program, columns: &mut Columns) {
    columns.add(program.channels.iter().map(|channel| u64::from(channel.from.0)));
    columns.add(program.channels.iter().map(|channel| u64::from(channel.to.0)));
    columns.add(program.channels.iter().map(|channel| u64::from(channel.slots)));
    let ranks = (0..program.rank_count() as u32).map(RankId);
    columns.add(ranks.map(|rank| program.workers(rank).len() as u64));
    columns.add((0..program.worker_count()).map(|worker| program.range(worker).len() as u64));
    let operations: Vec<[u64; 6]> = program.operations().iter().map(operation).collect();
    for column in 0..6 {
        columns.add(operations.iter().map(|operation| operation[column]));
    }
}

fn operation(operation: &Operation) -> [u64; 6] {
    let wide = u64::from;
    match *operation {
        Operation::Send { channel, src, count } => [0, wide(channel), 0, wide(count), slot(Some(src)), 0],
        Operation::Receive { channel, add, dst, forward, count } => {
            let forward = forward.map_or(0, |channel| wide(channel) + 1);
            [1 + u64::from(add.is_some()), wide(channel), forward, wide(count), slot(add), slot(dst)]
        }
        Operation::Copy { src, dst, count } => [3, 0, 0, wide(count), slot(Some(src)), slot(Some(dst))],
        Operation::Reduce { src, dst, count } => [4, 0, 0, wide(count), slot(Some(src)), slot(Some(dst))],
        Operation::Wait { worker, operation } => [5, wide(worker), 0, wide(operation), 0, 0],
    }
}

fn slot(slot: Option<Slot>) -> u64 {
    let buffer = |buffer| match buffer {
        Buffer::Input => 0,
        Buffer::Output => 1,
        Buffer::Scratch => 2,
    };
    slot.map_or(0, |slot| 1 + buffer(slot.buffer) + 3 * u64::from(slot.offset))
}
