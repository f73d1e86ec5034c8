//! Planning.

use std::time::{Duration, Instant};

use collsynth::cli::{Failure, Given, check_chunks, check_ranks, goal_words};
use collsynth::collective::{Collective, Demand, Groups, GroupsError, Kind};
use collsynth::cost::Price;
use collsynth::form::{Form, FormError};
use collsynth::plan::{Control, Goal, Parts, Planner, Smt, planner_named};
use collsynth::problem::Problem;
use collsynth::report::verdict;
use collsynth::schedule::Origin;
use collsynth::topology::{RankId, Topology};
use collsynth::verify::Report;
use collsynth::{Request, cli, finishing_time};
use pyo3::prelude::*;

use crate::arguments::{Callback, Fields};
use crate::control::interruptible;
use crate::errors;
use crate::held::Held;
use crate::machine::Machine;
use crate::plan::{Planned, Schedule};

/// What is asked for, as Python states it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wish {
    collective: String,
    root: Option<u32>,
    demand: Option<Vec<u32>>,
    /// The members of each group, if not all ranks take part together.
    groups: Option<Vec<Vec<u32>>>,
    relays: bool,
    planner: Option<String>,
    parts: Option<u32>,
    /// As many parts as pay.
    auto_parts: bool,
    steps: Option<u32>,
    max_steps: Option<u32>,
    /// Bytes of a message, seconds of a step, bytes per second.
    price: Option<(u64, Option<f64>, Option<f64>)>,
    seed: u64,
    threads: Option<usize>,
    time_limit: Option<f64>,
    width: Option<u32>,
    minimize: Option<String>,
    smt_backend: Option<String>,
    form: Option<String>,
    /// The words of the command line that state the machine and the collective.
    words: Option<Vec<String>>,
}

/// The names of all planners.
#[pyfunction]
pub fn planners() -> Vec<&'static str> {
    collsynth::plan::planners().iter().map(|planner| planner.name()).collect()
}

/// Plans, and has the plan judged.
#[pyfunction]
#[pyo3(signature = (machine, wish, progress))]
pub fn synthesize(
    py: Python<'_>,
    machine: &Machine,
    wish: Fields<Wish>,
    progress: Option<Callback<'_>>,
) -> PyResult<Schedule> {
    let Fields(wish) = wish;
    let time_limit = match wish.time_limit.map(Duration::try_from_secs_f64).transpose() {
        Ok(limit) => limit,
        Err(error) => return Err(errors::usage(py, &format!("time_limit: {error}"))),
    };
    let (topology, threads) = (machine.0.clone(), wish.threads);
    let planned = interruptible(py, threads, progress.as_ref(), move |interrupted, listener| {
        let control = Control::unlimited().with_interrupt(interrupted).with_listener(move |report| listener(report));
        wish.plan(topology, control, time_limit)
    })?;
    planned.map_err(|failure| errors::failure(py, &failure))
}

impl Wish {
    fn plan(&self, topology: Topology, control: Control, time_limit: Option<Duration>) -> Result<Schedule, Failure> {
        let called = Instant::now();
        check_ranks(&topology)?;
        let given = Given::from_python("plan", &self.stated())?;
        let (kind, form) = (self.kind(&topology, &given)?, self.form()?);
        let (smt, parts) = (self.smt()?, self.parts.unwrap_or(1));
        let goal = self.goal(&smt)?;
        let fits = check_chunks(&topology, &kind, parts);
        let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts });
        let request = Request::new(&topology, kind).goal(goal);
        if !request.is_compact() {
            fits?;
        }
        problem?;
        let control = match time_limit.and_then(|limit| called.checked_add(limit)) {
            Some(deadline) => control.with_deadline(deadline).leaving(called, finishing_time),
            None => control,
        };
        let origin = |planner: &str| {
            let command = self.words.as_ref().map(|words| self.command(words, &goal, time_limit));
            let tool = Some(concat!("synth ", env!("CARGO_PKG_VERSION")).to_owned());
            Origin { tool, planner: Some(planner.to_owned()), command, seed: Some(self.seed) }
        };
        let started = Instant::now();
        let plan = request.control(control).run().map_err(|error| Failure::of_plan(&error, &topology))?;
        let planning = started.elapsed();
        let (planner, account, stopped) = (plan.planner, plan.account.clone(), plan.stopped);
        let started = Instant::now();
        let verified = plan.verify_as(form, origin(planner)).map_err(|error| match error {
            FormError::Rejected(rejected) => wrong(planner, &rejected.report),
            error => Failure::usage(error),
        })?;
        let mut held = Held::from(verified);
        // What is planned as a pattern has its moves only now.
        if form == Some(Form::Explicit) && held.form() == Form::Compact {
            held = held.expanded()?;
        }
        let (verifying, price) = (started.elapsed(), self.price());
        let planned = Some(Planned { account, planner, stopped, planning, verifying, price });
        Ok(Schedule { held, planned })
    }

    /// The arguments that were stated, of those that do not always apply.
    fn stated(&self) -> [(&'static str, Option<String>); 14] {
        let text = |number: Option<u32>| number.map(|number| number.to_string());
        let (message_bytes, alpha, bandwidth) =
            self.price.map_or((None, None, None), |(bytes, alpha, bandwidth)| (Some(bytes), alpha, bandwidth));
        let price = |stated: Option<f64>| stated.map(|stated| stated.to_string());
        let auto = self.auto_parts.then(|| "auto".to_owned());
        [
            ("collective", Some(self.collective.clone())),
            ("root", text(self.root)),
            ("demand", self.demand.as_ref().map(|_| String::new())),
            ("groups", self.groups.as_ref().map(|_| String::new())),
            ("planner", self.planner.clone()),
            ("parts", text(self.parts).or(auto)),
            ("steps", text(self.steps)),
            ("max_steps", text(self.max_steps)),
            ("message_bytes", message_bytes.map(|bytes| bytes.to_string())),
            ("alpha", price(alpha)),
            ("bandwidth", price(bandwidth)),
            ("width", text(self.width)),
            ("minimize", self.minimize.clone()),
            ("smt_backend", self.smt_backend.clone()),
        ]
    }

    fn form(&self) -> Result<Option<Form>, Failure> {
        match self.form.as_deref() {
            None => Ok(None),
            Some("compact") => Ok(Some(Form::Compact)),
            Some("explicit") => Ok(Some(Form::Explicit)),
            Some(name) => Err(Failure::usage(format!("form is `compact` or `explicit`, not `{name}`"))),
        }
    }

    fn kind(&self, topology: &Topology, given: &Given) -> Result<Kind, Failure> {
        let demand = match &self.demand {
            Some(counts) => Demand::new(topology.rank_count() as u32, counts).ok_or_else(|| {
                Failure::usage(format!(
                    "a demand has a row and a column for each of the {} ranks",
                    topology.rank_count()
                ))
            })?,
            None => Demand::default(),
        };
        let kind = Kind::named(collective(&self.collective)?, RankId(self.root.unwrap_or(0)), demand)
            .expect("one of their names");
        given.kind(&kind)?;
        match &self.demand {
            None if kind.demand().is_some() => {
                Err(Failure::usage(format!("{} needs a demand: a matrix of chunk counts", kind.name())))
            }
            _ => self.in_groups(kind),
        }
    }

    fn in_groups(&self, kind: Kind) -> Result<Kind, Failure> {
        let Some(groups) = &self.groups else { return Ok(kind) };
        let members = groups.iter().map(|ranks| ranks.iter().copied().map(RankId).collect()).collect();
        let groups = Groups::new(members).map_err(|error: GroupsError| Failure::usage(error))?;
        Ok(kind.in_groups(groups.with_relays(self.relays)))
    }

    fn smt(&self) -> Result<Smt, Failure> {
        Ok(Smt {
            backend: self
                .smt_backend
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(Failure::usage)?
                .unwrap_or_default(),
            minimize: self.minimize.as_deref().map(str::parse).transpose().map_err(Failure::usage)?.unwrap_or_default(),
            width: self.width,
        })
    }

    fn goal<'a>(&self, smt: &'a Smt) -> Result<Goal<'a>, Failure> {
        let planner: Option<&dyn Planner> = match self.planner.as_deref() {
            None => None,
            Some(name) if name == smt.name() => Some(smt),
            Some(name) => Some(planner_named(name).map_err(Failure::usage)?),
        };
        let parts = match (self.parts, self.auto_parts) {
            (Some(parts), _) => Parts::Fixed(parts),
            (None, true) => Parts::Auto,
            (None, false) => Parts::Enough,
        };
        Ok(Goal { planner, parts, steps: self.steps, max_steps: self.max_steps, price: self.price(), seed: self.seed })
    }

    fn price(&self) -> Option<Price> {
        self.price.map(|(message_bytes, alpha, bandwidth)| Price {
            message_bytes,
            alpha: alpha.unwrap_or(Price::ALPHA),
            bandwidth: bandwidth.unwrap_or(Price::BANDWIDTH),
        })
    }

    /// The command line that gives the same bytes.
    fn command(&self, words: &[String], goal: &Goal<'_>, time_limit: Option<Duration>) -> String {
        let mut line = vec!["synth".to_owned()];
        line.extend_from_slice(words);
        line.extend(goal_words(&Goal { seed: 0, ..*goal }));
        let mut add = |name: &str, value: Option<String>| {
            line.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]))
        };
        add("--width", self.width.map(|width| width.to_string()));
        add("--minimize", self.minimize.clone());
        add("--smt-backend", self.smt_backend.clone());
        add("--time-limit", time_limit.map(|limit| format!("{}s", limit.as_secs_f64())));
        add("--seed", Some(self.seed).filter(|&seed| seed != 0).map(|seed| seed.to_string()));
        line.join(" ")
    }
}

fn wrong(planner: &str, report: &Report) -> Failure {
    let findings = verdict::findings(report, |_| None);
    let message = format!("internal error: the schedule of planner `{planner}` is wrong\n{findings}");
    Failure::new(cli::Ending::Refuted, message)
}

/// A quantity as people write it: `bytes` (64KiB), `seconds` (1us) or `bandwidth` (50GB/s, in bytes per second).
#[pyfunction]
pub fn quantity(py: Python<'_>, kind: &str, text: &str) -> PyResult<f64> {
    let value = match kind {
        "bytes" => cli::parse_bytes(text).map(|bytes| bytes as f64),
        "bandwidth" => cli::parse_one_bandwidth(text),
        _ => cli::parse_seconds(text),
    };
    value.map_err(|message| errors::usage(py, &message))
}

/// The name of a collective, in whatever spelling.
fn collective(text: &str) -> Result<&'static str, Failure> {
    let names = Kind::every(RankId(0), Demand::default()).map(|kind| kind.name());
    cli::spelled(text, &names).ok_or_else(|| match cli::did_you_mean(text, &names) {
        meant if meant.is_empty() => {
            Failure::usage(format!("no collective is called `{text}`; there are {}", names.join(", ")))
        }
        meant => Failure::usage(format!("no collective is called `{text}`{meant}")),
    })
}

/// The name of a collective: `all_reduce` for `AllReduce`, `all-reduce` or `allreduce`.
#[pyfunction]
pub fn collective_name(py: Python<'_>, text: &str) -> PyResult<&'static str> {
    collective(text).map_err(|failure| errors::failure(py, &failure))
}
