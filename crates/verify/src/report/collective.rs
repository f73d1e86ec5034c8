//! A collective in words.

use std::ops::Range;

use super::figures::count;
use collsynth_core::collective::{ChunkId, ChunkLabelError, Groups};
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;

/// How the units are cut: `whole messages`, `shards in 5 parts`; with a demand matrix, `messages of 5 chunks`.
pub fn cut(problem: &Problem) -> String {
    let kind = &problem.collective().kind;
    let unit = kind.unit().name();
    match (problem.parts(), kind.demand()) {
        (1, _) => format!("whole {unit}s"),
        (parts, Some(_)) => format!("{unit}s of {parts} chunks"),
        (parts, None) => format!("{unit}s in {parts} parts"),
    }
}

/// The collective with its root: `all_gather`, `broadcast from 5 (1,1,0)`, `gather to 0 (0,0)`.
pub fn name_collective(problem: &Problem) -> String {
    let kind = &problem.collective().kind;
    let preposition = if kind.is_to_root() { "to" } else { "from" };
    let name = match (kind.root(), kind.stated_root()) {
        (Some(root), _) => format!("{} {preposition} {}", kind.name(), problem.topology().rank_label(root)),
        (None, Some(place)) => format!("{} {preposition} member {place}", kind.name()),
        (None, None) => kind.name().to_owned(),
    };
    match kind.groups() {
        Some(groups) => format!("{name} in {}", name_groups(groups)),
        None => name,
    }
}

/// `8 groups of 4`, `3 groups of 2 to 5 without relays`.
fn name_groups(groups: &Groups) -> String {
    let sizes = groups.members().iter().map(Vec::len);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let relays = if groups.may_relay() { "" } else { " without relays" };
    format!("{} of {range}{relays}", count(groups.members().len(), "group"))
}

/// The chunks a label names, by number: one of them, or, where the part is left out, every part of a message.
///
/// # Errors
///
/// If the label does not have the form of this collective's chunks, or a number in it is out of range.
pub fn chunks_named(problem: &Problem, label: &str) -> Result<Range<u32>, ChunkLabelError> {
    let chunk = problem.collective().parse_chunk(narrow(problem.topology().rank_count()), label)?;
    let mut end = chunk.0 + 1;
    if !label.contains('/') {
        // The parts of a message are numbered on from the first.
        let first = problem.chunk_label(chunk);
        let Some(end_of_name) = first.find('/') else { return Ok(chunk.0..end) };
        let prefix = &first[..=end_of_name];
        while end < problem.chunk_count() && problem.chunk_label(ChunkId(end)).starts_with(prefix) {
            end += 1;
        }
    }
    Ok(chunk.0..end)
}
