//! The problems of a job and what bounds them, in messages cut so far.

use collsynth_core::certificate::{Bounds, JobBound};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Job, JobError, Schedule, Solution};

use super::cut::problem_in_pieces;
use super::{JobGoal, NAME};
use crate::engine::parts::as_float;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::task::Task;
use collsynth_bound as bound;

/// Problems and what bounds them.
pub(super) struct Prospect {
    pub problems: Vec<Problem>,
    /// Of each alone.
    bounds: Vec<Bounds>,
    /// Of all together.
    bound: Option<JobBound>,
}

impl Prospect {
    pub fn new(problems: Vec<Problem>, control: &Control) -> Result<Self, PlanError> {
        let refuse = |error: JobError| PlanError::NotApplicable { planner: NAME, reason: error.to_string() };
        let first = problems.first().ok_or_else(|| refuse(JobError::Empty))?;
        if let Some(index) = problems.iter().position(|problem| problem.machine() != first.machine()) {
            return Err(refuse(JobError::OtherMachine { index }));
        }
        let bounds = problems.iter().map(|problem| control.bounds(problem)).collect::<Result<Vec<Bounds>, _>>()?;
        let bound = bound::of_job(&problems, &bounds, &control.halfway().limit());
        Ok(Self { problems, bounds, bound })
    }

    /// Refuses steps that are too few for one of the collectives, whoever plans.
    pub fn check_steps(&self, goal: &JobGoal) -> Result<(), PlanError> {
        let check = |(problem, bounds)| {
            let task = Task { steps: goal.steps, max_steps: goal.max_steps, ..Task::new(problem, bounds) };
            task.steps_or(0).map(|_| ())
        };
        self.problems.iter().zip(&self.bounds).try_for_each(check)
    }

    /// The same with messages cut in this many parts: what links must carry grows alike, unless some cannot be cut.
    pub fn cut(&self, cut: u32, control: &Control) -> Result<Self, PlanError> {
        let problems =
            self.problems.iter().map(|problem| problem_in_pieces(problem, cut)).collect::<Result<Vec<_>, _>>()?;
        if !self.problems.iter().all(|problem| problem.collective().kind.has_volume()) {
            return Self::new(problems, control);
        }
        let bounds = problems.iter().map(|problem| control.bounds(problem)).collect::<Result<_, _>>()?;
        let scaled = |bound: &JobBound| JobBound { at_least: bound.at_least * i128::from(cut), ..bound.clone() };
        Ok(Self { problems, bounds, bound: self.bound.as_ref().map(scaled) })
    }

    /// The first power of two by which messages can be cut so that a unit of width is at most this share of the total;
    /// the largest, if none does.
    pub fn fine_cut(&self, share: f64, can_cut: impl Fn(u32) -> bool) -> u32 {
        let is_coarse = |cut: u32| share * self.least_volume() * f64::from(cut) < 1.0;
        let mut cut = 1;
        while is_coarse(cut) && cut.checked_mul(2).is_some_and(&can_cut) {
            cut *= 2;
        }
        cut
    }

    pub fn least_width(&self) -> u32 {
        let alone = self.problems.iter().zip(&self.bounds).map(|(problem, of)| of.least_width(problem.parts()));
        alone.fold(self.bound.as_ref().map_or(0, |bound| bound.least_width()), u32::max)
    }

    /// The same if steps took no width, and messages could be cut as finely as one likes.
    pub fn least_volume(&self) -> f64 {
        let alone = self.problems.iter().zip(&self.bounds).filter_map(|(problem, bounds)| {
            bounds.volume.as_ref().map(|bound| as_float(bound.at_least) * f64::from(problem.parts()))
        });
        alone.fold(self.bound.as_ref().map_or(0.0, |bound| as_float(bound.at_least)), f64::max)
    }

    pub fn into_job(self, schedules: Vec<Schedule>) -> Result<Job, JobError> {
        let each = self.problems.into_iter().zip(schedules).zip(self.bounds);
        let solution = |((problem, schedule), bounds)| Solution { problem, schedule, bounds, origin: None };
        Job::new(each.map(solution).collect(), self.bound, None)
    }
}
