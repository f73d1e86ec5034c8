//! Judging schedules and rank programs.

use std::path::PathBuf;

use collsynth::bound;
use collsynth::cli::{Ending, Failure};
use collsynth::format::json;
use collsynth::judge::{FileOptions, FileVerdict, Form};
use collsynth::limits::Limits;
use collsynth::report::foreign::foreign;
use collsynth::report::verdict::findings;
use collsynth::schedule::Solution;
use collsynth::verify::{Options, Verified};
use pyo3::prelude::*;

use crate::errors;
use crate::machine::Machine;
use crate::plan::Schedule;

/// How files are judged, as Python states it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Judging {
    max_errors: usize,
    contention_free: bool,
    rank_map: Vec<u32>,
    bounds: bool,
}

impl Judging {
    fn options<'a>(&'a self, machine: Option<&'a Machine>) -> FileOptions<'a> {
        FileOptions {
            max_errors: self.max_errors,
            contention_free: self.contention_free,
            machine: machine.map(|machine| &machine.0),
            rank_map: &self.rank_map,
            bounds: self.bounds.then_some(|problem| bound::find(problem).unwrap_or_default()),
            limits: Limits::default(),
            form: Form::Json,
        }
    }
}

/// Judges a text; returns the ruling (0, 1 or 2) and the verdict as JSON.
#[pyfunction]
#[pyo3(signature = (name, text, judging, machine))]
pub fn judge(
    py: Python<'_>,
    name: &str,
    text: &str,
    judging: &Bound<'_, PyAny>,
    machine: Option<Bound<'_, Machine>>,
) -> PyResult<(u8, String)> {
    let judging: Judging = judging.extract()?;
    let options = judging.options(machine.as_ref().map(Bound::get));
    Ok(answer(py.detach(|| options.judge_text(name, text))))
}

/// Judges a file, gzip included; likewise.
#[pyfunction]
#[pyo3(signature = (path, judging, machine))]
pub fn judge_file(
    py: Python<'_>,
    path: PathBuf,
    judging: &Bound<'_, PyAny>,
    machine: Option<Bound<'_, Machine>>,
) -> PyResult<(u8, String)> {
    let judging: Judging = judging.extract()?;
    let options = judging.options(machine.as_ref().map(Bound::get));
    Ok(answer(py.detach(|| options.judge(&path))))
}

fn answer(FileVerdict { ruling, json, .. }: FileVerdict) -> (u8, String) {
    (ruling as u8, json.to_string())
}

/// The schedule in a text, once it is known to hold.
#[pyfunction]
pub fn holding(py: Python<'_>, name: &str, text: &str) -> PyResult<Schedule> {
    let limits = Limits::default();
    let room = limits.room(text);
    let verified = py.detach(|| {
        let solution = json::parse_solution_within(text, &limits)?;
        Ok(Verified::<Solution>::new(solution, &Options { memory: room, ..Options::default() }))
    });
    match verified {
        Ok(Ok(verified)) if verified.problem.groups().is_some() => Err(errors::usage(
            py,
            &format!("{name}: schedules in groups of ranks are judged, but not run, from Python"),
        )),
        Ok(Ok(verified)) => Ok(Schedule::read(verified)),
        Ok(Err(rejected)) => {
            let why = match rejected.report.not_judged() {
                Some(why) => Failure::usage(format!("{name}: {why}")),
                None => Failure::new(
                    Ending::Refuted,
                    format!("{name}: the schedule does not hold\n{}", findings(&rejected.report, |_| None)),
                ),
            };
            Err(errors::failure(py, &why))
        }
        Err(error) => Err(match foreign(text) {
            Some(what) => errors::usage(py, &format!("{name}: {what}")),
            None => errors::unreadable(py, name, &error),
        }),
    }
}
