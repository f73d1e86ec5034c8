//! Planning.

use std::time::Instant;

use collsynth::cli::{self, Asked, Failure};
use collsynth::collective::{Demand, Kind};
use collsynth::finishing_time;
use collsynth::form::Form;
use collsynth::plan::Control;
use collsynth::topology::RankId;
use pyo3::prelude::*;

use crate::arguments::Callback;
use crate::control::interruptible;
use crate::errors;
use crate::held::Held;
use crate::machine::Machine;
use crate::plan::{Planned, Schedule};

/// The names of all planners.
#[pyfunction]
pub fn planners() -> Vec<&'static str> {
    collsynth::plan::planners().iter().map(|planner| planner.name()).collect()
}

/// Plans what the words of `synth plan` ask for on a machine, and has the plan judged. A demand, row by row, goes with
/// the words `--demand -`; `stated` are the words that state the machine, if it has any.
#[pyfunction]
#[pyo3(signature = (machine, words, demand, stated, threads, progress))]
pub fn synthesize(
    py: Python<'_>,
    machine: &Machine,
    words: Vec<String>,
    demand: Option<Vec<u32>>,
    stated: Option<Vec<String>>,
    threads: Option<usize>,
    progress: Option<Callback<'_>>,
) -> PyResult<Schedule> {
    let called = Instant::now();
    let asked = py.detach(|| asked(machine, &words, demand)).map_err(|failure| errors::failure(py, &failure))?;
    let planned = interruptible(py, threads, progress.as_ref(), move |interrupted, listener| {
        let control = Control::unlimited().with_interrupt(interrupted).with_listener(move |report| listener(report));
        planned(&asked, stated.as_deref(), called, control)
    })?;
    planned.map_err(|failure| errors::failure(py, &failure))
}

/// The same as far as it takes no planning: nothing, or the error.
#[pyfunction]
#[pyo3(signature = (machine, words, demand))]
pub fn check_plan(py: Python<'_>, machine: &Machine, words: Vec<String>, demand: Option<Vec<u32>>) -> PyResult<()> {
    py.detach(|| asked(machine, &words, demand)).map(drop).map_err(|failure| errors::failure(py, &failure))
}

fn asked(machine: &Machine, words: &[String], counts: Option<Vec<u32>>) -> Result<Asked, Failure> {
    let ranks = machine.0.rank_count();
    let demand = counts.map(|counts| {
        let wrong = || match counts.len() == ranks * ranks {
            true => Failure::usage(format!("the demand is too large: more than {} chunks", u32::MAX)),
            false => Failure::usage(format!("a demand has a row and a column for each of the {ranks} ranks")),
        };
        Demand::new(ranks as u32, &counts).ok_or_else(wrong)
    });
    Asked::read(machine.0.clone(), words, demand.transpose()?)
}

fn planned(asked: &Asked, stated: Option<&[String]>, called: Instant, control: Control) -> Result<Schedule, Failure> {
    let control = match asked.time_limit().and_then(|limit| called.checked_add(limit)) {
        Some(deadline) => control.with_deadline(deadline).leaving(called, finishing_time),
        None => control,
    };
    let started = Instant::now();
    let plan = asked.plan(control)?;
    let planning = started.elapsed();
    let (planner, account, stopped) = (plan.planner, plan.account.clone(), plan.stopped);
    let started = Instant::now();
    let mut held = Held::from(asked.verified(plan, stated)?);
    // What is planned as a pattern has its moves only now.
    if asked.form() == Some(Form::Explicit) && held.form() == Form::Compact {
        held = held.expanded()?;
    }
    let (verifying, price) = (started.elapsed(), asked.price());
    Ok(Schedule { held, planned: Some(Planned { account, planner, stopped, planning, verifying, price }) })
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
