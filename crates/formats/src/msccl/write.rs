//! From a rank program to MSCCL XML. Operations become steps (see `steps`); workers with too many are split (see
//! `split`).

use std::collections::HashSet;
use std::fmt::Write;

use super::split::{Block, split};
use super::steps::steps_of_rank;
use super::{Dialect, ExportError, MAX_BLOCKS, MAX_CHANNELS, MAX_NAME};
use crate::names;
use collsynth_core::program::{Buffer, Program};
use collsynth_core::topology::RankId;
use collsynth_verify::shown::shown;

/// Up to this size, a tebibyte, RCCL uses the algorithm.
const MAX_BYTES: u64 = 1 << 40;

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
        let (steps, slots) = steps_of_rank(program, rank)?;
        workers.push(steps);
        scratch.push(slots);
    }
    let split = split(program, workers)?;
    if split.channels > MAX_CHANNELS {
        return Err(ExportError::Channels { count: split.channels });
    }
    let name = program.origin.as_ref().and_then(|origin| origin.planner.as_deref()).unwrap_or("synth");
    let name: String = shown(name).chars().take(MAX_NAME).collect();
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
    let name = names::theirs(kind)[dialect as usize];
    if name.is_empty() {
        let why = match kind.demand() {
            Some(_) => "the counts of `alltoallv` come with the call, not the file",
            None if kind.root().is_some() => "only RCCL's dialect has it",
            None if kind.reduces_afterwards() => "export an all_gather",
            None => "it moves no data",
        };
        return Err(ExportError::Kind { kind: kind.name(), why });
    }
    let blocks = if kind.owners() == 0 { 1 } else { program.rank_count() as u32 };
    Ok((name, blocks.saturating_mul(program.problem.parts())))
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
