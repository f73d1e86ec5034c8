//! Judges jobs: several schedules that share steps and links.

use std::collections::BTreeMap;

use serde_json::Value;

use super::claims;
use super::judge::{judged, link, misled};
use super::outcome::Judged;
use super::together::Job;
use crate::naive::opinion::Opinion;
use crate::naive::stated::file::File;

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
    for _ in 0..full(&job) {
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

/// How many links in how many steps carry too much.
fn full(job: &Job) -> usize {
    let mut full = 0;
    for (at, width) in job.widths().into_iter().enumerate() {
        let mut carried: BTreeMap<usize, u64> = BTreeMap::new();
        for transfer in job.files.iter().filter_map(|file| file.steps.get(at)).flat_map(|step| &step.transfers) {
            if misled(&job.machine, transfer).is_none() {
                let link = link(&job.machine, transfer.from, transfer.to, transfer.via)[0];
                *carried.entry(link).or_default() += transfer.chunks.len() as u64;
            }
        }
        full += carried.iter().filter(|(link, chunks)| **chunks > width * job.machine.links[**link].capacity).count();
    }
    full
}
