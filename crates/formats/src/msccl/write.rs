//! From a rank program to MSCCL XML.
//!
//! A wait becomes the dependency of the operation after it; where there are several, all but the last ride on `nop`
//! steps before it. Packets of more than 71 slots are sent in pieces. A packet without slots is one of a slot of
//! scratch that nobody reads. Workers of too many steps are split, see `split`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::split::{Block, split};
use super::{Dialect, ExportError, MAX_BLOCKS, MAX_CHANNELS, MAX_COUNT, MAX_NAME};
use collsynth_core::collective::Kind;
use collsynth_core::program::{Buffer, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// Bytes up to which RCCL uses the algorithm: a tebibyte.
const MAX_BYTES: u64 = 1 << 40;

/// A step of a thread block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) kind: &'static str,
    pub(super) src: Slot,
    pub(super) dst: Slot,
    pub(super) count: u32,
    /// The worker of the rank and its step, that it depends on.
    pub(super) after: Option<(usize, usize)>,
}

/// The steps of a worker, before workers are split.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// The channels it sends on and receives from.
    pub(super) send: Option<u32>,
    pub(super) receive: Option<u32>,
}

/// The text of an algorithm.
///
/// # Errors
///
/// An [`ExportError`] if MSCCL has no such collective, or its limits cannot be met.
pub fn to_string(program: &Program, dialect: Dialect) -> Result<String, ExportError> {
    let (coll, chunks) = collective(program, dialect)?;
    let ranks = || (0..program.rank_count() as u32).map(RankId);
    if let Some(failed) = ranks().find(|&rank| !program.problem.topology().is_alive(rank)) {
        return Err(ExportError::FailedRank { rank: failed.0 });
    }
    let mut scratch = Vec::new();
    let mut workers = Vec::new();
    for rank in ranks() {
        let mut room = Room { next: program.scratch[rank.index()], send: None };
        workers.push(steps_of_rank(program, rank, &mut room)?);
        scratch.push(room.next);
    }
    let split = split(program, workers)?;
    if split.channels > MAX_CHANNELS {
        return Err(ExportError::Channels { count: split.channels });
    }
    let name = program.origin.as_ref().and_then(|origin| origin.planner.as_deref()).unwrap_or("synth");
    let name: String = name.chars().take(MAX_NAME).collect();
    let mut out = String::new();
    let place = u32::from(program.in_place);
    let _ = write!(
        out,
        "<algo name=\"{}\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{chunks}\" ngpus=\"{}\" coll=\"{coll}\" \
         inplace=\"{place}\"",
        quick_xml::escape::escape(name.as_str()),
        split.channels.max(1),
        program.rank_count(),
    );
    if dialect == Dialect::Rccl {
        let _ = write!(out, " outofplace=\"{}\" minBytes=\"0\" maxBytes=\"{MAX_BYTES}\"", 1 - place);
    }
    out.push_str(">\n");
    for (rank, blocks) in ranks().zip(&split.blocks) {
        if blocks.len() > MAX_BLOCKS {
            return Err(ExportError::Blocks { rank: rank.0, count: blocks.len() });
        }
        let layout = program.layout(rank);
        let _ = writeln!(
            out,
            "  <gpu id=\"{rank}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">",
            layout.len(Buffer::Input),
            layout.len(Buffer::Output),
            scratch[rank.index()]
        );
        write_blocks(&mut out, blocks);
        out.push_str("  </gpu>\n");
    }
    out.push_str("</algo>\n");
    Ok(out)
}

/// The name of the collective, and the chunks of a loop.
fn collective(program: &Program, dialect: Dialect) -> Result<(&'static str, u32), ExportError> {
    let kind = &program.problem.collective().kind;
    let parts = program.problem.parts();
    let each = (program.rank_count() as u32).saturating_mul(parts);
    Ok(match (kind, dialect) {
        (Kind::AllGather, _) => ("allgather", each),
        (Kind::ReduceScatter, Dialect::Msccl) => ("reduce_scatter", each),
        (Kind::ReduceScatter, Dialect::Rccl) => ("reducescatter", each),
        (Kind::AllToAll, _) => ("alltoall", each),
        (Kind::AllReduce, _) => ("allreduce", parts),
        (Kind::Broadcast(_), _) => ("broadcast", parts),
        (Kind::Reduce(_), _) => ("reduce", parts),
        (Kind::Gather(_), Dialect::Rccl) => ("gather", each),
        (Kind::Scatter(_), Dialect::Rccl) => ("scatter", each),
        (other, _) => {
            let why = match other {
                Kind::Gather(_) | Kind::Scatter(_) => "only RCCL's dialect has it",
                Kind::AllToAllV(_) => "the counts of `alltoallv` come with the call, so a file cannot fix them",
                Kind::AllReduceGathered => "export an all_gather",
                _ => "it moves no data",
            };
            return Err(ExportError::Kind { kind: other.name(), why });
        }
    })
}

/// Scratch for packets without slots: one that is sent and never written, and one for each channel that brings them.
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

fn steps_of_rank(program: &Program, rank: RankId, room: &mut Room) -> Result<Vec<Steps>, ExportError> {
    let workers = program.workers(rank);
    let awaited: HashSet<(u32, u32)> = workers
        .clone()
        .flat_map(|worker| &program.operations()[program.range(worker)])
        .filter_map(|operation| match *operation {
            Operation::Wait { worker, operation } => Some((worker, operation)),
            _ => None,
        })
        .collect();
    let mut all = Vec::new();
    // For each operation that is waited for, the last of its steps.
    let mut step_of = HashMap::new();
    let mut waits: Vec<Vec<(usize, u32, u32)>> = Vec::new();
    for (number, worker) in workers.enumerate() {
        let mut own = Steps::default();
        // Steps and what they depend on, as worker and operation.
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
            let steps = pieces(operation, room, &mut token);
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
    Ok(all)
}

const NOP: Step = Step {
    kind: "nop",
    src: Slot { buffer: Buffer::Input, offset: 0 },
    dst: Slot { buffer: Buffer::Input, offset: 0 },
    count: 0,
    after: None,
};

impl Steps {
    /// Notes the channels of an operation; a block has one of each.
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

/// The steps of an operation: pieces of at most so many slots as MSCCL sends at a time.
fn pieces(operation: &Operation, room: &mut Room, token: &mut Option<u32>) -> Vec<Step> {
    let any = Slot::input(0);
    let (kind, src, dst, count) = match *operation {
        Operation::Wait { .. } | Operation::Copy { count: 0, .. } | Operation::Reduce { count: 0, .. } => {
            return vec![NOP];
        }
        Operation::Send { count: 0, .. } => {
            let slot = match room.send {
                Some(slot) => slot,
                None => room.take(),
            };
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

fn write_blocks(out: &mut String, blocks: &[Block]) {
    let awaited: HashSet<(usize, usize)> =
        blocks.iter().flat_map(|block| block.steps.iter().filter_map(|step| step.after)).collect();
    for (id, block) in blocks.iter().enumerate() {
        let peer = |peer: Option<RankId>| peer.map_or("-1".to_owned(), |rank| rank.to_string());
        let (send, receive) = (peer(block.send), peer(block.receive));
        let _ = writeln!(out, "    <tb id=\"{id}\" send=\"{send}\" recv=\"{receive}\" chan=\"{}\">", block.chan);
        for (number, step) in block.steps.iter().enumerate() {
            let (block, deps) = step.after.map_or((-1, -1), |(block, step)| (block as i64, step as i64));
            let _ = writeln!(
                out,
                "      <step s=\"{number}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" \
                 cnt=\"{}\" depid=\"{block}\" deps=\"{deps}\" hasdep=\"{}\"/>",
                step.kind,
                letter(step.src.buffer),
                step.src.offset,
                letter(step.dst.buffer),
                step.dst.offset,
                step.count,
                u32::from(awaited.contains(&(id, number))),
            );
        }
        out.push_str("    </tb>\n");
    }
}

fn letter(buffer: Buffer) -> &'static str {
    match buffer {
        Buffer::Input => "i",
        Buffer::Output => "o",
        Buffer::Scratch => "s",
    }
}
