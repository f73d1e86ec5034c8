//! Jobs: several schedules that share steps and links.

use std::collections::BTreeMap;

use serde_json::Value;

use super::claims;
use super::file::File;
use super::judge::{Judged, judged, link, misled};
use crate::naive::evidence::job::Bound;
use crate::naive::opinion::Opinion;
use crate::naive::problem::machine::Machine;
use crate::naive::reader::Faults;

/// A job file.
pub struct Job {
    /// The machine.
    pub machine: Machine,
    /// The schedules.
    pub files: Vec<File>,
    /// The bound of all together.
    pub bound: Option<Bound>,
}

/// Judges a job file.
pub fn judge(value: &Value) -> Opinion {
    let job = match Job::read(value) {
        Ok(job) => job,
        Err(faults) => return Opinion::unreadable(faults),
    };
    let mut all = Vec::new();
    for file in &job.files {
        match judged(file) {
            Ok(judged) => all.push(judged),
            Err(faults) => return Opinion::unreadable(faults),
        }
    }
    // How often it is reported that steps differ is left open.
    let mut opinion = Opinion { open: ["J001"].into(), ..Opinion::default() };
    for Judged { opinion: one, .. } in &all {
        for (&code, &count) in one.counts.iter().filter(|(code, _)| **code != "W004") {
            *opinion.counts.entry(code).or_default() += count;
        }
        opinion.free.extend(&one.free);
        opinion.reached.extend(one.reached.iter().map(|word| format!("{word}, in jobs")));
    }
    if job.files.iter().any(|file| file.widths() != job.files[0].widths()) {
        opinion.count("J001");
    }
    for _ in 0..job.full() {
        opinion.count("J002");
    }
    if let Some(bound) = &job.bound {
        let proven = bound.holds(&job.machine, &job.files);
        let word = if proven { "proven" } else { "not proven" };
        opinion.reached.extend(bound.kinds().into_iter().map(|kind| format!("job {kind} {word}")));
        if !proven {
            opinion.count("C001");
        }
    }
    opinion.leave_unchecked();
    if opinion.holds() {
        claims::of_job(&job, &all, &mut opinion);
    }
    opinion
}

impl File {
    fn widths(&self) -> Vec<u64> {
        self.steps.iter().map(|step| step.width).collect()
    }
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
            let keys: serde_json::Map<_, _> = keys
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

    /// How many links in how many steps carry too much.
    fn full(&self) -> usize {
        let mut full = 0;
        for (at, width) in self.widths().into_iter().enumerate() {
            let mut carried: BTreeMap<usize, u64> = BTreeMap::new();
            for transfer in self.files.iter().filter_map(|file| file.steps.get(at)).flat_map(|step| &step.transfers) {
                if misled(&self.machine, transfer).is_none() {
                    let link = link(&self.machine, transfer.from, transfer.to, transfer.via)[0];
                    *carried.entry(link).or_default() += transfer.chunks.len() as u64;
                }
            }
            full +=
                carried.iter().filter(|(link, chunks)| **chunks > width * self.machine.links[**link].capacity).count();
        }
        full
    }
}
