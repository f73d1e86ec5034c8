//! Judging schedules and rank programs.

use std::path::PathBuf;

use collsynth::cli::{self, Ending, Failure};
use collsynth::format::json::{self, ParseError};
use collsynth::judge::{FileOptions, FileVerdict, Form};
use collsynth::limits::Limits;
use collsynth::report::foreign::foreign;
use collsynth::report::verdict::findings;
use collsynth::verify::{Options, Report, Verified};
use pyo3::prelude::*;

use crate::arguments::Fields;
use crate::errors;
use crate::machine::Machine;
use crate::plan::Schedule;

/// How files are judged, as Python states it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Judging {
    max_errors: usize,
    contention_free: bool,
    rank_map: Vec<u32>,
    bounds: bool,
}

impl Judging {
    fn options<'a>(&'a self, py: Python<'_>, machine: Option<&'a Machine>) -> PyResult<FileOptions<'a>> {
        Ok(FileOptions {
            max_errors: self.max_errors,
            contention_free: self.contention_free,
            machine: machine.map(|machine| &machine.0),
            rank_map: &self.rank_map,
            bounds: self.bounds.then_some(cli::find_bounds),
            limits: limits(py)?,
            form: Form::Json,
        })
    }
}

/// Judges a text; returns the verdict (0, 1 or 2) and what it says as JSON.
#[pyfunction]
#[pyo3(signature = (name, text, judging, machine))]
pub fn judge(
    py: Python<'_>,
    name: &str,
    text: &str,
    judging: Fields<Judging>,
    machine: Option<Bound<'_, Machine>>,
) -> PyResult<(u8, String)> {
    let options = judging.0.options(py, machine.as_ref().map(Bound::get))?;
    Ok(answer(py.detach(|| options.judge_text(name, text))))
}

/// Judges a file, gzip included; likewise.
#[pyfunction]
#[pyo3(signature = (path, judging, machine))]
pub fn judge_file(
    py: Python<'_>,
    path: PathBuf,
    judging: Fields<Judging>,
    machine: Option<Bound<'_, Machine>>,
) -> PyResult<(u8, String)> {
    let options = judging.0.options(py, machine.as_ref().map(Bound::get))?;
    Ok(answer(py.detach(|| options.judge(&path))))
}

fn answer(FileVerdict { verdict, json, .. }: FileVerdict) -> (u8, String) {
    (verdict as u8, json.to_string())
}

/// The limits that the environment states.
pub fn limits(py: Python<'_>) -> PyResult<Limits> {
    cli::limits().map_err(|failure| errors::failure(py, &failure))
}

/// The schedule in a text, once it is known to hold.
#[pyfunction]
pub fn holding(py: Python<'_>, name: &str, text: &str) -> PyResult<Schedule> {
    let limits = limits(py)?;
    let options = Options { memory: limits.room(text), ..Options::default() };
    let refuted = |report: Report| match report.why_not_judged() {
        Some(why) => Failure::usage(format!("{name}: {why}")),
        None => {
            let found = findings(&report, |_| None);
            Failure::new(Ending::Refuted, format!("{name}: the schedule does not hold\n{found}"))
        }
    };
    let verified = py.detach(|| {
        let solution = json::parse_stated_within(text, &limits)?;
        Ok(Verified::new(solution, &options).map_err(|rejected| refuted(rejected.report)))
    });
    match verified {
        Ok(Ok(verified)) => Ok(Schedule::read(verified.into())),
        Ok(Err(why)) => Err(errors::failure(py, &why)),
        Err(error) => Err(unread(py, name, text, &error, "cs.load")),
    }
}

/// The exception for a text that a call does not read: another file of ours, another tool's, or a damaged one.
pub fn unread(py: Python<'_>, name: &str, text: &str, error: &ParseError, call: &str) -> PyErr {
    let ours = [
        (json::is_schedule(text), "a schedule", "cs.load", "reads"),
        (json::is_job(text), "a job", "cs.load_job", "reads"),
        (json::is_program(text), "a rank program", "cs.verify", "judges"),
    ];
    if let Some((_, what, other, does)) = ours.into_iter().find(|(is, _, other, _)| *is && *other != call) {
        let hint = format!("`{other}` {does} it");
        return errors::failure(py, &Failure::usage(format!("{name}: this is {what}")).hint(hint));
    }
    match foreign(text) {
        Some(what) => errors::usage(py, &format!("{name}: {what}")),
        None => errors::unreadable(py, name, error),
    }
}
