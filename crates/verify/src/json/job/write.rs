//! Writing job files: equal jobs give equal bytes.

use std::fmt::{self, Write};

use super::JOB_FORMAT;
use crate::json::schedule::write::{
    separator, write_list, write_origin, write_rational, write_schedule, write_topology,
};
use collsynth_core::certificate::JobBound;
use collsynth_core::schedule::Job;

/// The text of a job file. O(chunk moves).
pub fn job_to_string(job: &Job) -> String {
    let mut text = String::new();
    write_job(&mut text, job).expect("writing to a string cannot fail");
    text
}

fn write_job(out: &mut String, job: &Job) -> fmt::Result {
    write!(out, "{{\n  \"format\": \"{JOB_FORMAT}\",\n  \"topology\": ")?;
    write_topology(out, job.machine().spec(), "  ")?;
    out.push_str(",\n  \"schedules\": [");
    let mut next = separator("\n    ", ",\n    ");
    for solution in job.solutions() {
        out.push_str(next());
        let mut schedule = String::new();
        write_schedule(&mut schedule, solution)?;
        out.push_str(&schedule.trim_end().replace('\n', "\n    "));
    }
    out.push_str("\n  ]");
    if let Some(bound) = &job.bound {
        out.push_str(",\n  \"bound\": ");
        write_bound(out, bound)?;
    }
    if let Some(origin) = &job.origin {
        out.push_str(",\n  \"origin\": ");
        write_origin(out, origin)?;
    }
    out.write_str("\n}\n")
}

fn write_bound(out: &mut String, JobBound { at_least, weights, cuts, partitions }: &JobBound) -> fmt::Result {
    out.push_str("{\"at_least\": ");
    write_rational(out, *at_least)?;
    if !weights.is_empty() {
        out.push_str(",\n    \"weights\": ");
        let triples: Vec<String> = weights.iter().map(|(from, to, weight)| format!("[{from},{to},{weight}]")).collect();
        write_list(out, ", ", &triples)?;
    }
    if !cuts.is_empty() {
        out.push_str(",\n    \"cuts\": [");
        let mut next = separator("\n      ", ",\n      ");
        for (ranks, weight) in cuts {
            write!(out, "{}{{\"weight\": {weight}, \"ranks\": ", next())?;
            write_list(out, ",", ranks)?;
            out.push('}');
        }
        out.push(']');
    }
    if !partitions.is_empty() {
        out.push_str(",\n    \"partitions\": [");
        let mut next = separator("\n      ", ",\n      ");
        for (blocks, weight) in partitions {
            write!(out, "{}{{\"weight\": {weight}, \"blocks\": [", next())?;
            let mut next = separator("", ", ");
            for ranks in blocks {
                out.push_str(next());
                write_list(out, ",", ranks)?;
            }
            out.push_str("]}");
        }
        out.push(']');
    }
    out.write_char('}')
}
