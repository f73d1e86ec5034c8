//! What may be claimed of a schedule or a job that holds: how its figures stand beside bounds that hold.
//!
//! Decided here, in exact arithmetic; [`report`](crate::report) puts it into words. Nothing may be claimed of what was
//! refuted or not judged: its bounds may be false.

#![warn(clippy::arithmetic_side_effects)]

mod job;

pub use job::JobQuality;

use collsynth_core::certificate::{Bounds, Rational, Scope};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Timetable;

/// How a figure compares with its lower bound. A claim of [`Scope::AnyParts`] is about all schedules, one of
/// [`Scope::TheseParts`] about those with the same number of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is better: it meets its bound, or the bound rounded up to a whole width.
    Optimal(Scope),
    /// It is above the bound, but a joint bound proves that nothing is better without being worse in the other figure,
    /// steps or volume.
    OptimalJointly(Scope),
    /// It is above the bound.
    Above(Scope),
    /// There is no bound.
    Unknown,
}

/// A figure beside the bound that it is claimed to be above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The figure.
    pub value: Rational,
    /// The bound, if there is one.
    pub bound: Option<Rational>,
    /// How the figure stands.
    pub standing: Standing,
}

/// How the steps and the volume of a schedule compare with their bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// The number of steps.
    pub steps: Figure,
    /// The volume, in messages.
    pub volume: Figure,
    /// The least volume that these parts allow: the bound rounded up to a whole width.
    pub least: Rational,
    /// Where the volume is above its bound: the greatest that a joint bound proves for as many steps, if that is more.
    pub in_steps: Option<Rational>,
}

impl Standing {
    /// True if no schedule with the same number of parts is better.
    pub fn is_certified(self) -> bool {
        matches!(self, Self::Optimal(_))
    }

    /// The schedules the claim is about.
    pub fn scope(self) -> Option<Scope> {
        match self {
            Self::Optimal(scope) | Self::OptimalJointly(scope) | Self::Above(scope) => Some(scope),
            Self::Unknown => None,
        }
    }

    fn jointly(self, proven: Option<Scope>) -> Self {
        match (self, proven) {
            (Self::Above(_), Some(scope)) => Self::OptimalJointly(scope),
            (standing, _) => standing,
        }
    }

    /// How a value compares with a bound, if there is one, and with the least achievable value with these parts.
    fn of(value: Rational, bound: Option<(Rational, Scope)>, least: Option<Rational>) -> Self {
        let zero = Rational::from(0);
        match bound {
            _ if value == zero => Self::Optimal(Scope::AnyParts),
            Some((bound, scope)) if value == bound => Self::Optimal(scope),
            // Nothing that holds is below its bound.
            Some((bound, _)) if value < bound || bound <= zero => Self::Unknown,
            Some(_) if Some(value) == least => Self::Optimal(Scope::TheseParts),
            Some((_, scope)) => Self::Above(scope),
            None => Self::Unknown,
        }
    }
}

impl Figure {
    fn new(value: Rational, bound: Option<(Rational, Scope)>, least: Option<Rational>) -> Self {
        Self { value, bound: bound.map(|(bound, _)| bound), standing: Standing::of(value, bound, least) }
    }

    /// True if no schedule with the same number of parts is better.
    pub fn is_certified(&self) -> bool {
        self.standing.is_certified()
    }

    /// True if the figure meets its bound exactly, so that no number of parts allows less.
    pub fn meets_bound(&self) -> bool {
        self.value == Rational::from(0) || self.bound == Some(self.value)
    }
}

impl Quality {
    /// Compares a schedule with bounds that hold.
    pub fn new(problem: &Problem, schedule: &impl Timetable, bounds: &Bounds) -> Self {
        Self::of(problem, schedule.step_count(), schedule.total_width(), bounds)
    }

    /// The same for a schedule of this many steps and this total width.
    pub fn of(problem: &Problem, count: usize, width: u64, bounds: &Bounds) -> Self {
        let parts = i128::from(problem.parts());
        let value = Rational::new(width.into(), parts);
        let steps = bounds.steps.as_ref().map(|bound| (i128::from(bound.at_least).into(), Scope::AnyParts));
        let mut steps = Figure::new(whole(count), steps, None);
        let least = Rational::new(bounds.least_width(problem.parts()).into(), parts);
        let volume = bounds.volume.as_ref().map(|bound| (bound.at_least, bound.scope()));
        let mut volume = Figure::new(value, volume, Some(least));
        steps.standing = steps.standing.jointly(needed(problem, bounds, count.checked_sub(1), width, true));
        volume.standing = volume.standing.jointly(needed(problem, bounds, Some(count), width, false));
        let known = volume.bound.unwrap_or(0.into());
        let in_steps = least_in_steps(bounds, count).filter(|&least| known < least && least < value);
        let in_steps = in_steps.filter(|_| matches!(volume.standing, Standing::Above(_)));
        Self { steps, volume, least, in_steps }
    }
}

impl Quality {
    /// Of what was refuted, nothing is claimed: not even that nothing is less than no step.
    pub fn of_refuted(problem: &Problem, schedule: &impl Timetable) -> Self {
        let mut quality = Self::new(problem, schedule, &Bounds::default());
        quality.steps.standing = Standing::Unknown;
        quality.volume.standing = Standing::Unknown;
        quality
    }
}

/// The volume of a schedule, exactly: the sum of its widths over the parts.
pub fn volume(problem: &Problem, schedule: &impl Timetable) -> Rational {
    Rational::new(i128::from(schedule.total_width()), i128::from(problem.parts()))
}

/// The greatest volume that joint bounds prove for as many steps, or more.
pub fn least_in_steps(bounds: &Bounds, steps: usize) -> Option<Rational> {
    bounds.joint.iter().filter(|bound| bound.steps as usize >= steps).map(|bound| bound.at_least).max()
}

/// Is it proven that a schedule of `steps` steps or fewer has at least this total width (more than it, if `strictly`),
/// and for which schedules?
fn needed(problem: &Problem, bounds: &Bounds, steps: Option<usize>, width: u64, strictly: bool) -> Option<Scope> {
    let steps = u32::try_from(steps?).ok()?;
    let volume = Rational::new(width.into(), problem.parts().into());
    // A bound just below the volume leaves room for schedules in more parts, even if for none in these.
    let proves = |least: Rational| least > volume || (least == volume && !strictly);
    let exactly = bounds.joint.iter().any(|bound| bound.steps >= steps && proves(bound.at_least));
    let least = u64::from(bounds.least_width_in(steps, problem.parts()));
    let rounded = if strictly { least > width } else { least >= width };
    if exactly { Some(Scope::AnyParts) } else { rounded.then_some(Scope::TheseParts) }
}

fn whole(count: usize) -> Rational {
    Rational::from(i128::try_from(count).unwrap_or(i128::MAX))
}

#[cfg(test)]
mod tests {
    use super::{Figure, Standing};
    use collsynth_core::certificate::Rational;
    use collsynth_core::certificate::Scope;

    #[test]
    fn standings() {
        let whole = |value: i128| Rational::from(value);
        let of = |value, bound, least| Figure::new(value, Some(bound), least).standing;
        let bound = (Rational::new(1024, 31), Scope::AnyParts);
        assert_eq!(of(whole(34), bound, Some(whole(34))), Standing::Optimal(Scope::TheseParts));
        assert_eq!(of(bound.0, bound, Some(whole(34))), Standing::Optimal(Scope::AnyParts));
        assert_eq!(of(whole(35), bound, Some(whole(34))), Standing::Above(Scope::AnyParts));
        assert_eq!(of(whole(34), (whole(34), Scope::TheseParts), None), Standing::Optimal(Scope::TheseParts));
        assert_eq!(of(whole(0), bound, None), Standing::Optimal(Scope::AnyParts));
        // What is below its bound, or has one of nothing, is not judged by it.
        assert_eq!(of(whole(3), (whole(4), Scope::AnyParts), Some(whole(4))), Standing::Unknown);
        assert_eq!(of(whole(3), (whole(0), Scope::AnyParts), Some(whole(3))), Standing::Unknown);
        assert_eq!(Figure::new(whole(3), None, Some(whole(3))).standing, Standing::Unknown);
        // Neighbors of the largest fractions.
        let most = i128::MAX;
        let near = (Rational::new(most, most - 1), Scope::AnyParts);
        assert_eq!(of(whole(1), near, Some(whole(2))), Standing::Unknown);
        assert_eq!(of(whole(2), near, Some(whole(2))), Standing::Optimal(Scope::TheseParts));
    }
}
