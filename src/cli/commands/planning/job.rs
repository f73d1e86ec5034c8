//! `synth --job FILE`: several collectives at once.

use std::path::Path;
use std::time::Instant;

use collsynth::collective::{Collective, Demand, Groups, Kind};
use collsynth::format::json;
use collsynth::grouping;
use collsynth::plan::{Control, JobGoal, Parts, StopReason, least_job_width, plan_job, plan_job_in_parts};
use collsynth::problem::Problem;
use collsynth::report::job as report;
use collsynth::schedule::Origin;
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify_job};
use serde::Deserialize;
use serde_json::Value;

use crate::cli::arguments::collective::spelled_kind;
use crate::cli::arguments::size;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::output::Format;
use crate::cli::io::progress::Ticker;
use crate::cli::io::{input, output};
use crate::cli::options::Given;
use crate::cli::options::quantity::parse_bytes;

/// The form of a job, for hints.
const FORM: &str = "a job is a list of collectives, as in [{\"collective\": \"all_gather\", \"groups\": \"x\", \"bytes\": \
                    \"64KiB\"}, {\"collective\": \"all_to_all\", \"groups\": \"yz\", \"bytes\": \"4KiB\"}]";
/// How near the bound is near enough, and into how many chunks a job is cut for it: unless parts are stated, and with
/// `--parts auto`.
const NEAR: (f64, u64) = (0.05, 1 << 13);
const CLOSE: (f64, u64) = (0.005, 1 << 14);

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
pub struct JobRequest<'a> {
    pub file: &'a Path,
    pub topology: &'a Topology,
    pub parts: Parts,
    pub goal: JobGoal,
    pub output: Option<&'a Path>,
    pub format: Format,
    pub quiet: bool,
    pub command: String,
}

impl JobRequest<'_> {
    pub fn run(&self, control: &Control, ticker: Ticker, given: &Given) -> Result<Ending, Failure> {
        let started = Instant::now();
        let text = input::read_text(self.file)?;
        let asked = self.asked(&text)?;
        let problems = self.problems(&asked)?;
        given.kinds(&problems.iter().map(|problem| problem.collective().kind.clone()).collect::<Vec<_>>())?;
        let is_cut = asked.iter().any(|one| one.parts.is_some());
        let planned = match self.parts {
            Parts::Auto | Parts::Enough if is_cut => plan_job(problems, &self.goal, control),
            Parts::Fixed(_) => plan_job(problems, &self.goal, control),
            Parts::Auto => plan_job_in_parts(&problems, &self.goal, CLOSE.0, CLOSE.1, control),
            Parts::Enough => plan_job_in_parts(&problems, &self.goal, NEAR.0, NEAR.1, control),
        };
        let (mut job, stopped) = planned.map_err(|error| Failure::of_plan(&error, self.topology))?;
        let planning = started.elapsed();
        ticker.say("verifying");
        job.origin = Some(Origin {
            planner: Some("job".to_owned()),
            command: Some(self.command.clone()),
            seed: Some(self.goal.seed),
            ..output::origin(None, None, None)
        });
        let report = verify_job(&job, &Options::default());
        if report.verdict() != Verdict::Holds {
            let judged = report::JudgedJob { name: "the job", text: "", job: &job, report: &report };
            let message =
                format!("internal error: the schedule of a job is wrong; nothing is written\n{}", judged.to_text());
            return Err(Failure::new(Ending::Refuted, message).hint("please report this with the command line"));
        }
        ticker.finish();
        output::deliver_file(self.output, &json::job_to_string(&job), "job")?;
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
        let mut asked: Vec<Asked> = serde_json::from_str(text).map_err(|error| {
            Failure::usage(format!("{name}:{}:{}: {error}", error.line(), error.column())).hint(FORM)
        })?;
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

    fn problems(&self, asked: &[Asked]) -> Result<Vec<Problem>, Failure> {
        let name = self.file.display();
        let parts = self.parts_of(asked)?;
        let one = |(index, (asked, parts)): (usize, (&Asked, u32))| {
            let kind = kind(asked, self.topology)
                .map_err(|message| Failure::usage(format!("{name}: collective {index}: {message}")).hint(FORM))?;
            size::check_chunks(self.topology, &kind, parts)?;
            Ok(Problem::new(self.topology.clone(), Collective { kind, parts })?)
        };
        asked.iter().zip(parts).enumerate().map(one).collect()
    }

    /// The parts of each collective: as stated, or in proportion to its bytes, rounded up to whole chunks.
    fn parts_of(&self, asked: &[Asked]) -> Result<Vec<u32>, Failure> {
        let name = self.file.display();
        let wrong = |index: usize, message: &str| Failure::usage(format!("{name}: collective {index}: {message}"));
        let mut bytes: Vec<Option<u64>> = Vec::new();
        for (index, one) in asked.iter().enumerate() {
            match (&one.bytes, one.parts) {
                (Some(_), Some(_)) => return Err(wrong(index, "state `bytes` or `parts`, not both")),
                (_, Some(0)) => return Err(wrong(index, "a message is cut in at least 1 part")),
                _ => {}
            }
            let stated = one.bytes.as_ref().map(bytes_of).transpose();
            bytes.push(stated.map_err(|message| wrong(index, &message))?);
        }
        let cut = match self.parts {
            Parts::Fixed(parts) => parts,
            Parts::Auto | Parts::Enough => 1,
        };
        let Some(least) = bytes.iter().flatten().copied().min() else {
            if self.parts != Parts::Enough && asked.iter().any(|one| one.parts.is_some()) {
                return Err(Failure::usage(
                    "--parts cuts the smallest message of a job, but this job states parts itself",
                )
                .hint("state bytes in the job, or leave --parts out"));
            }
            return Ok(asked.iter().map(|one| one.parts.unwrap_or(cut)).collect());
        };
        let mut parts = Vec::new();
        for (index, (one, bytes)) in asked.iter().zip(bytes).enumerate() {
            let Some(bytes) = bytes else {
                let kind = Kind::named(&one.collective, RankId(0), Demand::default());
                if kind.is_none_or(|kind| kind.has_volume()) {
                    let why = "it states no `bytes`, but others do, and chunks of all collectives are equally large";
                    return Err(wrong(index, why));
                }
                parts.push(1);
                continue;
            };
            let scaled = u128::from(bytes) * u128::from(cut);
            let count = u32::try_from(scaled.div_ceil(least.into()));
            let count = count.map_err(|_| wrong(index, "its messages are too large beside the smallest"))?;
            parts.push(count);
            if scaled % u128::from(least) != 0 && !self.quiet && self.format == Format::Text {
                let chunk = least.div_ceil(u64::from(cut));
                let line =
                    format!("note: collective {index}: {bytes} bytes are rounded up to {count} chunks of {chunk}");
                note(&line);
            }
        }
        Ok(parts)
    }
}

fn bytes_of(value: &Value) -> Result<u64, String> {
    let bytes = match value {
        Value::String(text) => parse_bytes(text).map_err(|error| format!("`bytes`: {error}"))?,
        _ => value.as_u64().ok_or("`bytes` is a number, or a size as in \"64KiB\"")?,
    };
    if bytes > 0 { Ok(bytes) } else { Err("`bytes` is at least 1".to_owned()) }
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
