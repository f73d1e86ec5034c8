//! `synth --job FILE`: several collectives at once.

use std::path::Path;
use std::time::Instant;

use collsynth::collective::{Demand, Groups, Kind};
use collsynth::grouping;
use collsynth::plan::{Control, JobGoal, Parts, StopReason, least_job_width};
use collsynth::problem::Problem;
use collsynth::report::job as report;
use collsynth::schedule::Origin;
use collsynth::topology::{RankId, Topology};
use collsynth::verify::{Options, RejectedJob, VerifiedJob};
use collsynth::{JobRequest, JobRequestError, Size};
use serde::Deserialize;
use serde_json::Value;

use crate::cli::arguments::collective::spelled_kind;
use crate::cli::arguments::size;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock;
use crate::cli::io::console::note;
use crate::cli::io::output::Format;
use crate::cli::io::progress::Ticker;
use crate::cli::io::{input, output};
use crate::cli::options::Given;
use crate::cli::options::quantity::parse_bytes;

/// The form of a job, for hints.
const FORM: &str = "a job is a list of collectives, as in [{\"collective\": \"all_gather\", \"groups\": \"x\", \"bytes\": \
                    \"64KiB\"}, {\"collective\": \"all_to_all\", \"groups\": \"yz\", \"bytes\": \"4KiB\"}]";
/// A collective of a job, as it is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Its name.
    collective: String,
    /// A rank, or with groups the place of a member.
    root: Option<Value>,
    /// Dimensions (`xy`), or a list of lists of ranks.
    groups: Option<Value>,
    /// Extents of the boxes that the torus is cut in.
    blocks: Option<Vec<u32>>,
    relays: Option<bool>,
    /// Parts of a message, in which all chunks of the job are equally large.
    parts: Option<u32>,
    /// Bytes of a message (shard, vector).
    bytes: Option<Value>,
}

/// What is stated for the planning of a job.
pub struct JobFile<'a> {
    pub file: &'a Path,
    pub topology: &'a Topology,
    pub parts: Parts,
    pub goal: JobGoal,
    pub output: Option<&'a Path>,
    pub format: Format,
    pub quiet: bool,
    pub command: String,
}

impl JobFile<'_> {
    pub fn run(&self, control: Control, ticker: Ticker, given: &Given) -> Result<Ending, Failure> {
        let started = Instant::now();
        let text = input::read_text(self.file)?;
        let request = self.request(&self.asked(&text)?)?.control(control);
        let problems = request.problems().map_err(|error| self.refused(&error))?;
        for problem in &problems {
            size::check_chunks(self.topology, &problem.collective().kind, problem.parts())?;
        }
        given.kinds(&problems.iter().map(|problem| problem.collective().kind.clone()).collect::<Vec<_>>())?;
        self.note_rounded(&request, &problems);
        let planned = request.run();
        clock::found();
        let planned = planned.map_err(|error| self.refused(&error))?;
        let (stopped, mut job) = (planned.stopped, planned.into_inner());
        let planning = started.elapsed();
        ticker.say("verifying");
        job.origin = Some(Origin {
            planner: Some("job".to_owned()),
            command: Some(self.command.clone()),
            seed: Some(self.goal.seed),
            ..output::origin(None, None, None)
        });
        let job = VerifiedJob::of_job(job, &Options::default()).map_err(|rejected| wrong(&rejected))?;
        ticker.finish();
        output::deliver_file(self.output, &job.to_json(), "job")?;
        if !self.quiet {
            let seconds = (planning.as_secs_f64(), (started.elapsed() - planning).as_secs_f64());
            match self.format {
                Format::Text => {
                    note(report::headline(&job).as_str());
                    note(report::figures(&job).trim_end());
                    note(&format!("  planned in {:.2} s, verified in {:.2} s", seconds.0, seconds.1));
                }
                Format::Json => {
                    let mut figures = report::figures_to_json(&job, true);
                    figures["planning_seconds"] = seconds.0.into();
                    figures["verifying_seconds"] = seconds.1.into();
                    note(&figures.to_string());
                }
            }
        }
        let proven = job.total_width() == u64::from(least_job_width(&job));
        Ok(if stopped == StopReason::Finished || proven { Ending::Success } else { Ending::Stopped })
    }

    fn asked(&self, text: &str) -> Result<Vec<Asked>, Failure> {
        let name = self.file.display();
        let mut asked: Vec<Asked> =
            serde_json::from_str(text).map_err(|error| Failure::usage(input::placed(&name, &error)).hint(FORM))?;
        for one in &mut asked {
            if let Some(kind) = spelled_kind(&one.collective) {
                kind.clone_into(&mut one.collective);
            }
        }
        match asked.is_empty() {
            true => Err(Failure::usage(format!("{name}: a job has at least one collective")).hint(FORM)),
            false => Ok(asked),
        }
    }

    fn request(&self, asked: &[Asked]) -> Result<JobRequest<'_>, Failure> {
        let name = self.file.display();
        let mut request = JobRequest::new(self.topology).parts(self.parts).goal(self.goal);
        for (index, asked) in asked.iter().enumerate() {
            let one = || Ok((kind(asked, self.topology)?, size(asked)?));
            let (kind, size) = one().map_err(|message: String| {
                Failure::usage(format!("{name}: collective {index}: {message}")).hint(FORM)
            })?;
            request = request.collective(kind, size);
        }
        Ok(request)
    }

    /// Says which messages do not divide into chunks.
    fn note_rounded(&self, request: &JobRequest<'_>, problems: &[Problem]) {
        let Some(chunk) = request.chunk_bytes().filter(|_| !self.quiet && self.format == Format::Text) else { return };
        for (index, (problem, (_, size))) in problems.iter().zip(request.collectives()).enumerate() {
            let count = problem.parts();
            if let Size::Bytes(bytes) = *size
                && u64::from(count) * chunk != bytes
            {
                note(&format!("note: collective {index}: {bytes} bytes are rounded up to {count} chunks of {chunk}"));
            }
        }
    }

    fn refused(&self, error: &JobRequestError) -> Failure {
        let name = self.file.display();
        match error {
            JobRequestError::Plan(error) => Failure::of_plan(error, self.topology),
            JobRequestError::PartsTwice => {
                Failure::usage("--parts cuts the smallest message of a job, but this job states parts itself")
                    .hint("state bytes in the job, or leave --parts out")
            }
            error => Failure::usage(format!("{name}: {error}")),
        }
    }
}

fn wrong(RejectedJob { job, report }: &RejectedJob) -> Failure {
    let judged = report::JudgedJob { name: "the job", text: "", job, report };
    let message = format!("internal error: the schedule of a job is wrong; nothing is written\n{}", judged.to_text());
    Failure::new(Ending::Refuted, message).hint("please report this with the command line")
}

fn size(asked: &Asked) -> Result<Size, String> {
    match (&asked.bytes, asked.parts) {
        (Some(_), Some(_)) => Err("state `bytes` or `parts`, not both".to_owned()),
        (Some(bytes), None) => bytes_of(bytes).map(Size::Bytes),
        (None, Some(parts)) => Ok(Size::Parts(parts)),
        (None, None) => Ok(Size::Equal),
    }
}

fn bytes_of(value: &Value) -> Result<u64, String> {
    match value {
        Value::String(text) => parse_bytes(text).map_err(|error| format!("`bytes`: {error}")),
        _ => value.as_u64().ok_or_else(|| "`bytes` is a number, or a size as in \"64KiB\"".to_owned()),
    }
}

fn kind(asked: &Asked, topology: &Topology) -> Result<Kind, String> {
    let groups = groups(asked, topology)?;
    let root = match (&asked.root, &groups) {
        (None, _) => RankId(0),
        (Some(value), Some(_)) => {
            let place = value.as_u64().and_then(|place| u32::try_from(place).ok());
            RankId(place.ok_or("in groups, `root` is the place of a member, from 0")?)
        }
        (Some(value), None) => rank(topology, value)?,
    };
    let kind = Kind::named(&asked.collective, root, Demand::default());
    let kind = kind.ok_or_else(|| format!("there is no collective `{}`", asked.collective))?;
    if kind.demand().is_some() {
        return Err(format!("{} is not planned in jobs", kind.name()));
    }
    if asked.root.is_some() && kind.root().is_none() {
        return Err(format!("{} has no root", kind.name()));
    }
    if asked.bytes.is_some() && !kind.has_volume() {
        return Err(format!("{} has no bytes", kind.name()));
    }
    if asked.parts.is_some() && !kind.can_be_cut() {
        return Err(format!("{} is not cut in parts", kind.name()));
    }
    Ok(groups.map_or(kind.clone(), |groups| kind.in_groups(groups)))
}

fn groups(asked: &Asked, topology: &Topology) -> Result<Option<Groups>, String> {
    let members = match (&asked.groups, &asked.blocks) {
        (Some(_), Some(_)) => return Err("state `groups` or `blocks`, not both".to_owned()),
        (Some(Value::String(text)), None) => {
            let dims = grouping::dimensions(text).ok_or_else(|| format!("`{text}` names no dimensions: write xy"))?;
            grouping::spanned(topology, &dims).map_err(|error| error.to_string())?
        }
        (Some(Value::Array(lists)), None) => {
            let list = |list: &Value| {
                let ranks = list.as_array().ok_or("`groups` are dimensions, or a list of lists of ranks")?;
                ranks.iter().map(|value| rank(topology, value)).collect::<Result<Vec<_>, String>>()
            };
            lists.iter().map(list).collect::<Result<Vec<_>, String>>()?
        }
        (Some(_), None) => return Err("`groups` are dimensions, as in \"xy\", or a list of lists of ranks".to_owned()),
        (None, Some(extents)) => grouping::boxes(topology, extents).map_err(|error| error.to_string())?,
        (None, None) if asked.relays.is_some() => {
            return Err("`relays` is about groups, and none are stated".to_owned());
        }
        (None, None) => return Ok(None),
    };
    let groups = Groups::new(members).map_err(|error| error.to_string())?;
    Ok(Some(groups.with_relays(asked.relays.unwrap_or(true))))
}

fn rank(topology: &Topology, value: &Value) -> Result<RankId, String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    topology.parse_rank(&text).map_err(|error| error.to_string())
}
