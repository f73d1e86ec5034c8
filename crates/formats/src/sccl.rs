//! Reads SCCL JSON: algorithms with synchronous steps (microsoft/msccl-tools, msccl/serialization.py).
//!
//! | object (`msccl_type`) | keys |
//! |---|---|
//! | `algorithm` | `instance`, `steps`, `collective`, `topology`, `input_map`, `output_map`; `name` becomes the origin |
//! | `instance` | `chunks` (C: an address in a step is `addr * C + i`); the rest describes the search |
//! | `step` | `rounds`, `sends`: `[address, source, destination]` |
//! | `collective` | `nodes`, `chunks`, `runtime_name` as in `allgather`, `reduce_scatter`; `triggers` must be empty |
//! | `chunk` | `pre`, `post` (one rank each, or all), `addr` |
//! | `topology` | `links[destination][source]`: chunks a link carries in a round; `switches` must be empty |
//!
//! The two maps repeat `collective`. A step of `r` rounds has width `r`. An all-reduce states one address, but one
//! composed of a reduce-scatter and an all-gather uses more: the parts of its vector. Chunks of one address combine
//! when they meet, and the format cannot express "overwrite": where the collective combines, every send is a `reduce`,
//! so double counting is reported.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use crate::names;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{ChunkId, Collective, Combining, Who};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Origin, Schedule, Solution};
use collsynth_core::topology::{GraphLink, RankId, Shape, Topology, TopologySpec};
use collsynth_verify::json::{FormatCode, ParseError, PathItem, locate};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys must be present but are not used")]
struct AlgorithmEntry {
    msccl_type: String,
    name: String,
    instance: InstanceEntry,
    input_map: BTreeMap<String, Vec<u32>>,
    output_map: BTreeMap<String, Vec<u32>>,
    steps: Vec<StepEntry>,
    collective: CollectiveEntry,
    topology: TopologyEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys must be present but are not used")]
struct InstanceEntry {
    msccl_type: String,
    steps: u32,
    extra_rounds: u32,
    chunks: u32,
    pipeline: Value,
    extra_memory: Value,
    allow_exchange: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys must be present but are not used")]
struct StepEntry {
    msccl_type: String,
    rounds: u32,
    sends: Vec<(u32, u32, u32)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys must be present but are not used")]
struct CollectiveEntry {
    msccl_type: String,
    name: String,
    nodes: u32,
    chunks: Vec<ChunkEntry>,
    triggers: BTreeMap<String, Value>,
    runtime_name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys must be present but are not used")]
struct ChunkEntry {
    msccl_type: String,
    pre: Vec<u32>,
    post: Vec<u32>,
    addr: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some keys must be present but are not used")]
struct TopologyEntry {
    msccl_type: String,
    name: String,
    switches: Vec<Value>,
    links: Vec<Vec<u32>>,
}

const SWITCHES: &str = "switches are not read: they limit what several links carry together, and topologies here have \
                        only ranks and links";

/// A path in the file, and what is wrong there.
type Wrong = (Vec<PathItem<'static>>, String);

/// Reads an algorithm.
///
/// # Errors
///
/// The first place where the text is malformed, unknown, or contradicts itself.
pub fn parse(text: &str) -> Result<Solution, ParseError> {
    #[derive(Deserialize)]
    struct Probe {
        msccl_type: Option<String>,
    }
    let Probe { msccl_type } = serde_json::from_str(text).map_err(ParseError::from)?;
    if msccl_type.as_deref() != Some("algorithm") {
        let message =
            format!("`msccl_type` is \"{}\", but only an \"algorithm\" is read", msccl_type.unwrap_or_default());
        let place = locate(text, &[PathItem::Key("msccl_type")]).unwrap_or((1, 1));
        return Err(ParseError::new(FormatCode::F004, place, &message));
    }
    let file: AlgorithmEntry = serde_json::from_str(text).map_err(ParseError::from)?;
    solution(&file)
        .map_err(|(path, message)| ParseError::new(FormatCode::F003, locate(text, &path).unwrap_or((1, 1)), &message))
}

fn solution(file: &AlgorithmEntry) -> Result<Solution, Wrong> {
    use PathItem::{Index, Key};
    let collective = &file.collective;
    if !collective.triggers.is_empty() {
        return Err((vec![Key("collective"), Key("triggers")], "triggers are not read".to_owned()));
    }
    let topology = topology(file)?;
    let per = file.instance.chunks;
    let name = collective.runtime_name.as_str();
    let Some(kind) = names::kind(name, RankId(0)).filter(|kind| kind.root().is_none()) else {
        return Err((vec![Key("collective"), Key("runtime_name")], format!("\"{name}\" is not read")));
    };
    let addresses = u64::from(addresses(collective));
    let groups = u64::from(collective.nodes).pow(kind.owners());
    // As many addresses for each (origin, destination), or rank.
    if groups == 0 || addresses % groups != 0 {
        let message = format!("{addresses} addresses among {} nodes", collective.nodes);
        return Err((vec![Key("collective"), Key("chunks")], message));
    }
    let each = (addresses / groups) as u32;
    let mut parts = each.checked_mul(per).unwrap_or(0);
    let whole = kind.owners() == 0;
    if whole {
        let used = file.steps.iter().flat_map(|step| &step.sends).map(|&(address, ..)| address.saturating_add(1));
        parts = parts.max(used.max().unwrap_or(0));
    }
    let problem = Problem::new(topology, Collective { kind, parts })
        .map_err(|error| (vec![Key("collective")], error.to_string()))?;
    let chunks = chunk_of_address(file, &problem, each)?;
    let combines = problem.rule(ChunkId(0)).combining != Combining::Never;
    let op = if combines { Op::Reduce } else { Op::Copy };
    let mut builder = Schedule::builder();
    for (number, step) in file.steps.iter().enumerate() {
        if step.rounds == 0 {
            return Err((vec![Key("steps"), Index(number), Key("rounds")], "a step has at least 1 round".to_owned()));
        }
        builder.step(step.rounds);
        let mut links: BTreeMap<(u32, u32), Vec<ChunkId>> = BTreeMap::new();
        for (index, &(address, from, to)) in step.sends.iter().enumerate() {
            let chunk = match chunks.get(&(address / per.max(1))) {
                Some(first) => Some(first + address % per.max(1)),
                // In an all-reduce, an address is a part of the vector, whatever `addr` states.
                None => Some(address).filter(|_| whole),
            };
            let Some(chunk) = chunk else {
                let path = vec![Key("steps"), Index(number), Key("sends"), Index(index)];
                return Err((path, format!("address {address} belongs to no chunk")));
            };
            links.entry((from, to)).or_default().push(ChunkId(chunk));
        }
        for ((from, to), chunks) in links {
            builder.transfer(RankId(from), RankId(to), None, op, chunks);
        }
    }
    let origin = Origin { tool: Some("SCCL".to_owned()), planner: Some(file.name.clone()), ..Origin::default() };
    Ok(Solution { problem, schedule: builder.finish(), bounds: Bounds::default(), origin: Some(origin) })
}

fn addresses(collective: &CollectiveEntry) -> u32 {
    collective.chunks.iter().map(|chunk| chunk.addr).max().map_or(0, |highest| highest.saturating_add(1))
}

fn topology(file: &AlgorithmEntry) -> Result<Topology, Wrong> {
    use PathItem::{Index, Key};
    let TopologyEntry { switches, links: rows, .. } = &file.topology;
    let ranks = file.collective.nodes;
    if !switches.is_empty() {
        return Err((vec![Key("topology"), Key("switches")], SWITCHES.to_owned()));
    }
    if rows.len() != ranks as usize {
        return Err((vec![Key("topology"), Key("links")], format!("{} rows for {ranks} nodes", rows.len())));
    }
    let mut links = Vec::new();
    for (to, row) in rows.iter().enumerate() {
        if row.len() != rows.len() {
            return Err((vec![Key("topology"), Key("links"), Index(to)], format!("{} entries", row.len())));
        }
        for (from, &capacity) in row.iter().enumerate().filter(|(_, capacity)| **capacity > 0) {
            links.push(GraphLink { from: RankId(from as u32), to: RankId(to as u32), capacity });
        }
    }
    Topology::new(TopologySpec::new(Shape::Graph { ranks, links }))
        .map_err(|error| (vec![Key("topology"), Key("links")], error.to_string()))
}

/// The first chunk of each address, as the ranks where its chunks begin and end imply.
fn chunk_of_address(file: &AlgorithmEntry, problem: &Problem, each: u32) -> Result<HashMap<u32, u32>, Wrong> {
    use PathItem::{Index, Key};
    let (ranks, per) = (file.collective.nodes, file.instance.chunks);
    let mut seen: HashMap<u32, u32> = HashMap::new();
    let mut chunks = HashMap::new();
    for (index, chunk) in file.collective.chunks.iter().enumerate() {
        let wrong = |what: &str| {
            let message = format!("{what}, unlike in {}", problem.collective().kind.name());
            (vec![Key("collective"), Key("chunks"), Index(index)], message)
        };
        let everywhere = chunk.post.len() == ranks as usize;
        let (&[pre], post) = (chunk.pre.as_slice(), chunk.post.as_slice()) else {
            return Err(wrong(&format!("a chunk begins at {} ranks", chunk.pre.len())));
        };
        if pre >= ranks || post.iter().any(|&post| post >= ranks) {
            return Err(wrong("a rank beyond the nodes"));
        }
        let kind = &problem.collective().kind;
        let group = match (kind.before(), kind.after(), post) {
            (Who::Owner, Who::Every, _) if everywhere => pre,
            (Who::Owner, Who::Owner, &[post]) => pre * ranks + post,
            (Who::Every, Who::Owner, &[post]) => post,
            (Who::Every, Who::Every, _) if everywhere => 0,
            _ => return Err(wrong(&format!("a chunk ends at {} ranks", post.len()))),
        };
        if let Entry::Vacant(place) = chunks.entry(chunk.addr) {
            let next = seen.entry(group).or_default();
            place.insert((group * each + *next) * per);
            *next += 1;
            if *next > each {
                return Err(wrong("more chunks between these ranks than between others"));
            }
        }
    }
    Ok(chunks)
}
