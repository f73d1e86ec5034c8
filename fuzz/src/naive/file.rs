//! A schedule file, read.

use serde_json::Value;

use super::machine::{Machine, Named, dimension};
use super::reader::Faults;
use super::task::Task;

/// A schedule file.
#[derive(Clone, Debug)]
pub struct File {
    /// The machine.
    pub machine: Machine,
    /// The collective.
    pub task: Task,
    /// The steps.
    pub steps: Vec<Step>,
    /// The claims, as they stand in the file; their form was checked.
    pub bounds: Vec<(&'static str, Value)>,
}

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its width.
    pub width: u64,
    /// Its transfers.
    pub transfers: Vec<Transfer>,
}

/// A transfer.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The sender; may be out of range.
    pub from: usize,
    /// The receiver; may be out of range.
    pub to: usize,
    /// The chunks.
    pub chunks: Vec<usize>,
    /// Combines instead of replacing.
    pub reduce: bool,
    /// The direction, if stated.
    pub via: Option<(usize, bool)>,
}

impl File {
    /// Reads a file.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        match Self::find(value, &mut faults) {
            Some(file) if faults.codes.is_empty() => Ok(file),
            _ => Err(faults),
        }
    }

    fn find(value: &Value, faults: &mut Faults) -> Option<Self> {
        if value.get("format").is_none_or(|format| format != "collective-schedule/1") {
            return faults.note("F004");
        }
        let keys = faults.object(
            value,
            &["format", "topology", "collective", "steps"],
            &["groups", "relays", "bounds", "origin"],
        )?;
        if let Some(origin) = keys.get("origin") {
            faults.origin(origin);
        }
        let machine = keys.get("topology").and_then(|value| Machine::read(value, faults));
        let groups = (keys.get("groups"), keys.get("relays"));
        let task = keys.get("collective").and_then(|value| Task::read(value, groups, machine.as_ref(), faults));
        let (Some(machine), Some(task)) = (machine, task) else {
            faults.more = true;
            return None;
        };
        let mut steps = Vec::new();
        for step in keys.get("steps").and_then(|value| faults.list(value)).unwrap_or_default() {
            steps.extend(Step::read(step, &machine, &task, faults));
        }
        let mut bounds = Vec::new();
        if let Some(value) = keys.get("bounds") {
            let keys = faults.object(value, &[], &["steps", "volume", "joint"])?;
            bounds.extend(keys.get("steps").map(|value| ("steps", value.clone())));
            bounds.extend(keys.get("volume").map(|value| ("volume", value.clone())));
            if let Some(joint) = keys.get("joint") {
                bounds.extend(faults.list(joint)?.iter().map(|value| ("joint", value.clone())));
            }
        }
        Some(Self { machine, task, steps, bounds })
    }
}

impl Step {
    fn read(value: &Value, machine: &Machine, task: &Task, faults: &mut Faults) -> Option<Self> {
        let keys = faults.object(value, &["transfers"], &["width"])?;
        let width = faults.integer_or(keys.get("width"), 1, 1).unwrap_or(1);
        let list = keys.get("transfers").and_then(|value| faults.list(value)).unwrap_or_default();
        let transfers = list.iter().filter_map(|value| Transfer::read(value, machine, task, faults)).collect();
        Some(Self { width, transfers })
    }
}

impl Transfer {
    fn read(value: &Value, machine: &Machine, task: &Task, faults: &mut Faults) -> Option<Self> {
        let keys = faults.object(value, &["from", "to", "chunks"], &["op", "via"])?;
        let mut rank = |key| match machine.rank(keys.get(key)?, faults)? {
            Named::Number(rank) => Some(rank),
            Named::Nowhere => faults.note("F003"),
        };
        let (from, to) = (rank("from"), rank("to"));
        let mut chunks = Vec::new();
        for value in keys.get("chunks").and_then(|value| faults.list(value)).unwrap_or_default() {
            chunks.extend(task.chunk(value, faults));
        }
        let reduce = match keys.get("op") {
            None => false,
            Some(op) if op == "copy" || op == "reduce" => op == "reduce",
            Some(_) => return faults.note("F003"),
        };
        let via = match keys.get("via").map(|via| via.as_str().and_then(dimension)) {
            None => None,
            Some(Some((dim, Some(grows)))) => Some((dim, grows)),
            Some(_) => return faults.note("F003"),
        };
        Some(Self { from: from?, to: to?, chunks, reduce, via })
    }
}
