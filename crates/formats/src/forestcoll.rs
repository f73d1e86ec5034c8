//! Reads ForestColl trees: broadcast trees for an all-gather (liangyu-zhao/ForestColl).
//!
//! | element | attributes |
//! |---|---|
//! | `Algo` | `nchunkspernode`: chunks of a shard |
//! | `tree` | `root`, `index`, `nchunks`: how many of the root's chunks it carries, `height` |
//! | `send` | `src`, `dst`, `path`: the ranks between, ends included; only `src,dst` is read, no switches |
//!
//! Trees have no steps. Transfers are assigned to steps here, by depth and then in file order: each goes in the first
//! step in which its chunks are present and its link is free. A step is as wide as its tree with the most chunks.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::xml::{self, Element, Fault, Level};
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{ChunkId, Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Origin, Schedule, Solution};
use collsynth_core::topology::{RankId, Topology};
use collsynth_verify::json::{FormatCode, ParseError};
use collsynth_verify::limits::{Limits, MEMORY_WORD};

/// What a move takes while the schedule is made and judged, roughly.
const MOVE_BYTES: u64 = 40;

struct Tree {
    root: u32,
    first_part: u32,
    chunks: u32,
    /// Source, destination and depth, by depth.
    sends: Vec<(u32, u32, usize)>,
}

/// Reads trees for a machine.
///
/// # Errors
///
/// The first place where the text is malformed, unknown, or not a tree; or the trees move more chunks than a text of
/// this size may.
pub fn parse(text: &str, topology: Topology) -> Result<Solution, ParseError> {
    parse_within(text, topology, &Limits::default())
}

/// As [`parse`], with other limits.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_within(text: &str, topology: Topology, limits: &Limits) -> Result<Solution, ParseError> {
    let levels = [
        Level { name: "Algo", attributes: &["nchunkspernode"] },
        Level { name: "tree", attributes: &["root", "index", "nchunks", "height"] },
        Level { name: "send", attributes: &["src", "dst", "path"] },
    ];
    let room = limits.room(text);
    xml::parse(text, &levels).and_then(|algo| solution(&algo, topology, room)).map_err(|fault| fault.into_error(text))
}

fn solution(algo: &Element, topology: Topology, room: u64) -> Result<Solution, Fault> {
    let parts: u32 = algo.value("nchunkspernode")?;
    let ranks = topology.rank_count() as u32;
    let problem = Problem::new(topology, Collective { kind: Kind::AllGather, parts })
        .map_err(|error| algo.fault(FormatCode::F009, error))?;
    let mut next_part: HashMap<u32, u32> = HashMap::new();
    let mut trees = Vec::new();
    for element in &algo.children {
        let (root, chunks): (u32, u32) = (element.value("root")?, element.value("nchunks")?);
        let first_part = *next_part.get(&root).unwrap_or(&0);
        let end = first_part.checked_add(chunks).filter(|&end| chunks > 0 && end <= parts && root < ranks);
        let Some(end) = end else {
            return Err(element.wrong(format!(
                "{chunks} chunks of root {root}: none, more than its shard has left, or no such rank"
            )));
        };
        next_part.insert(root, end);
        trees.push(Tree { root, first_part, chunks, sends: sends(element, root)? });
    }
    let moves: u64 = trees.iter().map(|tree| u64::from(tree.chunks) * tree.sends.len() as u64).sum();
    if moves * MOVE_BYTES > room {
        let message =
            format!("the trees move {moves} chunks, more than a file of this size may: {MEMORY_WORD} allows more");
        return Err(algo.fault(FormatCode::F009, message));
    }
    let schedule = schedule(&trees, parts);
    let origin = Some(Origin { tool: Some("ForestColl".to_owned()), ..Origin::default() });
    Ok(Solution { problem, schedule, bounds: Bounds::default(), origin })
}

fn sends(tree: &Element, root: u32) -> Result<Vec<(u32, u32, usize)>, Fault> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut reached = HashSet::from([root]);
    for send in &tree.children {
        let (src, dst): (u32, u32) = (send.value("src")?, send.value("dst")?);
        let path: String = send.value("path")?;
        if path != format!("{src},{dst}") {
            let is_between = path.starts_with(&format!("{src},")) && path.ends_with(&format!(",{dst}"));
            let message = match is_between {
                true => format!("the path {path} crosses switches: topologies here have only ranks and links"),
                false => format!("the path {path} does not lead from {src} to {dst}"),
            };
            return Err(send.wrong(message));
        }
        if !reached.insert(dst) {
            return Err(send.wrong(format!("rank {dst} is reached twice: not a tree")));
        }
        children.entry(src).or_default().push(dst);
    }
    let mut sends = Vec::new();
    let mut level = vec![root];
    for depth in 0.. {
        let mut next = Vec::new();
        for src in level {
            for dst in children.remove(&src).unwrap_or_default() {
                sends.push((src, dst, depth));
                next.push(dst);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    let unreached = |src| Err(tree.wrong(format!("rank {src} sends, but is not reached from the root")));
    children.keys().next().map_or(Ok(sends), unreached)
}

fn schedule(trees: &[Tree], parts: u32) -> Schedule {
    let mut all: Vec<(usize, usize, u32, u32)> = Vec::new();
    for (number, tree) in trees.iter().enumerate() {
        all.extend(tree.sends.iter().map(|&(src, dst, depth)| (depth, number, src, dst)));
    }
    all.sort_by_key(|&(depth, number, ..)| (depth, number));
    let mut arrives: HashMap<(usize, u32), usize> = HashMap::new();
    let mut busy: HashSet<(u32, u32, usize)> = HashSet::new();
    let mut steps: Vec<BTreeMap<(u32, u32), usize>> = Vec::new();
    for (_, number, src, dst) in all {
        let ready = arrives.get(&(number, src)).copied().unwrap_or(0);
        let step = (ready..).find(|&step| busy.insert((src, dst, step))).unwrap_or(ready);
        arrives.insert((number, dst), step + 1);
        if steps.len() <= step {
            steps.resize(step + 1, BTreeMap::new());
        }
        steps[step].insert((src, dst), number);
    }
    let mut builder = Schedule::builder();
    for step in steps {
        builder.step(step.values().map(|&number| trees[number].chunks).max().unwrap_or(1));
        for ((src, dst), number) in step {
            let Tree { root, first_part, chunks, .. } = trees[number];
            let first = root * parts + first_part;
            builder.transfer(RankId(src), RankId(dst), None, Op::Copy, (first..first + chunks).map(ChunkId));
        }
    }
    builder.finish()
}
