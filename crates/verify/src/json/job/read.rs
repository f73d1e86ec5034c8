//! From entries to a job.

use super::JOB_FORMAT;
use super::entry::{BoundEntry, CutEntry, JobFile, PartitionEntry, ScheduleEntry};
use crate::guard::limits::Limits;
use crate::json::FormatCode;
use crate::json::error::{Fault, ParseError};
use crate::json::locate::PathItem;
use crate::json::object::Object;
use crate::json::probe::states_format;
use crate::json::scalar::RankEntry;
use crate::json::schedule::machine::{machine, rank};
use crate::json::schedule::read::{Body, is_schedule, origin, stated};
use collsynth_core::certificate::JobBound;
use collsynth_core::schedule::{AnySchedule, Job, Solution};
use collsynth_core::topology::{RankId, Topology};

/// True if a text claims to be a job of any version.
pub fn is_job(text: &str) -> bool {
    states_format(text, "collective-job/")
}

/// Reads a job file. Steps of different widths, and what is left to the verifier in schedules, are left to it here.
///
/// # Errors
///
/// The first error in the text, the machine or a schedule, with its place; or the machine is larger than a text of this
/// size and number of schedules may make it.
pub fn parse_job(text: &str) -> Result<Job, ParseError> {
    parse_job_within(text, &Limits::default())
}

/// As [`parse_job`], with other limits.
///
/// # Errors
///
/// As [`parse_job`].
pub fn parse_job_within(text: &str, limits: &Limits) -> Result<Job, ParseError> {
    // It has other keys: which of them is unknown helps nobody.
    if is_schedule(text) {
        let message = "this is a schedule, not a job, the schedules of several collectives";
        return Err(Fault::new(FormatCode::F004, message.to_owned()).at("format").into_error(text));
    }
    let file: Object<JobFile> = serde_json::from_str(text).map_err(|error| ParseError::of_text(error, text))?;
    job(file.0, limits.room(text)).map_err(|fault| fault.into_error(text))
}

fn job(file: JobFile, room: u64) -> Result<Job, Fault> {
    if file.format != JOB_FORMAT {
        let message = format!("`format` is \"{}\", but only \"{JOB_FORMAT}\" is understood here", file.format);
        return Err(Fault::new(FormatCode::F004, message).at("format"));
    }
    // Every schedule has the machine for itself.
    let room = room / (file.schedules.len() as u64 + 1);
    let topology = machine(file.topology.0, room).map_err(|fault| fault.at("topology"))?;
    let bound = file.bound.map(|Object(entry)| bound(&topology, &entry).map_err(|fault| fault.at("bound")));
    let bound = bound.transpose()?;
    let schedules = file.schedules.into_iter().enumerate();
    let solutions = schedules.map(|(index, Object(entry))| {
        schedule(&topology, entry, room).map_err(|fault| fault.within(PathItem::Index(index)).at("schedules"))
    });
    let solutions = solutions.collect::<Result<Vec<_>, _>>()?;
    let origin = file.origin.map(origin);
    Job::new(solutions, bound, origin).map_err(|error| Fault::new(FormatCode::F003, error).at("schedules"))
}

fn schedule(topology: &Topology, entry: ScheduleEntry, room: u64) -> Result<Solution, Fault> {
    let ScheduleEntry { collective, groups, relays, steps, bounds } = entry;
    let (exceptions, period, cell, trees, mirrored) = (None, None, None, None, false);
    let body =
        Body { collective, groups, relays, exceptions, period, cell, trees, mirrored, steps, bounds, origin: None };
    // Without exceptions, every move is stated.
    Ok(stated(topology.clone(), body, room)?.map(AnySchedule::into_expanded))
}

fn bound(topology: &Topology, entry: &BoundEntry) -> Result<JobBound, Fault> {
    let one = |entry: &RankEntry| rank(topology, entry, FormatCode::F003);
    let several = |entries: &[RankEntry]| -> Result<Vec<RankId>, Fault> {
        let ranks = entries.iter().enumerate();
        ranks.map(|(index, entry)| one(entry).map_err(|fault| fault.within(PathItem::Index(index)))).collect()
    };
    let indexed = |fault: Fault, index, key| fault.within(PathItem::Index(index)).at(key);
    let weigh = |(index, (from, to, weight)): (usize, &(RankEntry, RankEntry, u32))| {
        let end =
            |entry, place| one(entry).map_err(|fault| indexed(fault.within(PathItem::Index(place)), index, "weights"));
        Ok((end(from, 0)?, end(to, 1)?, *weight))
    };
    let cut = |(index, Object(CutEntry { ranks, weight })): (usize, &Object<CutEntry>)| {
        Ok((several(ranks).map_err(|fault| indexed(fault.at("ranks"), index, "cuts"))?, *weight))
    };
    let partition = |(index, Object(PartitionEntry { blocks, weight })): (usize, &Object<PartitionEntry>)| {
        let block = |(number, ranks): (usize, &Vec<RankEntry>)| {
            several(ranks).map_err(|fault| indexed(indexed(fault, number, "blocks"), index, "partitions"))
        };
        Ok((blocks.iter().enumerate().map(block).collect::<Result<Vec<_>, _>>()?, *weight))
    };
    Ok(JobBound {
        at_least: entry.at_least.0,
        weights: entry.weights.iter().enumerate().map(weigh).collect::<Result<_, Fault>>()?,
        cuts: entry.cuts.iter().enumerate().map(cut).collect::<Result<_, Fault>>()?,
        partitions: entry.partitions.iter().enumerate().map(partition).collect::<Result<_, Fault>>()?,
    })
}
