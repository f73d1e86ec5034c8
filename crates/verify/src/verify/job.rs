//! Judging a job: each of its schedules as any other, and then what they share.
//!
//! A schedule of a job holds by itself if what [`verify`](super::verify) checks holds. Chunks of different collectives
//! have nothing to do with each other but for the room on links, so besides it takes:
//!
//! 1. **The same steps**: every schedule has as many, of the same widths (`J001`).
//! 2. **The room of every link in every step**, for the chunks of all schedules together (`J002`).
//! 3. **The bound** on the total width, from its evidence (`C001`, `C002`).
//!
//! A step in which a schedule has no transfers is no finding: others may use it.

use collsynth_core::exact::narrow;
use std::collections::BTreeMap;

use super::facts::report::Report;
use super::judge;
use super::options::Options;
use super::run::routes::find_link;
use super::run::scope::Scope;
use crate::code::codes;
use crate::verdict::{NotJudged, Verdict};
use collsynth_core::certificate::{CertificateError, Work};
use collsynth_core::schedule::{Job, Solution, Step};
use collsynth_core::topology::LinkId;

codes! {
    /// The kind of a violation of a job as a whole. `C001` and `C002` are codes of schedules too.
    JobCode: C001 C002 J001 J002
}

/// The verdict on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobReport {
    /// The verdict on each schedule by itself.
    pub reports: Vec<Report>,
    /// The first violations of the job as a whole, by step; then those of widths, and the bound.
    pub violations: Vec<JobViolation>,
    /// The number of them, kept or not, of each code that occurs.
    pub totals: BTreeMap<JobCode, u64>,
}

/// A violation of a job as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobViolation {
    /// `J002`: the schedules together put more chunks on a link than fit in the step.
    Full {
        /// The step, from 1.
        step: u32,
        /// The link.
        link: LinkId,
        /// The chunks that fit.
        room: u64,
        /// The chunks there are.
        chunks: u64,
    },
    /// `J001`: a schedule has another number of steps than the first one.
    Steps {
        /// The schedule, from 0.
        schedule: usize,
        /// Its steps.
        steps: usize,
        /// Those of the first one.
        of_first: usize,
    },
    /// `J001`: a step of a schedule has another width than in the first one.
    Width {
        /// The schedule, from 0.
        schedule: usize,
        /// The step, from 1.
        step: u32,
        /// Its width.
        width: u32,
        /// That in the first schedule.
        of_first: u32,
    },
    /// `C001`: the bound is not proven. `C002`: it is not checked.
    Unproven(CertificateError),
}

impl JobViolation {
    /// Its code.
    pub fn code(&self) -> JobCode {
        match self {
            Self::Full { .. } => JobCode::J002,
            Self::Steps { .. } | Self::Width { .. } => JobCode::J001,
            Self::Unproven(error) if error.is_unchecked() => JobCode::C002,
            Self::Unproven(_) => JobCode::C001,
        }
    }
}

impl JobReport {
    /// The verdict: does every schedule hold, and what they share?
    pub fn verdict(&self) -> Verdict {
        let is_violation = |(&code, &total): (&JobCode, &u64)| code != JobCode::C002 && total > 0;
        let alone = |verdict| self.reports.iter().any(|report| report.verdict() == verdict);
        Verdict::new(
            self.totals.iter().any(is_violation) || alone(Verdict::Refuted),
            self.totals.contains_key(&JobCode::C002) || alone(Verdict::NotJudged),
        )
    }

    /// Why the job was neither vouched for nor refuted, if so.
    pub fn why_not_judged(&self) -> Option<NotJudged> {
        let bound = || NotJudged::of_bound(JobCode::C002.to_string(), "the bound of the job takes too long to check");
        (self.verdict() == Verdict::NotJudged)
            .then(|| self.reports.iter().find_map(Report::why_not_judged).unwrap_or_else(bound))
    }
}

/// Executes the schedules of a job and reports every violation. Costs what [`verify`](super::verify) costs for each,
/// and what [`Work::check_job`] costs.
///
/// ```
/// # use collsynth_core::collective::{ChunkId, Collective, Kind};
/// # use collsynth_core::problem::Problem;
/// # use collsynth_core::schedule::{Job, Op, Schedule, Solution};
/// # use collsynth_core::topology::{RankId, Topology};
/// # use collsynth_verify::verify::{JobCode, Options, verify_job};
/// // Two broadcasts on a line of 2, which cannot share the link in one step of width 1.
/// let problem = Problem::new(Topology::torus(&[2])?, Collective::new(Kind::Broadcast(RankId(0))))?;
/// let mut builder = Schedule::builder();
/// builder.step(1).transfer(RankId(0), RankId(1), None, Op::Copy, [ChunkId(0)]);
/// let one = Solution { problem, schedule: builder.finish(), bounds: Default::default(), origin: None };
///
/// let report = verify_job(&Job::new(vec![one.clone(), one], None, None)?, &Options::default());
/// assert_eq!(report.violations[0].code(), JobCode::J002);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify_job(job: &Job, options: &Options) -> JobReport {
    let mut work = Work::default();
    let alone = |solution: &Solution| {
        judge(solution.into(), options, &Scope::OfJob(0..solution.problem.chunk_count()), &mut work)
    };
    let reports = job.solutions().iter().map(alone).collect();
    let mut violations = Kept { list: Vec::new(), totals: BTreeMap::new(), most: options.max_errors };
    check_room(job, &mut violations);
    check_steps(job, &mut violations);
    if let Some(Err(error)) = job.bound.as_ref().map(|bound| work.check_job(&job.problems(), bound)) {
        violations.add(JobViolation::Unproven(error));
    }
    JobReport { reports, violations: violations.list, totals: violations.totals }
}

/// The first violations; all are counted.
struct Kept {
    list: Vec<JobViolation>,
    totals: BTreeMap<JobCode, u64>,
    most: usize,
}

impl Kept {
    fn add(&mut self, violation: JobViolation) {
        *self.totals.entry(violation.code()).or_default() += 1;
        if self.list.len() < self.most {
            self.list.push(violation);
        }
    }
}

/// Counts the chunks on every link in every step. A transfer that is wrong by itself counts nowhere.
fn check_room(job: &Job, violations: &mut Kept) {
    let machine = job.machine();
    let mut steps: Vec<_> = job.solutions().iter().map(|solution| (solution, solution.schedule.steps())).collect();
    let mut chunks: Vec<u64> = vec![0; machine.links().len()];
    for step in 1..=narrow(job.widths().len()) {
        let mut used: Vec<LinkId> = Vec::new();
        let mut width = 0;
        for (solution, steps) in &mut steps {
            let Some(Step { width: stated, transfers, .. }) = steps.next() else { continue };
            width = width.max(stated);
            for transfer in transfers {
                if let Ok(link) = find_link(machine, transfer) {
                    used.push(link);
                    chunks[link.index()] += solution.schedule.chunks(transfer).len() as u64;
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        for link in used {
            let room = u64::from(width) * u64::from(machine.link(link).capacity);
            match std::mem::take(&mut chunks[link.index()]) {
                chunks if chunks > room => violations.add(JobViolation::Full { step, link, room, chunks }),
                _ => {}
            }
        }
    }
}

fn check_steps(job: &Job, violations: &mut Kept) {
    let first = &job.solutions()[0].schedule;
    for (schedule, solution) in job.solutions().iter().enumerate().skip(1) {
        let (steps, of_first) = (solution.schedule.step_count(), first.step_count());
        if steps != of_first {
            violations.add(JobViolation::Steps { schedule, steps, of_first });
        }
        for ((step, width), of_first) in (1..).zip(solution.schedule.widths()).zip(first.widths()) {
            if width != of_first {
                violations.add(JobViolation::Width { schedule, step, width, of_first });
            }
        }
    }
}
