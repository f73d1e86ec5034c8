//! How the figures of a job stand beside its bounds.

use super::{Figure, whole};
use collsynth_core::certificate::{Rational, Scope};
use collsynth_core::schedule::Job;

/// How the steps and the total width of a job compare with their bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobQuality {
    /// The steps, beside the least that its collectives need. The claim is about all jobs of these collectives.
    pub steps: Figure,
    /// The total width, beside the best of the bound of the job, those of each collective, and a width of 1 for each
    /// step. The claim is about these parts.
    pub width: Figure,
}

impl JobQuality {
    /// Compares a job with bounds that hold.
    pub fn new(job: &Job) -> Self {
        let alone = job.solutions().iter().map(|solution| solution.bounds.least_width(solution.problem.parts()));
        let least_width = alone.fold(job.bound.as_ref().map_or(0, |bound| bound.least_width()), u32::max);
        let figure =
            |value, least: u32, scope| Figure::new(value, Some((Rational::from(i128::from(least)), scope)), None);
        Self {
            steps: figure(whole(job.widths().len()), job.least_steps(), Scope::AnyParts),
            width: figure(i128::from(job.total_width()).into(), least_width, Scope::TheseParts),
        }
    }
}
