//! A schedule file, read.

use serde_json::{Map, Value};

use super::listing;
use super::steps::{Step, Transfer, op};
use crate::naive::problem::machine::{Machine, Named, dimension};
use crate::naive::problem::task::Task;
use crate::naive::reader::Faults;

/// A schedule on its machine: a file of its own, or one of a job.
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
    /// Of the compact form, the chunks that do not follow the pattern.
    pub exceptions: Option<Vec<usize>>,
    /// Of the compact form, is a way back still to be added?
    pub mirrored: bool,
    /// Of the compact form, the period and the chunks of the first cell, if stated.
    pub period: Option<(Vec<u64>, Vec<usize>)>,
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
            &["groups", "relays", "exceptions", "period", "cell", "trees", "mirrored", "bounds", "origin"],
        )?;
        if let Some(origin) = keys.get("origin") {
            faults.origin(origin);
        }
        let machine = keys.get("topology").and_then(|value| Machine::read(value, faults));
        Self::on(machine, keys, faults)
    }

    /// Reads what is stated of a schedule on a machine; if there is none, as far as that has faults of its own.
    pub fn on(machine: Option<Machine>, keys: &Map<String, Value>, faults: &mut Faults) -> Option<Self> {
        let groups = (keys.get("groups"), keys.get("relays"));
        let task = keys.get("collective").and_then(|value| Task::read(value, groups, machine.as_ref(), faults));
        let (Some(machine), Some(task)) = (machine, task) else {
            faults.more = true;
            return None;
        };
        let exceptions = match keys.get("exceptions") {
            None => None,
            Some(value) => {
                let list = faults.list(value)?;
                Some(list.iter().filter_map(|value| task.chunk(value, faults)).collect::<Vec<_>>())
            }
        };
        if (exceptions.is_none() && keys.contains_key("period"))
            || (!keys.contains_key("period") && keys.contains_key("cell"))
        {
            faults.note::<()>("F002");
        }
        let period = match keys.get("period") {
            None => None,
            Some(list) => {
                let list = faults.list(list)?.iter().map(|number| faults.integer(number, 0, "F010"));
                let numbers = list.collect::<Option<Vec<_>>>()?;
                let chunks = keys.get("cell").map_or(Some(&[][..]), |list| faults.list(list))?;
                Some((numbers, chunks.iter().filter_map(|value| task.chunk(value, faults)).collect::<Vec<_>>()))
            }
        };
        let mut steps = Vec::new();
        for step in keys.get("steps").and_then(|value| faults.list(value)).unwrap_or_default() {
            let forms = (exceptions.is_some(), period.is_some());
            steps.extend(Step::read(step, forms, &machine, &task, faults));
        }
        if let Some(trees) = keys.get("trees") {
            if exceptions.is_some() {
                faults.more = true;
                return faults.note("F002");
            }
            if listing::of_trees(trees, &mut steps, &machine, &task, faults).is_none() {
                faults.more = true;
            }
        }
        let mut mirrored = faults.flag_or(keys.get("mirrored"), false)?;
        if mirrored && !listing::reduces(&steps) {
            faults.note::<()>("F010");
        }
        if mirrored && exceptions.is_none() {
            listing::mirror(&mut steps);
            mirrored = false;
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
        // What does not fit otherwise hides what is wrong with claims.
        faults.more |= !faults.codes.is_empty() && !bounds.is_empty();
        Some(Self { machine, task, steps, bounds, exceptions, mirrored, period })
    }

    /// The sum of the widths.
    pub fn width(&self) -> u64 {
        self.steps.iter().map(|step| step.width).sum()
    }
}

impl Step {
    fn read(
        value: &Value,
        (compact, cells): (bool, bool),
        machine: &Machine,
        task: &Task,
        faults: &mut Faults,
    ) -> Option<Self> {
        let optional: &[&str] = match (compact, cells) {
            (true, true) => &["width", "op", "pattern", "without", "cell"],
            (true, false) => &["width", "op", "pattern", "without"],
            _ => &["width", "op"],
        };
        let keys = faults.object(value, &["transfers"], optional)?;
        // What should not be there may be wrong besides.
        let has = |key: &str| keys.contains_key(key);
        faults.more |= !compact && (has("pattern") || has("without")) || !cells && has("cell");
        let width = faults.integer_or(keys.get("width"), 1, 1).unwrap_or(1);
        let reduces = op(keys.get("op"), faults).unwrap_or_default();
        let mut list = |key| {
            let list = keys.get(key).and_then(|value| faults.list(value)).unwrap_or_default();
            list.iter().filter_map(|value| Transfer::read(value, reduces, machine, task, faults)).collect()
        };
        let transfers = list("transfers");
        let [pattern, without] = ["pattern", "without"].map(|key| if compact { list(key) } else { Vec::new() });
        let cell = if cells { list("cell") } else { Vec::new() };
        Some(Self { width, transfers, pattern, cell, without })
    }
}

impl Transfer {
    fn read(value: &Value, reduces: bool, machine: &Machine, task: &Task, faults: &mut Faults) -> Option<Self> {
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
        let reduce = if keys.contains_key("op") { op(keys.get("op"), faults)? } else { reduces };
        let via = match keys.get("via").map(|via| via.as_str().and_then(dimension)) {
            None => None,
            Some(Some((dim, Some(grows)))) => Some((dim, grows)),
            Some(_) => return faults.note("F003"),
        };
        Some(Self { from: from?, to: to?, chunks, reduce, via })
    }
}
