//! From entries to a program.

use std::num::NonZeroU32;

use super::PROGRAM_FORMAT;
use super::entry::{BufferEntry, ChannelEntry, OpName, OperationEntry, ProgramFile};
use crate::guard::limits::Limits;
use crate::json::FormatCode;
use crate::json::error::{Fault, ParseError};
use crate::json::locate::PathItem;
use crate::json::object::Object;
use crate::json::probe::states_format;
use crate::json::schedule::machine::machine;
use crate::json::schedule::read::{groups, origin, problem};
use collsynth_core::program::{Channel, Layout, Operation, Program, ProgramBuilder, Slot};
use collsynth_core::topology::{RankId, Shape, Topology, TopologySpec};

/// True if a text claims to be a rank program of any version.
pub fn is_program(text: &str) -> bool {
    states_format(text, "rank-program/")
}

/// Reads a rank program file.
///
/// Channels, slots and workers that do not exist are left to the audit.
///
/// # Errors
///
/// The first error in the text, the machine, the collective or the keys of an operation, with its place; or the machine
/// is larger than a text of this size may make it.
pub fn parse_program(text: &str) -> Result<Program, ParseError> {
    parse_program_within(text, &Limits::default())
}

/// As [`parse_program`], with other limits.
///
/// # Errors
///
/// As [`parse_program`].
pub fn parse_program_within(text: &str, limits: &Limits) -> Result<Program, ParseError> {
    let file: Object<ProgramFile> = serde_json::from_str(text).map_err(|error| ParseError::of_text(error, text))?;
    program(file.0, limits.room(text)).map_err(|fault| fault.into_error(text))
}

fn program(file: ProgramFile, room: u64) -> Result<Program, Fault> {
    if file.format != PROGRAM_FORMAT {
        let message = format!("`format` is \"{}\", but only \"{PROGRAM_FORMAT}\" is understood here", file.format);
        return Err(Fault::new(FormatCode::F004, message).at("format"));
    }
    if let Some(rank) = file.rank {
        let message = format!(
            "this is the program of rank {rank} alone, as `synth lower --rank` writes it: only all ranks together can be \
             judged, shown, run or exported"
        );
        return Err(Fault::new(FormatCode::F003, message).at("rank"));
    }
    let has_links = file.topology.is_some();
    let topology = match (file.topology, file.ranks) {
        (Some(_), Some(_)) => {
            return Err(Fault::new(FormatCode::F002, "`ranks` is for programs without `topology`").at("ranks"));
        }
        (None, None) => return Err(Fault::new(FormatCode::F002, "missing field: a program has `topology` or `ranks`")),
        (Some(entry), None) => machine(entry.0, room).map_err(|fault| fault.at("topology"))?,
        (None, Some(ranks)) => {
            let shape = Shape::Graph { ranks: ranks.get(), links: Vec::new() };
            Topology::new(TopologySpec::new(shape)).map_err(|error| Fault::new(FormatCode::F008, error).at("ranks"))?
        }
    };
    let groups = groups(&topology, file.groups, None)?;
    let problem = problem(topology, file.collective.0, groups)?;
    if file.in_place && !Layout::has_in_place(&problem.collective().kind) {
        let message = format!("{} has no form in place", problem.collective().kind.name());
        return Err(Fault::new(FormatCode::F009, message).at("in_place"));
    }
    let ranks = problem.topology().rank_count();
    if file.programs.len() != ranks {
        let message = format!("there are {} programs for {ranks} ranks: give one for each", file.programs.len());
        return Err(Fault::new(FormatCode::F003, message).at("programs"));
    }
    let mut builder = ProgramBuilder::new(problem, has_links, file.in_place);
    let mut transfers = Vec::new();
    for (number, Object(entry)) in file.channels.into_iter().enumerate() {
        let ChannelEntry { from, to, via, slots, transfers: counts, number: in_whole } = entry;
        let via = via.map(|entry| entry.0);
        builder.channel(Channel { from: RankId(from), to: RankId(to), via, slots: slots.get() });
        if in_whole.is_some() {
            let fault = Fault::new(FormatCode::F002, "`number` belongs to the program of one `rank`").at("number");
            return Err(fault.within(PathItem::Index(number)).at("channels"));
        }
        if counts.as_ref().is_some_and(Vec::is_empty) {
            let message = "`transfers` is empty: count the packets of each transfer, or leave it out".to_owned();
            let fault = Fault::new(FormatCode::F003, message).at("transfers");
            return Err(fault.within(PathItem::Index(number)).at("channels"));
        }
        transfers.push(counts.unwrap_or_default().into_iter().map(NonZeroU32::get).collect());
    }
    for (number, Object(rank)) in file.programs.into_iter().enumerate() {
        builder.rank(rank.scratch);
        for (worker, operations) in rank.workers.into_iter().enumerate() {
            builder.worker();
            for (index, Object(entry)) in operations.iter().enumerate() {
                let within = |fault: Fault| {
                    let worker = fault.within(PathItem::Index(index)).within(PathItem::Index(worker));
                    worker.at("workers").within(PathItem::Index(number)).at("programs")
                };
                builder.operation(operation(entry).map_err(within)?);
            }
        }
    }
    let mut program = builder.finish(file.barriers.into());
    program.contention_free = file.contention_free;
    program.transfers = transfers;
    program.origin = file.origin.map(origin);
    Ok(program)
}

fn operation(entry: &OperationEntry) -> Result<Operation, Fault> {
    let (must, may) = entry.op.keys();
    let stated = [
        ("channel", entry.channel.is_some()),
        ("src", entry.src.is_some()),
        ("dst", entry.dst.is_some()),
        ("count", entry.count.is_some()),
        ("forward", entry.forward.is_some()),
        ("worker", entry.worker.is_some()),
        ("operation", entry.operation.is_some()),
    ];
    let name = entry.op.name();
    let missing = |key| Fault::new(FormatCode::F002, format!("missing field `{key}` of `{name}`"));
    for (key, there) in stated {
        if there && !must.contains(&key) && !may.contains(&key) {
            return Err(Fault::new(FormatCode::F002, format!("`{name}` has no key `{key}`")).at(key));
        }
        if !there && must.contains(&key) {
            return Err(missing(key));
        }
    }
    let slot = |entry: Option<(BufferEntry, u32)>| entry.map(|(buffer, offset)| Slot { buffer: buffer.into(), offset });
    let count = entry.count.unwrap_or(1);
    let channel = entry.channel.unwrap_or_default();
    let (src, dst) = (slot(entry.src), slot(entry.dst));
    Ok(match entry.op {
        OpName::Send => {
            let src = if count == 0 { src.or(Some(Slot::input(0))) } else { src };
            Operation::Send { channel, src: src.ok_or_else(|| missing("src"))?, count }
        }
        OpName::Recv | OpName::RecvReduce => {
            if dst.is_none() && entry.forward.is_none() && count > 0 {
                return Err(missing("dst"));
            }
            Operation::Receive { channel, add: src, dst, forward: entry.forward, count }
        }
        OpName::Copy | OpName::Reduce => {
            let (src, dst) = (src.ok_or_else(|| missing("src"))?, dst.ok_or_else(|| missing("dst"))?);
            let is_copy = entry.op == OpName::Copy;
            if is_copy { Operation::Copy { src, dst, count } } else { Operation::Reduce { src, dst, count } }
        }
        OpName::Wait => {
            Operation::Wait { worker: entry.worker.unwrap_or_default(), operation: entry.operation.unwrap_or_default() }
        }
    })
}
