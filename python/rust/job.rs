//! Verified jobs: schedules that run together.

use collsynth::VerifiedJob;
use collsynth::cli::{Ending, Failure};
use collsynth::format::json;
use collsynth::report::job::JudgedJob;
use collsynth::verify::{Options, RejectedJob};
use pyo3::prelude::*;

use crate::errors;
use crate::judging::{limits, unread};
use crate::plan::Schedule;

/// A job that holds.
#[pyclass(frozen, module = "collsynth._collsynth")]
pub struct Job(VerifiedJob);

#[pymethods]
impl Job {
    /// The schedules, each of which holds by itself.
    fn schedules(&self, py: Python<'_>) -> Vec<Schedule> {
        let schedules = py.detach(|| self.0.clone().into_schedules());
        schedules.into_iter().map(|one| Schedule::read(one.into_any().into())).collect()
    }

    /// The file that the command writes.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.to_json())
    }

    /// Writes that file, whole or not at all; `.gz`: compressed.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        errors::save(py, &path, || self.0.to_json())
    }
}

/// The job in a text, once it is known to hold.
#[pyfunction]
pub fn job_holding(py: Python<'_>, name: &str, text: &str) -> PyResult<Job> {
    let limits = limits(py)?;
    let options = Options { memory: limits.room(text), ..Options::default() };
    let refused = |rejected: &RejectedJob| match rejected.report.why_not_judged() {
        Some(why) => Failure::usage(format!("{name}: {why}")),
        None => {
            let found = JudgedJob { name, text, job: &rejected.job, report: &rejected.report }.to_text();
            Failure::new(Ending::Refuted, format!("{name}: the job does not hold\n{found}"))
        }
    };
    let held = py.detach(|| {
        let job = json::parse_job_within(text, &limits)?;
        Ok(VerifiedJob::of_job(job, &options).map_err(|rejected| refused(&rejected)))
    });
    match held {
        Ok(Ok(job)) => Ok(Job(job)),
        Ok(Err(why)) => Err(errors::failure(py, &why)),
        Err(error) => Err(unread(py, name, text, &error, "cs.load_job")),
    }
}
