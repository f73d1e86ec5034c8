//! From a worker's operations to steps.
//!
//! A wait becomes the dependency of the operation after it; of several waits, all but the last get `nop` steps before
//! it. Packets of more than 71 slots are sent in pieces. A packet without slots becomes one slot of scratch that nobody
//! reads.

use std::collections::HashMap;

use super::{ExportError, MAX_COUNT};
use crate::waits::awaited;
use collsynth_core::program::{Buffer, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// A step of a thread block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) kind: &'static str,
    pub(super) src: Slot,
    pub(super) dst: Slot,
    pub(super) count: u32,
    /// The worker of the rank, and its step, that this one depends on.
    pub(super) after: Option<(usize, usize)>,
}

/// A worker, before workers are split.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// The channel it sends on.
    pub(super) send: Option<u32>,
    /// The channel it receives from.
    pub(super) receive: Option<u32>,
}

/// Scratch for packets without slots: one slot that is sent and never written, and one for each channel that brings
/// such packets.
struct Room {
    next: u32,
    send: Option<u32>,
}

impl Room {
    fn take(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }
}

/// The steps of a rank's workers, and their slots of scratch.
pub(super) fn steps_of_rank(program: &Program, rank: RankId) -> Result<(Vec<Steps>, u32), ExportError> {
    let mut room = Room { next: program.scratch[rank.index()], send: None };
    let awaited = awaited(program, rank);
    let mut all = Vec::new();
    // The last step of each awaited operation.
    let mut step_of = HashMap::new();
    // For each worker, its dependent steps with the worker and operation they wait for.
    let mut waits: Vec<Vec<(usize, u32, u32)>> = Vec::new();
    for (number, worker) in program.workers(rank).enumerate() {
        let mut own = Steps::default();
        let mut after = Vec::new();
        let mut pending: Vec<(u32, u32)> = Vec::new();
        let mut token = None;
        for (index, operation) in program.operations()[program.range(worker)].iter().enumerate() {
            let is_awaited = awaited.contains(&(number as u32, index as u32));
            if let Operation::Wait { worker, operation } = *operation {
                pending.push((worker, operation));
                if !is_awaited {
                    continue;
                }
            } else {
                own.connect(operation).map_err(|what| ExportError::Worker { rank: rank.0, worker: number, what })?;
            }
            let steps = pieces(operation, &mut room, &mut token);
            let last = pending.pop();
            for (other, operation) in pending.drain(..) {
                after.push((own.steps.len(), other, operation));
                own.steps.push(NOP);
            }
            after.extend(last.map(|(other, operation)| (own.steps.len(), other, operation)));
            own.steps.extend(steps);
            if is_awaited {
                step_of.insert((number as u32, index as u32), own.steps.len() - 1);
            }
        }
        for (other, operation) in pending {
            after.push((own.steps.len(), other, operation));
            own.steps.push(NOP);
        }
        waits.push(after);
        all.push(own);
    }
    for (worker, after) in waits.into_iter().enumerate() {
        for (step, other, operation) in after {
            all[worker].steps[step].after = Some((other as usize, step_of[&(other, operation)]));
        }
    }
    Ok((all, room.next))
}

const NOP: Step = Step {
    kind: "nop",
    src: Slot { buffer: Buffer::Input, offset: 0 },
    dst: Slot { buffer: Buffer::Input, offset: 0 },
    count: 0,
    after: None,
};

impl Steps {
    /// Records the channels of an operation; a block has at most one of each.
    fn connect(&mut self, operation: &Operation) -> Result<(), String> {
        let (send, receive) = match *operation {
            Operation::Send { channel, .. } => (Some(channel), None),
            Operation::Receive { channel, forward, .. } => (forward, Some(channel)),
            _ => (None, None),
        };
        for (known, channel, what) in
            [(&mut self.send, send, "sends on"), (&mut self.receive, receive, "receives from")]
        {
            if let Some(channel) = channel
                && *known.get_or_insert(channel) != channel
            {
                return Err(format!("{what} two channels; an MSCCL thread block has one"));
            }
        }
        Ok(())
    }
}

/// The steps of an operation, none of more slots than MSCCL sends at a time.
fn pieces(operation: &Operation, room: &mut Room, token: &mut Option<u32>) -> Vec<Step> {
    let any = Slot::input(0);
    let (kind, src, dst, count) = match *operation {
        Operation::Wait { .. } | Operation::Copy { count: 0, .. } | Operation::Reduce { count: 0, .. } => {
            return vec![NOP];
        }
        Operation::Send { count: 0, .. } => {
            let slot = room.send.unwrap_or_else(|| room.take());
            room.send = Some(slot);
            ("s", Slot::scratch(slot), any, 1)
        }
        Operation::Receive { count: 0, forward, .. } => {
            let slot = *token.get_or_insert_with(|| room.take());
            (if forward.is_some() { "rcs" } else { "r" }, any, Slot::scratch(slot), 1)
        }
        Operation::Send { src, count, .. } => ("s", src, src, count),
        Operation::Receive { add, dst, forward, count, .. } => {
            let kind = match (add, dst, forward) {
                (None, _, None) => "r",
                (None, _, Some(_)) => "rcs",
                (Some(_), None, _) => "rrs",
                (Some(_), Some(_), None) => "rrc",
                (Some(_), Some(_), Some(_)) => "rrcs",
            };
            let dst = dst.or(add).unwrap_or(any);
            (kind, add.unwrap_or(dst), dst, count)
        }
        Operation::Copy { src, dst, count } => ("cpy", src, dst, count),
        Operation::Reduce { src, dst, count } => ("re", src, dst, count),
    };
    let further = |slot: Slot, by: u32| Slot { offset: slot.offset + by, ..slot };
    (0..count)
        .step_by(MAX_COUNT as usize)
        .map(|from| {
            let count = MAX_COUNT.min(count - from);
            Step { kind, src: further(src, from), dst: further(dst, from), count, after: None }
        })
        .collect()
}
