//! What is surveyed: a collective, or a job of several at once.

use std::path::Path;

use collsynth::certificate::Rational;
use collsynth::claim::{JobQuality, Quality, volume};
use collsynth::collective::{Collective, Kind};
use collsynth::plan::{Control, Goal, JobGoal, Parts, PlanError, least_job_width, shares_vectors};
use collsynth::problem::{Problem, ProblemError};
use collsynth::report::figures::exact;
use collsynth::report::survey::{JobFigures, Outcome};
use collsynth::schedule::AnySolution;
use collsynth::topology::Topology;
use collsynth::{JobRequest, JobRequestError, Request, Size, Verified};
use serde_json::{Value, json};

use crate::cli::arguments::job::collectives;
use crate::cli::arguments::plan::PartsArgument;
use crate::cli::arguments::size;
use crate::cli::commands::planning::{job, plan};
use crate::cli::ending::Failure;

/// What is planned around every set of failures.
pub enum Subject<'a> {
    Collective(Kind),
    Job(Job<'a>),
}

/// The job in a file.
pub struct Job<'a> {
    file: &'a Path,
    collectives: Vec<(Kind, Size)>,
}

/// How it is planned.
#[derive(Clone, Copy)]
pub struct Plans {
    /// None: as few as tell what failures cost.
    pub parts: Option<PartsArgument>,
    pub seed: u64,
}

impl Subject<'_> {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Collective(kind) => kind.name(),
            Self::Job(_) => "job",
        }
    }

    /// Its collectives.
    pub fn kinds(&self) -> Vec<Kind> {
        match self {
            Self::Collective(kind) => vec![kind.clone()],
            Self::Job(job) => job.collectives.iter().map(|(kind, _)| kind.clone()).collect(),
        }
    }

    /// Refuses what cannot be carried out on the machine as it is.
    pub fn check(&self, topology: &Topology, plans: Plans) -> Result<(), Failure> {
        match self {
            Self::Collective(kind) => Ok(Problem::new(topology.clone(), Collective::new(kind.clone())).map(|_| ())?),
            Self::Job(job) => job.check(topology, plans),
        }
    }

    /// A job, which not every symmetry of a machine keeps.
    pub fn job_on<'t>(&self, topology: &'t Topology) -> Option<JobRequest<'t>> {
        match self {
            Self::Collective(_) => None,
            Self::Job(job) => Some(job.request(topology)),
        }
    }

    /// A job, for the record: what its file states, groups and demands in full.
    pub fn stated(&self) -> Option<Value> {
        match self {
            Self::Collective(_) => None,
            Self::Job(job) => Some(job.collectives.iter().map(stated).collect()),
        }
    }

    /// Plans and verifies it around failures.
    pub fn outcome(&self, broken: &Topology, plans: Plans, control: &Control) -> Result<Outcome, Failure> {
        match self {
            Self::Collective(kind) => outcome(kind, broken, plans, control),
            Self::Job(job) => job.outcome(broken, plans, control),
        }
    }
}

impl<'a> Job<'a> {
    /// The job in a file.
    pub fn read(file: &'a Path, topology: &Topology) -> Result<Self, Failure> {
        Ok(Self { file, collectives: collectives(file, topology)? })
    }

    fn check(&self, topology: &Topology, plans: Plans) -> Result<(), Failure> {
        let problems = self.planned(topology, plans).problems();
        let problems = problems.map_err(|error| job::refused(&error, self.file, topology))?;
        let check = |problem: &Problem| size::check_chunks(topology, &problem.collective().kind, problem.parts());
        problems.iter().try_for_each(check)
    }

    fn request<'t>(&self, topology: &'t Topology) -> JobRequest<'t> {
        let add = |request: JobRequest<'t>, (kind, size): &(Kind, Size)| request.collective(kind.clone(), *size);
        self.collectives.iter().fold(JobRequest::new(topology), add)
    }

    fn planned<'t>(&self, topology: &'t Topology, Plans { parts, seed }: Plans) -> JobRequest<'t> {
        let states_parts = self.collectives.iter().any(|(_, size)| matches!(size, Size::Parts(_)));
        let parts = match parts {
            // Near the bound is not enough, as for a collective; parts that are stated are not cut.
            None if !states_parts => Parts::Auto,
            stated => PartsArgument::or_enough(stated),
        };
        self.request(topology).parts(parts).goal(JobGoal { seed, ..JobGoal::default() })
    }

    fn outcome(&self, broken: &Topology, plans: Plans, control: &Control) -> Result<Outcome, Failure> {
        let planned = match self.planned(broken, plans).control(control.clone()).run() {
            Ok(planned) => planned,
            Err(JobRequestError::Plan(PlanError::Disconnected(parts))) => {
                return Ok(Outcome::Disconnected { parts: parts.components.len() });
            }
            Err(JobRequestError::Problem { error: ProblemError::RootFailed { root }, .. }) => {
                return Ok(Outcome::RootFailed { root: root.0 });
            }
            Err(error) => return Err(job::refused(&error, self.file, broken)),
        };
        let chunk = planned.chunk();
        let verified = planned.verify().map_err(|rejected| job::wrong(&rejected))?;
        let (width, least_width) = (verified.total_width(), least_job_width(&verified));
        let volume = |width| exact(chunk * Rational::from(i128::from(width)));
        Ok(Outcome::Planned {
            steps: verified.widths().len(),
            volume: volume(width),
            bound: Some(volume(least_width.into())),
            optimal: JobQuality::new(&verified).width.is_certified(),
            job: Some(JobFigures {
                width,
                least_width,
                parts: verified.solutions().iter().map(|solution| solution.problem.parts()).collect(),
            }),
        })
    }
}

fn stated((kind, size): &(Kind, Size)) -> Value {
    let mut stated = json!({ "collective": kind.name() });
    if let Some(groups) = kind.groups() {
        let members: Vec<Vec<u32>> =
            groups.members().iter().map(|ranks| ranks.iter().map(|rank| rank.0).collect()).collect();
        stated["groups"] = json!(members);
        stated["relays"] = groups.may_relay().into();
    }
    if let Some(root) = kind.stated_root() {
        stated["root"] = root.0.into();
    }
    if let Some(demand) = kind.demand() {
        let counts: Vec<u32> = demand.counts().collect();
        stated["demand"] = counts.chunks(demand.ranks().max(1) as usize).map(<[u32]>::to_vec).collect();
    }
    match *size {
        Size::Equal => {}
        Size::Parts(parts) => stated["parts"] = parts.into(),
        Size::Bytes(bytes) => stated["bytes"] = bytes.into(),
    }
    stated
}

fn outcome(kind: &Kind, broken: &Topology, plans: Plans, control: &Control) -> Result<Outcome, Failure> {
    let parts = match plans.parts {
        // Near the bound is not enough: different parts would hide what failures cost, or turn it into a gain.
        None if shares_vectors(kind) => Parts::Auto,
        stated => PartsArgument::or_enough(stated),
    };
    let goal = Goal { parts, seed: plans.seed, ..Goal::default() };
    let planned = Request::new(broken, kind.clone()).goal(goal).control(control.clone()).run();
    let verified: Verified<AnySolution> = match planned {
        Ok(planned) => plan::verified(planned.into_inner(), None)?,
        Err(PlanError::Disconnected(parts)) => {
            return Ok(Outcome::Disconnected { parts: parts.components.len() });
        }
        Err(error) => return Err(Failure::of_plan(&error, broken)),
    };
    let quality = Quality::new(&verified.problem, &verified.schedule, &verified.bounds);
    Ok(Outcome::Planned {
        steps: verified.schedule.step_count(),
        volume: exact(volume(&verified.problem, &verified.schedule)),
        bound: verified.bounds.volume.as_ref().map(|bound| exact(bound.at_least)),
        optimal: quality.volume.is_certified(),
        job: None,
    })
}
