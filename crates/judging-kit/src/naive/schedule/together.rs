//! A job file, read.

use serde_json::{Map, Value};

use crate::naive::evidence::job::Bound;
use crate::naive::problem::machine::Machine;
use crate::naive::reader::Faults;
use crate::naive::stated::file::File;

/// A job file.
pub struct Job {
    /// The machine.
    pub machine: Machine,
    /// The schedules.
    pub files: Vec<File>,
    /// The bound of all together.
    pub bound: Option<Bound>,
}

impl Job {
    /// Reads a job.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        match Self::find(value, &mut faults) {
            Some(job) if faults.codes.is_empty() && !faults.large => Ok(job),
            _ => {
                // A fault hides what is wrong with claims, and with the bound.
                faults.more |= !faults.codes.contains("F004");
                Err(faults)
            }
        }
    }

    fn find(value: &Value, faults: &mut Faults) -> Option<Self> {
        if value.get("format").is_none_or(|format| format != "collective-job/1") {
            return faults.note("F004");
        }
        let keys = faults.object(value, &["format", "topology", "schedules"], &["bound", "origin"])?;
        if let Some(origin) = keys.get("origin") {
            faults.origin(origin);
        }
        let machine = keys.get("topology").and_then(|value| Machine::read(value, faults));
        let list = keys.get("schedules").and_then(|list| faults.list(list)).unwrap_or_default();
        if list.is_empty() {
            return faults.note("F003");
        }
        let mut files = Vec::new();
        for schedule in list {
            let optional = ["groups", "relays", "bounds"];
            let Some(keys) = faults.object(schedule, &["collective", "steps"], &optional) else { continue };
            // What is no key of a schedule in a job is not looked into.
            let foreign = ["exceptions", "trees", "mirrored"];
            let keys: Map<_, _> = keys
                .iter()
                .filter(|(key, _)| !foreign.contains(&&***key))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            files.extend(File::on(machine.clone(), &keys, faults));
        }
        let machine = machine?;
        let bound = match keys.get("bound") {
            None => None,
            Some(value) => Some(Bound::read(value, &machine, faults)?),
        };
        Some(Self { machine, files, bound })
    }

    /// The width of each step: of different ones the widest counts.
    pub fn widths(&self) -> Vec<u64> {
        let steps = self.files.iter().map(|file| file.steps.len()).max().unwrap_or(0);
        let widest = |at: usize| self.files.iter().filter_map(|file| file.steps.get(at)).map(|step| step.width).max();
        (0..steps).filter_map(widest).collect()
    }
}
