//! From entries to meaning: topology, problem, schedule, bounds.

use collsynth_core::exact::narrow;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::entry::{
    BoundsEntry, CollectiveEntry, OriginEntry, ScheduleFile, StepEntry, TopologyFile, TransferEntry, TreeEntry,
    VolumeBoundEntry, WindowEntry,
};
use crate::guard::limits::{Limits, MEMORY_WORD};
use crate::json::FORMAT;
use crate::json::code::FormatCode;
use crate::json::error::{Fault, ParseError};
use crate::json::locate::{PathItem, locate};
use crate::json::object::Object;
use crate::json::probe::states_format;
use crate::json::scalar::{ChunkList, NO_CHUNK, RankEntry};
use crate::json::schedule::machine::{machine, rank};
use crate::json::schedule::trees::{self, Tree};
use collsynth_core::certificate::{Bounds, Evidence, JointBound, StepsBound, VolumeBound, Window};
use collsynth_core::collective::{ChunkId, Collective, Demand, Groups, Kind};
use collsynth_core::problem::{Problem, ProblemError};
use collsynth_core::schedule::{
    AnySchedule, AnySolution, CompactError, CompactSchedule, Exceptions, Op, Origin, Repeated, Schedule, Solution, Step,
};
use collsynth_core::topology::{RankId, Topology, TopologySpec};

/// Expanded, a schedule in the compact form takes too much memory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expanded, this schedule takes {needed} MiB, more than the {most} MiB allowed: {MEMORY_WORD} allows more")]
pub struct TooLarge {
    needed: u64,
    most: u64,
}

impl TooLarge {
    /// Refuses to state every move of a schedule if that, and `each` bytes for every move, take more than `most` bytes.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if so.
    pub fn check(schedule: &AnySchedule, most: u64, each: u64) -> Result<(), Self> {
        match schedule.expanded_bytes(each) {
            needed if needed > most => Err(Self { needed: needed.div_ceil(1 << 20), most: most >> 20 }),
            _ => Ok(()),
        }
    }
}

/// True if a text claims to be a schedule of any version.
pub fn is_schedule(text: &str) -> bool {
    states_format(text, "collective-schedule/")
}

/// Reads a schedule file; what is in the compact form is expanded.
///
/// Ranks out of range in transfers, missing links, and chunks sent by ranks that do not hold them are left to the
/// verifier. Transfers and chunks keep their order.
///
/// # Errors
///
/// The first error in the text, the topology, the collective or a chunk's number, with its place; or the machine, or
/// the expanded schedule, is larger than a text of this size may make it.
pub fn parse_solution(text: &str) -> Result<Solution, ParseError> {
    parse_solution_within(text, &Limits::default())
}

/// As [`parse_solution`], with other limits.
///
/// # Errors
///
/// As [`parse_solution`].
pub fn parse_solution_within(text: &str, limits: &Limits) -> Result<Solution, ParseError> {
    let solution = parse_stated_within(text, limits)?;
    TooLarge::check(&solution.schedule, limits.expanded(), 0)
        .map_err(|error| Fault::new(FormatCode::F010, error).at("exceptions").into_error(text))?;
    Ok(solution.map(AnySchedule::into_expanded))
}

/// Reads a schedule file in the form in which it is.
///
/// # Errors
///
/// As [`parse_solution`].
pub fn parse_stated_within(text: &str, limits: &Limits) -> Result<AnySolution, ParseError> {
    let file: Object<ScheduleFile> = serde_json::from_str(text)
        .map_err(|error| format_fault(text).unwrap_or_else(|| ParseError::of_text(error, text)))?;
    of_file(file.0, limits.room(text)).map_err(|fault| fault.into_error(text))
}

/// Reads a topology file. The result is in normal form: defaults filled in, failures sorted.
///
/// # Errors
///
/// The first error in the text or the machine, with its place; or the machine is larger than a text of this size may
/// make it.
pub fn parse_topology(text: &str) -> Result<TopologySpec, ParseError> {
    parse_topology_within(text, &Limits::default())
}

/// As [`parse_topology`], with other limits.
///
/// # Errors
///
/// As [`parse_topology`].
pub fn parse_topology_within(text: &str, limits: &Limits) -> Result<TopologySpec, ParseError> {
    let file: Object<TopologyFile> = serde_json::from_str(text).map_err(|error| ParseError::of_text(error, text))?;
    let topology = machine(file.0, limits.room(text)).map_err(|fault| fault.into_error(text))?;
    Ok(topology.spec().clone())
}

/// Reads the machine that a schedule, a job or a rank program states, and nothing else of it; `None` if it states none.
///
/// # Errors
///
/// As [`parse_topology`].
pub fn parse_machine_within(text: &str, limits: &Limits) -> Result<Option<TopologySpec>, ParseError> {
    #[derive(Deserialize)]
    struct Machine {
        topology: Option<Object<TopologyFile>>,
    }
    let Object(file): Object<Machine> = serde_json::from_str(text).map_err(|error| ParseError::of_text(error, text))?;
    let topology = file.topology.map(|entry| machine(entry.0, limits.room(text)));
    let topology = topology.transpose().map_err(|fault| fault.at("topology").into_error(text))?;
    Ok(topology.map(|topology| topology.spec().clone()))
}

/// The error of a file of another version or kind. It comes before any other: such a file may well have unknown keys.
fn format_fault(text: &str) -> Option<ParseError> {
    #[derive(Deserialize)]
    struct Probe {
        #[serde(default)]
        format: Value,
    }
    let Object(Probe { format }) = serde_json::from_str(text).ok()?;
    let message = match format {
        Value::String(format) if format == FORMAT => return None,
        Value::String(format) if format.starts_with("collective-job/") => {
            "this is a job, schedules of several collectives: `synth verify` judges it, and `synth convert --schedule \
             N` takes one of the schedules out"
                .to_owned()
        }
        Value::Null => format!("`format` is missing: a schedule file begins with \"format\": \"{FORMAT}\""),
        other => format!("`format` is {other}, but only \"{FORMAT}\" is understood here"),
    };
    let place = locate(text, &[PathItem::Key("format")]).or_else(|| locate(text, &[]))?;
    Some(ParseError::new(FormatCode::F004, place, &message))
}

/// What a schedule says besides its machine.
pub(in crate::json) struct Body {
    pub collective: Object<CollectiveEntry>,
    pub groups: Option<Vec<Vec<RankEntry>>>,
    pub relays: Option<bool>,
    pub exceptions: Option<ChunkList>,
    pub period: Option<Vec<u32>>,
    pub cell: Option<ChunkList>,
    pub trees: Option<Vec<Object<TreeEntry>>>,
    pub mirrored: bool,
    pub steps: Vec<Object<StepEntry>>,
    pub bounds: Object<BoundsEntry>,
    pub origin: Option<Object<OriginEntry>>,
}

fn of_file(file: ScheduleFile, room: u64) -> Result<AnySolution, Fault> {
    let topology = machine(file.topology.0, room).map_err(|fault| fault.at("topology"))?;
    let ScheduleFile { collective, groups, relays, steps, bounds, origin, .. } = file;
    let ScheduleFile { exceptions, period, cell, trees, mirrored, .. } = file;
    let body = Body { collective, groups, relays, exceptions, period, cell, trees, mirrored, steps, bounds, origin };
    stated(topology, body, room)
}

/// The solution in a file, the trees of which may take `room` bytes.
pub(in crate::json) fn stated(topology: Topology, file: Body, room: u64) -> Result<AnySolution, Fault> {
    let groups = groups(&topology, file.groups, file.relays)?;
    let problem = problem(topology, file.collective.0, groups)?;
    let bounds = bounds(problem.topology(), file.bounds.0).map_err(|fault| fault.at("bounds"))?;
    let origin = file.origin.map(origin);
    let belongs = |key, of: &str| Fault::new(FormatCode::F002, format!("`{key}` belongs to `{of}`")).at(key);
    if file.exceptions.is_none() && file.period.is_some() {
        return Err(belongs("period", "exceptions"));
    }
    if file.period.is_none() && file.cell.is_some() {
        return Err(belongs("cell", "period"));
    }
    let [mut patterns, mut cells, mut lacking, mut steps] = [(); 4].map(|()| Vec::new());
    for Object(StepEntry { width, op, pattern, cell, without, transfers }) in file.steps {
        if file.period.is_none() && cell.is_some() {
            return Err(belongs("cell", "period").within(PathItem::Index(steps.len())).at("steps"));
        }
        if file.exceptions.is_none() && without.is_some() {
            return Err(belongs("without", "exceptions").within(PathItem::Index(steps.len())).at("steps"));
        }
        if file.exceptions.is_none() && pattern.is_some() {
            let message = "a pattern belongs to the compact form: state `exceptions` too, `[]` if there are none \
                           (the schedules of a job have none: `synth convert --to explicit` writes their moves)";
            return Err(Fault::new(FormatCode::F002, message).within(PathItem::Index(steps.len())).at("steps"));
        }
        let of_step = |transfers| StatedStep { width: width.get(), op: op.0, transfers };
        patterns.push(of_step(pattern.unwrap_or_default()));
        cells.push(of_step(cell.unwrap_or_default()));
        lacking.push(of_step(without.unwrap_or_default()));
        steps.push(of_step(transfers));
    }
    let read = |steps, key| schedule(&problem, steps, key).map_err(|fault| fault.at("steps"));
    let own = match file.trees {
        None => read(steps, "transfers")?,
        Some(_) if file.exceptions.is_some() => {
            let message = "`trees` state every move, and `exceptions` those that differ from a pattern: leave one out";
            return Err(Fault::new(FormatCode::F002, message).at("trees"));
        }
        Some(trees) => of_trees(&problem, trees, &steps, room)?,
    };
    let Some(exceptions) = file.exceptions else {
        let schedule = match file.mirrored {
            true => check_reduces(&own).map(|()| own.mirrored())?,
            false => own,
        };
        return Ok(Solution { problem, schedule: schedule.into(), bounds, origin });
    };
    let listed = |list, key| chunks(&problem, list).map_err(|fault| fault.at(key));
    let exceptions =
        Exceptions { chunks: listed(exceptions, "exceptions")?, without: read(lacking, "without")?, moves: own };
    let repeated = match file.period {
        Some(period) => {
            let chunks = file.cell.map_or_else(|| Ok(Vec::new()), |list| listed(list, "cell"))?;
            Some(Repeated { period, chunks, moves: read(cells, "cell")? })
        }
        None => None,
    };
    let pattern = read(patterns, "pattern")?;
    let compact = if file.mirrored {
        for moves in [&pattern, &exceptions.without, &exceptions.moves] {
            check_reduces(moves)?;
        }
        repeated.iter().try_for_each(|repeated| check_reduces(&repeated.moves))?;
        CompactSchedule::mirrored(&problem, &pattern, repeated, exceptions)
    } else {
        CompactSchedule::new(&problem, pattern, repeated, exceptions)
    };
    let schedule = compact.map_err(|error| {
        let key = match error {
            CompactError::Period(_) => "period",
            CompactError::NotMade { step, .. } => {
                let fault = Fault::new(FormatCode::F010, error).at("without");
                return fault.within(PathItem::Index(step as usize - 1)).at("steps");
            }
            CompactError::CellOrder(_) | CompactError::NotOfFirstCell(_) | CompactError::NotListed(_) => "cell",
            _ => "exceptions",
        };
        Fault::new(FormatCode::F010, error).at(key)
    });
    let schedule = schedule?.into();
    Ok(Solution { problem, schedule, bounds, origin })
}

pub(in crate::json) fn origin(Object(OriginEntry { tool, planner, command, seed }): Object<OriginEntry>) -> Origin {
    Origin { tool, planner, command, seed }
}

/// The groups that a file states.
pub(in crate::json) fn groups(
    topology: &Topology,
    lists: Option<Vec<Vec<RankEntry>>>,
    relays: Option<bool>,
) -> Result<Option<Groups>, Fault> {
    let Some(lists) = lists else {
        let message = "`relays` belongs to `groups`";
        return relays.map_or(Ok(None), |_| Err(Fault::new(FormatCode::F002, message).at("relays")));
    };
    let at = |fault: Fault| fault.at("groups");
    let mut members = Vec::with_capacity(lists.len());
    for (group, list) in lists.iter().enumerate() {
        let one = |(index, entry)| {
            let within = |fault: Fault| fault.within(PathItem::Index(index)).within(PathItem::Index(group));
            rank(topology, entry, FormatCode::F009).map_err(within)
        };
        members.push(list.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>().map_err(at)?);
    }
    let groups = Groups::new(members).map_err(|error| at(Fault::new(FormatCode::F009, error)))?;
    Ok(Some(groups.with_relays(relays.unwrap_or(true))))
}

/// The place of a member in its group.
fn place(entry: &RankEntry) -> Result<RankId, Fault> {
    match entry {
        RankEntry::Number(place) => Some(RankId(*place)),
        RankEntry::Text(text) => text.parse().ok().map(RankId),
    }
    .ok_or_else(|| {
        Fault::new(FormatCode::F009, "with `groups`, a root is the place of a member in its group, a number")
    })
}

pub(in crate::json) fn problem(
    topology: Topology,
    entry: CollectiveEntry,
    groups: Option<Groups>,
) -> Result<Problem, Fault> {
    collective(topology, entry, groups).map_err(|fault| fault.at("collective"))
}

fn collective(topology: Topology, entry: CollectiveEntry, groups: Option<Groups>) -> Result<Problem, Fault> {
    let root = |entry: &RankEntry| {
        let found = if groups.is_some() { place(entry) } else { rank(&topology, entry, FormatCode::F009) };
        found.map_err(|fault| fault.at("root"))
    };
    let (kind, parts) = match &entry {
        CollectiveEntry::AllToAll { parts } => (Kind::AllToAll, parts),
        CollectiveEntry::AllToAllV { parts, demand: rows } => {
            (Kind::AllToAllV(demand(&topology, rows).map_err(|fault| fault.at("demand"))?), parts)
        }
        CollectiveEntry::AllGather { parts } => (Kind::AllGather, parts),
        CollectiveEntry::ReduceScatter { parts } => (Kind::ReduceScatter, parts),
        CollectiveEntry::AllReduce { parts } => (Kind::AllReduce, parts),
        CollectiveEntry::Broadcast { parts, root: at } => (Kind::Broadcast(root(at)?), parts),
        CollectiveEntry::Reduce { parts, root: at } => (Kind::Reduce(root(at)?), parts),
        CollectiveEntry::Scatter { parts, root: at } => (Kind::Scatter(root(at)?), parts),
        CollectiveEntry::Gather { parts, root: at } => (Kind::Gather(root(at)?), parts),
        CollectiveEntry::Barrier { parts } => (Kind::Barrier, parts),
        CollectiveEntry::AllReduceGathered { parts } => (Kind::AllReduceGathered, parts),
    };
    let kind = match groups {
        Some(groups) => kind.in_groups(groups),
        None => kind,
    };
    let collective = Collective { kind, parts: parts.get() };
    Problem::new(topology, collective).map_err(|error| {
        let key = match error {
            ProblemError::RootOutOfRange { .. }
            | ProblemError::RootFailed { .. }
            | ProblemError::NoSuchMember { .. } => "root",
            ProblemError::DemandSize { .. } => "demand",
            ProblemError::DemandInGroups | ProblemError::MemberOutOfRange { .. } => "groups",
            _ => "parts",
        };
        Fault::new(FormatCode::F009, error).at(key)
    })
}

fn demand(topology: &Topology, rows: &[Vec<u32>]) -> Result<Demand, Fault> {
    let ranks = topology.rank_count();
    if rows.len() != ranks {
        let message =
            format!("`demand` has {} rows, but the topology has {ranks} ranks: give one per rank", rows.len());
        return Err(Fault::new(FormatCode::F009, message));
    }
    if let Some(row) = rows.iter().position(|row| row.len() != ranks) {
        let message = format!("row {row} of `demand` has {} entries instead of {ranks}", rows[row].len());
        return Err(Fault::new(FormatCode::F009, message).within(PathItem::Index(row)));
    }
    Demand::new(narrow(ranks), &rows.concat()).ok_or_else(|| Fault::new(FormatCode::F009, ProblemError::TooManyChunks))
}

/// A step with one of its lists of transfers.
struct StatedStep {
    width: u32,
    /// Of transfers that state none.
    op: Op,
    transfers: Vec<Object<TransferEntry>>,
}

fn schedule(problem: &Problem, steps: Vec<StatedStep>, list: &'static str) -> Result<Schedule, Fault> {
    let mut builder = Schedule::builder();
    for (index, StatedStep { width, op, transfers }) in steps.into_iter().enumerate() {
        builder.step(width);
        let within = |fault: Fault, transfer, key| {
            fault.at(key).within(PathItem::Index(transfer)).at(list).within(PathItem::Index(index))
        };
        for (number, Object(transfer)) in transfers.into_iter().enumerate() {
            let end = |entry: &RankEntry, key| {
                rank(problem.topology(), entry, FormatCode::F003).map_err(|fault| within(fault, number, key))
            };
            let (from, to) = (end(&transfer.from, "from")?, end(&transfer.to, "to")?);
            let ids = chunk_ids(problem, transfer.chunks).map_err(|fault| within(fault, number, "chunks"))?;
            let via = transfer.via.map(|entry| entry.0);
            let op = transfer.op.map_or(op, |entry| entry.0);
            builder.transfer(from, to, via, op, ids.into_iter().map(ChunkId));
        }
    }
    Ok(builder.finish())
}

/// The schedule of trees, whose steps state their widths only.
fn of_trees(
    problem: &Problem,
    entries: Vec<Object<TreeEntry>>,
    steps: &[StatedStep],
    room: u64,
) -> Result<Schedule, Fault> {
    if let Some(step) = steps.iter().position(|step| !step.transfers.is_empty()) {
        let fault = Fault::new(FormatCode::F010, "with `trees`, which state every move, `transfers` is empty");
        return Err(fault.at("transfers").within(PathItem::Index(step)).at("steps"));
    }
    let tree = |(index, Object(TreeEntry { chunks: list, op, parents, steps })): (usize, Object<TreeEntry>)| {
        let chunks = chunks(problem, list).map_err(|fault| fault.at("chunks").within(PathItem::Index(index)))?;
        Ok(Tree { chunks, op: op.0, parents, steps })
    };
    let trees = entries.into_iter().enumerate().map(tree).collect::<Result<Vec<_>, _>>();
    let widths: Vec<u32> = steps.iter().map(|step| step.width).collect();
    trees.and_then(|trees| trees::schedule(problem, &widths, &trees, room)).map_err(|fault| fault.at("trees"))
}

/// Checks that what is to be mirrored only reduces: a copy has no way back.
fn check_reduces(schedule: &Schedule) -> Result<(), Fault> {
    let copies = |step: &Step<'_>| step.transfers.iter().any(|transfer| transfer.op == Op::Copy);
    match schedule.steps().find(copies) {
        Some(step) => {
            let message = "a transfer of this step copies, but what is `mirrored` only reduces";
            let fault = Fault::new(FormatCode::F010, message);
            Err(fault.within(PathItem::Index(step.number as usize - 1)).at("steps"))
        }
        None => Ok(()),
    }
}

fn chunks(problem: &Problem, list: ChunkList) -> Result<Vec<ChunkId>, Fault> {
    Ok(chunk_ids(problem, list)?.into_iter().map(ChunkId).collect())
}

fn chunk_ids(problem: &Problem, list: ChunkList) -> Result<Vec<u32>, Fault> {
    let ChunkList { mut ids, labels } = list;
    let ranks = narrow(problem.topology().rank_count());
    for (index, text) in labels {
        let chunk = problem.collective().parse_chunk(ranks, &text);
        ids[index] = chunk.map_err(|error| Fault::new(FormatCode::F005, error).within(PathItem::Index(index)))?.0;
    }
    let count = problem.chunk_count();
    let Some(index) = ids.iter().position(|&id| id >= count) else { return Ok(ids) };
    let number = match ids[index] {
        NO_CHUNK => "this chunk".to_owned(),
        id => format!("chunk {id}"),
    };
    let kind = problem.collective().kind.name();
    let message = match count {
        0 => format!("{number} is out of range: this {kind} has no chunks"),
        _ => format!("{number} is out of range: the chunks of this {kind} are 0 to {}", count - 1),
    };
    Err(Fault::new(FormatCode::F005, message).within(PathItem::Index(index)))
}

fn bounds(topology: &Topology, entry: BoundsEntry) -> Result<Bounds, Fault> {
    let one = |entry: &RankEntry| rank(topology, entry, FormatCode::F003);
    let several = |entries: &[RankEntry]| {
        let ranks = entries.iter().enumerate();
        ranks.map(|(index, entry)| one(entry).map_err(|fault| fault.within(PathItem::Index(index)))).collect()
    };
    let steps = entry.steps.map(|Object(entry)| {
        let end = |entry, key| one(entry).map_err(|fault| fault.at(key).at("steps"));
        Ok(StepsBound { at_least: entry.at_least, from: end(&entry.from, "from")?, to: end(&entry.to, "to")? })
    });
    let volume =
        entry.volume.map(|Object(entry)| volume_bound(&entry, one, several).map_err(|fault| fault.at("volume")));
    let joint = entry.joint.iter().enumerate().map(|(index, Object(entry))| {
        let within = |fault: Fault| fault.within(PathItem::Index(index)).at("joint");
        let rank = entry.rank.as_ref().map(one).transpose().map_err(|fault| within(fault.at("rank")))?;
        let weights = windows(&entry.weights, one).map_err(within)?;
        Ok(JointBound { steps: entry.steps, at_least: entry.at_least.0, rank, weights })
    });
    Ok(Bounds { steps: steps.transpose()?, volume: volume.transpose()?, joint: joint.collect::<Result<_, _>>()? })
}

fn windows(entries: &[WindowEntry], one: impl Fn(&RankEntry) -> Result<RankId, Fault>) -> Result<Vec<Window>, Fault> {
    let window = |(index, entry): (usize, &WindowEntry)| {
        let end = |entry, place| {
            let inside =
                |fault: Fault| fault.within(PathItem::Index(place)).within(PathItem::Index(index)).at("weights");
            one(entry).map_err(inside)
        };
        let &(ref from, ref to, first, last, weight) = entry;
        Ok(Window { from: end(from, 0)?, to: end(to, 1)?, first, last, weight })
    };
    entries.iter().enumerate().map(window).collect()
}

fn volume_bound(
    entry: &VolumeBoundEntry,
    one: impl Fn(&RankEntry) -> Result<RankId, Fault>,
    several: impl Fn(&[RankEntry]) -> Result<Vec<RankId>, Fault>,
) -> Result<VolumeBound, Fault> {
    let indexed = |fault: Fault, index, key| fault.within(PathItem::Index(index)).at(key);
    let (at_least, evidence) = match entry {
        VolumeBoundEntry::Metric { at_least, period, weights } => {
            let weigh = |(index, (from, to, weight)): (usize, &(RankEntry, RankEntry, u32))| {
                let end = |entry, place| {
                    one(entry).map_err(|fault| indexed(fault.within(PathItem::Index(place)), index, "weights"))
                };
                Ok((end(from, 0)?, end(to, 1)?, *weight))
            };
            let weights = weights.iter().enumerate().map(weigh).collect::<Result<_, _>>()?;
            (at_least, Evidence::Metric { period: period.clone(), weights })
        }
        VolumeBoundEntry::Cut { at_least, ranks } => {
            (at_least, Evidence::Cut { ranks: several(ranks).map_err(|fault| fault.at("ranks"))? })
        }
        VolumeBoundEntry::MetricOverTime { at_least, width, rank, weights } => {
            let weights = windows(weights, &one)?;
            let rank = rank.as_ref().map(|rank| one(rank).map_err(|fault| fault.at("rank"))).transpose()?;
            (at_least, Evidence::MetricOverTime { width: *width, rank, weights })
        }
        VolumeBoundEntry::Partition { at_least, blocks } => {
            let block = |(index, ranks): (usize, &Vec<RankEntry>)| {
                several(ranks).map_err(|fault| indexed(fault, index, "blocks"))
            };
            (at_least, Evidence::Partition { blocks: blocks.iter().enumerate().map(block).collect::<Result<_, _>>()? })
        }
    };
    Ok(VolumeBound { at_least: at_least.0, evidence })
}
