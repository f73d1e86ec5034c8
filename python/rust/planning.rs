//! Planning.

use std::time::{Duration, Instant};

use collsynth::cli::{Failure, check_chunks, check_ranks, goal_words};
use collsynth::collective::{Collective, Demand, Kind};
use collsynth::cost::Price;
use collsynth::plan::{Control, Goal, Parts, Plan, Planner, Smt, planner_named};
use collsynth::problem::Problem;
use collsynth::report::verdict;
use collsynth::schedule::{Origin, Solution};
use collsynth::topology::{RankId, Topology};
use collsynth::verify::{Options, Verified};
use collsynth::{Request, cli, planning_time};
use pyo3::prelude::*;

use crate::control::interruptible;
use crate::errors;
use crate::machine::Machine;
use crate::plan::{Planned, Schedule};

/// What is asked for, as Python states it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wish {
    collective: String,
    root: Option<u32>,
    demand: Option<Vec<u32>>,
    planner: Option<String>,
    parts: Option<u32>,
    /// As many parts as pay.
    auto_parts: bool,
    steps: Option<u32>,
    max_steps: Option<u32>,
    /// Bytes of a message, seconds of a step, bytes per second.
    price: Option<(u64, f64, f64)>,
    seed: u64,
    threads: Option<usize>,
    time_limit: Option<f64>,
    width: Option<u32>,
    minimise: Option<String>,
    smt_backend: Option<String>,
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
    wish: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Schedule> {
    let wish: Wish = wish.extract()?;
    let time_limit = match wish.time_limit.map(Duration::try_from_secs_f64).transpose() {
        Ok(limit) => limit,
        Err(error) => return Err(errors::usage(py, &format!("time_limit: {error}"))),
    };
    let (topology, threads) = (machine.0.clone(), wish.threads);
    let planned = interruptible(py, threads, progress, move |interrupted, listener| {
        let control = Control::unlimited().with_interrupt(interrupted).with_listener(move |report| listener(report));
        wish.plan(topology, control, time_limit)
    })?;
    planned.map_err(|failure| errors::failure(py, &failure))
}

impl Wish {
    fn plan(&self, topology: Topology, control: Control, time_limit: Option<Duration>) -> Result<Schedule, Failure> {
        let called = Instant::now();
        check_ranks(&topology)?;
        let kind = self.kind(&topology)?;
        let parts = self.parts.unwrap_or(1);
        check_chunks(&topology, &kind, parts)?;
        let problem = Problem::new(topology, Collective { kind, parts })?;
        let smt = self.smt()?;
        let goal = self.goal(&smt)?;
        let deadline = time_limit.and_then(|limit| called.checked_add(planning_time(&problem, limit)));
        let control = match deadline {
            Some(deadline) => control.with_deadline(deadline),
            None => control,
        };
        let started = Instant::now();
        let (topology, kind) = (problem.topology(), problem.collective().kind.clone());
        let plan = Request::new(topology, kind).goal(goal).control(control).run();
        let plan = plan.map_err(|error| Failure::of_plan(&error, topology))?.into_inner();
        let planning = started.elapsed();
        let (account, planner, stopped) = (plan.account.clone(), plan.planner, plan.stopped);
        let command = self.words.as_ref().map(|words| self.command(words, &goal, time_limit));
        let tool = Some(concat!("synth ", env!("CARGO_PKG_VERSION")).to_owned());
        let origin = Origin { tool, planner: Some(planner.to_owned()), command, seed: Some(self.seed) };
        let started = Instant::now();
        let verified = verified(plan, origin)?;
        let verifying = started.elapsed();
        let planned = Planned { account, planner, stopped, planning, verifying, price: self.price() };
        Ok(Schedule { verified, planned: Some(planned) })
    }

    fn kind(&self, topology: &Topology) -> Result<Kind, Failure> {
        let demand = match &self.demand {
            Some(counts) => Demand::new(topology.rank_count() as u32, counts).ok_or_else(|| {
                Failure::usage(format!(
                    "a demand has a row and a column for each of the {} ranks",
                    topology.rank_count()
                ))
            })?,
            None => Demand::default(),
        };
        let known = || Kind::every(RankId(0), Demand::default()).map(|kind| kind.name()).join(", ");
        let kind = Kind::named(&self.collective, RankId(self.root.unwrap_or(0)), demand).ok_or_else(|| {
            Failure::usage(format!("no collective is called `{}`; there are {}", self.collective, known()))
        })?;
        match (&self.root, &self.demand) {
            (Some(_), _) if kind.root().is_none() => Err(Failure::usage(format!("{} has no root", kind.name()))),
            (_, Some(_)) if kind.demand().is_none() => {
                Err(Failure::usage(format!("{} has no demand matrix", kind.name())))
            }
            (_, None) if kind.demand().is_some() => {
                Err(Failure::usage(format!("{} needs a demand: a matrix of chunk counts", kind.name())))
            }
            _ => Ok(kind),
        }
    }

    fn smt(&self) -> Result<Smt, Failure> {
        let stated = [
            ("width", self.width.is_some()),
            ("minimise", self.minimise.is_some()),
            ("smt_backend", self.smt_backend.is_some()),
        ];
        if let Some((name, _)) = stated.iter().find(|(_, stated)| *stated && self.planner.as_deref() != Some("smt")) {
            return Err(Failure::usage(format!("{name} is for the planner smt")).hint("add planner=\"smt\""));
        }
        Ok(Smt {
            backend: self
                .smt_backend
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(Failure::usage)?
                .unwrap_or_default(),
            minimize: self.minimise.as_deref().map(str::parse).transpose().map_err(Failure::usage)?.unwrap_or_default(),
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
        self.price.map(|(message_bytes, alpha, bandwidth)| Price { message_bytes, alpha, bandwidth })
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
        add("--minimise", self.minimise.clone());
        add("--smt-backend", self.smt_backend.clone());
        add("--time-limit", time_limit.map(|limit| format!("{}s", limit.as_secs_f64())));
        add("--seed", Some(self.seed).filter(|&seed| seed != 0).map(|seed| seed.to_string()));
        line.join(" ")
    }
}

fn verified(plan: Plan, origin: Origin) -> Result<Verified<Solution>, Failure> {
    let Plan { problem, schedule, bounds, planner, .. } = plan;
    let solution = Solution { problem, schedule, bounds, origin: Some(origin) };
    Verified::<Solution>::new(solution, &Options::default()).map_err(|rejected| {
        let findings = verdict::findings(&rejected.report, |_| None);
        Failure::new(
            cli::Ending::Refuted,
            format!("internal error: the schedule of planner `{planner}` is wrong\n{findings}"),
        )
    })
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
