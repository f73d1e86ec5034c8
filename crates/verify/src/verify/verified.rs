//! Verified data.

use std::fmt;
use std::ops::Deref;

use super::facts::report::Report;
use super::job::{JobReport, verify_job};
use super::options::Options;
use super::verify;
use crate::verdict::Verdict;
use collsynth_core::schedule::{AnySchedule, AnySolution, Job, Schedule, Solution, Stated};

/// Something the verifier executed without finding a violation. It is read-only and only the verifier makes one, so a
/// `Verified<Solution>` never needs checking again.
#[derive(Clone, Debug)]
pub struct Verified<T, R = Report> {
    inner: T,
    report: R,
}

/// A job that was executed without finding a violation.
pub type VerifiedJob = Verified<Job, JobReport>;

/// A solution that is refuted or was not judged, returned with the report.
#[derive(Clone, Debug)]
pub struct Rejected<S = Schedule> {
    /// The solution.
    pub solution: Solution<S>,
    /// Why.
    pub report: Report,
}

/// The same of a job.
#[derive(Clone, Debug)]
pub struct RejectedJob {
    /// The job.
    pub job: Job,
    /// Why.
    pub report: JobReport,
}

impl<S: Stated> Verified<Solution<S>> {
    /// Executes a solution.
    ///
    /// # Errors
    ///
    /// [`Rejected`] if it does not hold.
    pub fn new(solution: Solution<S>, options: &Options) -> Result<Self, Box<Rejected<S>>> {
        let report = verify(&solution, options);
        match report.verdict() {
            Verdict::Holds => Ok(Self { inner: solution, report }),
            Verdict::Refuted | Verdict::NotJudged => Err(Box::new(Rejected { solution, report })),
        }
    }

    /// The same with every move stated: it holds as well, since the verdict on the compact form is that on the expanded
    /// schedule. The report stays the same. See [`AnySchedule::expanded_bytes`] for the memory.
    pub fn expand(self) -> Verified<Solution>
    where
        S: Into<AnySchedule>,
    {
        let inner = self.inner.map(|schedule| schedule.into().into_expanded());
        Verified { inner, report: self.report }
    }

    /// The same schedule, whatever its form.
    pub fn into_any(self) -> Verified<AnySolution>
    where
        S: Into<AnySchedule>,
    {
        Verified { inner: self.inner.map(Into::into), report: self.report }
    }
}

impl VerifiedJob {
    /// Executes a job.
    ///
    /// # Errors
    ///
    /// [`RejectedJob`] if it does not hold.
    pub fn of_job(job: Job, options: &Options) -> Result<Self, Box<RejectedJob>> {
        let report = verify_job(&job, options);
        match report.verdict() {
            Verdict::Holds => Ok(Self { inner: job, report }),
            Verdict::Refuted | Verdict::NotJudged => Err(Box::new(RejectedJob { job, report })),
        }
    }

    /// Its schedules, each of which holds by itself; where each came from is where the job came from.
    pub fn into_schedules(self) -> Vec<Verified<Solution>> {
        let origin = self.inner.origin.clone();
        let each = self.inner.into_solutions().into_iter().zip(self.report.reports);
        let one = |(solution, report)| Verified { inner: Solution { origin: origin.clone(), ..solution }, report };
        each.map(one).collect()
    }
}

impl<T, R> Verified<T, R> {
    /// The report; it has no violation, but may have warnings.
    pub fn report(&self) -> &R {
        &self.report
    }

    /// The value inside, mutable but no longer known to hold.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T, R> Deref for Verified<T, R> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<S> fmt::Display for Rejected<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = self.report.why_not_judged() {
            return write!(f, "the schedule is {why}");
        }
        let (count, s) = (self.report.violation_count(), if self.report.violation_count() == 1 { "" } else { "s" });
        write!(f, "the schedule has {count} violation{s}")?;
        match self.report.violations.first() {
            Some(first) => write!(f, "; the first: {} {}", first.code, first.message),
            None => Ok(()),
        }
    }
}

impl<S: fmt::Debug> std::error::Error for Rejected<S> {}

impl fmt::Display for RejectedJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.report.why_not_judged() {
            Some(why) => write!(f, "the job is {why}"),
            None => f.write_str("the job does not hold"),
        }
    }
}

impl std::error::Error for RejectedJob {}
