//! How the figures of a schedule compare with its proven bounds.

use serde_json::{Value, json};

use super::collective::cut;
use super::figures::{decimal, exact, fine_percent, times};
use collsynth_core::certificate::{Bounds, Rational, Scope, VolumeBound};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Timetable;

/// How a figure compares with its lower bound; the number is its gap, as a share of the bound. A claim of
/// [`Scope::AnyParts`] is about all schedules, one of [`Scope::TheseParts`] about those with the same number of parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Nothing is better: it meets its bound, or the bound rounded up to a whole width.
    Optimal(Scope, f64),
    /// It is above the bound, but a joint bound proves that nothing is better without being worse in the other figure,
    /// steps or volume.
    OptimalJointly(Scope, f64),
    /// It is above the bound.
    Above(Scope, f64),
    /// There is no bound.
    Unknown,
}

/// How the steps and the volume of a schedule compare with their bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// The number of steps.
    pub steps: Standing,
    /// The volume.
    pub volume: Standing,
    /// Where the volume is above its bound: the greatest that a joint bound proves for as many steps, if that is more.
    pub in_steps: Option<Rational>,
}

impl Standing {
    /// True if no schedule with the same number of parts is better.
    pub fn is_certified(self) -> bool {
        matches!(self, Self::Optimal(..))
    }

    /// The gap, as a share of the bound.
    pub fn gap(self) -> Option<f64> {
        match self {
            Self::Optimal(_, above) | Self::OptimalJointly(_, above) | Self::Above(_, above) => Some(above),
            Self::Unknown => None,
        }
    }

    /// The schedules the claim is about.
    pub fn scope(self) -> Option<Scope> {
        match self {
            Self::Optimal(scope, _) | Self::OptimalJointly(scope, _) | Self::Above(scope, _) => Some(scope),
            Self::Unknown => None,
        }
    }

    fn jointly(self, proven: Option<Scope>) -> Self {
        match (self, proven) {
            (Self::Above(_, above), Some(scope)) => Self::OptimalJointly(scope, above),
            (standing, _) => standing,
        }
    }

    /// The claim about the number of steps in words.
    pub(super) fn of_steps(self, problem: &Problem, steps: usize, bound: Option<u32>) -> String {
        let above = || format!("{} above the bound", steps as i64 - i64::from(bound.unwrap_or(0)));
        match self {
            Self::Optimal(scope, _) => format!("certified optimal{}", named(scope, problem)),
            Self::OptimalJointly(scope, _) => {
                format!("certified the fewest at this volume{} ({})", named(scope, problem), above())
            }
            Self::Above(..) => above(),
            Self::Unknown => String::new(),
        }
    }

    /// The claim about a volume in words; `least` is the bound rounded up to a whole width, `bound_for` what the bound
    /// holds for: one for these parts says nothing about more.
    pub(super) fn of_volume(
        self,
        problem: &Problem,
        volume: Rational,
        least: Rational,
        bound_for: Option<Scope>,
    ) -> String {
        match self {
            Self::Optimal(scope, 0.0) => format!("certified optimal{}", named(scope, problem)),
            Self::Optimal(scope, _) if bound_for == Some(Scope::TheseParts) => {
                format!("certified optimal{}", named(scope, problem))
            }
            Self::Optimal(scope, above) => {
                format!("certified optimal{}; more parts allow {} volume", named(scope, problem), up_to(above))
            }
            Self::OptimalJointly(scope, above) => {
                let (parts, above) = (named(scope, problem), fine_percent(above));
                format!("certified the least in this many steps{parts} ({above} above the bound)")
            }
            // The bound for any parts says little of these where it is below one width.
            Self::Above(Scope::AnyParts, above) if least > Rational::from(0) && times(volume, least) < 1.0 + above => {
                let cut = named(Scope::TheseParts, problem);
                format!(
                    "at most {} the optimum{cut}; more parts allow {} volume",
                    over(times(volume, least) - 1.0),
                    up_to(above)
                )
            }
            Self::Above(scope, above) => format!("at most {} the optimum{}", over(above), named(scope, problem)),
            Self::Unknown => String::new(),
        }
    }

    fn to_json(self) -> Value {
        match self {
            Self::Optimal(Scope::AnyParts, _) => json!("optimal"),
            Self::Optimal(Scope::TheseParts, _) => json!("optimal for parts"),
            Self::OptimalJointly(Scope::AnyParts, _) => json!("optimal jointly"),
            Self::OptimalJointly(Scope::TheseParts, _) => json!("optimal jointly for parts"),
            Self::Above(..) => json!("above"),
            Self::Unknown => Value::Null,
        }
    }
}

/// How much less a bound is that a value exceeds by this share of it: `up to 2.8 % less`, `up to 16x less`.
fn up_to(above: f64) -> String {
    match above < 1.0 {
        true => format!("up to {} less", fine_percent(above / (1.0 + above))),
        false => format!("up to {}x less", ratio(1.0 + above)),
    }
}

/// How far a value may be above an optimum: `50 % above`, `2.5x`.
fn over(above: f64) -> String {
    if above < 1.0 { format!("{} above", fine_percent(above)) } else { format!("{}x", ratio(1.0 + above)) }
}

/// One decimal, unless it is zero or hides in the size: `2.5`, `16`.
fn ratio(value: f64) -> String {
    let text = if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The schedules a claim is about, where it is not about all: ` for whole messages`.
pub fn named(scope: Scope, problem: &Problem) -> String {
    match scope {
        Scope::AnyParts => String::new(),
        Scope::TheseParts => format!(" for {}", cut(problem)),
    }
}

/// A scope in JSON.
pub fn scope_to_json(scope: Option<Scope>) -> Value {
    match scope {
        Some(Scope::AnyParts) => json!("any parts"),
        Some(Scope::TheseParts) => json!("these parts"),
        None => Value::Null,
    }
}

/// The volume of a schedule, exactly: the sum of its widths over the parts.
pub fn volume(problem: &Problem, schedule: &impl Timetable) -> Rational {
    Rational::new(i128::from(schedule.total_width()), i128::from(problem.parts()))
}

impl Quality {
    /// Compares a schedule with bounds that hold.
    pub fn new(problem: &Problem, schedule: &impl Timetable, bounds: &Bounds) -> Self {
        Self::of(problem, schedule.step_count(), schedule.total_width(), bounds)
    }

    /// The same for a schedule of this many steps and this total width.
    pub fn of(problem: &Problem, count: usize, width: u64, bounds: &Bounds) -> Self {
        let volume = Rational::new(width.into(), problem.parts().into());
        let steps = match &bounds.steps {
            Some(bound) => {
                standing(Rational::from(count as i128), (i128::from(bound.at_least).into(), Scope::AnyParts), None)
            }
            None if count == 0 => Standing::Optimal(Scope::AnyParts, 0.0),
            None => Standing::Unknown,
        };
        let least = Rational::new(bounds.least_width(problem.parts()).into(), problem.parts().into());
        let volumes = match &bounds.volume {
            Some(bound) => standing(volume, (bound.at_least, bound.scope()), Some(least)),
            None if volume == Rational::from(0) => Standing::Optimal(Scope::AnyParts, 0.0),
            None => Standing::Unknown,
        };
        let volumes = volumes.jointly(needed(problem, bounds, Some(count), width, false));
        let known = bounds.volume.as_ref().map_or(0.into(), |bound| bound.at_least);
        let in_steps = least_in_steps(bounds, count).filter(|&least| least > known);
        Self {
            steps: steps.jointly(needed(problem, bounds, count.checked_sub(1), width, true)),
            volume: volumes,
            in_steps: in_steps.filter(|&least| matches!(volumes, Standing::Above(..)) && least < volume),
        }
    }

    /// The claim about the volume in as many steps in words, if there is one.
    pub(super) fn of_volume_in_steps(&self, steps: usize, volume: Rational) -> Option<String> {
        self.in_steps.map(|least| format!("at most {} the least in {steps} steps", over(times(volume, least) - 1.0)))
    }

    /// The steps, their bound and their standing.
    pub fn steps_to_json(&self, steps: usize, bounds: &Bounds) -> Value {
        json!({
            "value": steps,
            "bound": bounds.steps.as_ref().map(|bound| bound.at_least),
            "standing": self.steps.to_json(),
            "gap": self.steps.gap(),
        })
    }

    /// The volume, its bound and its standing.
    pub fn volume_to_json(&self, volume: Rational, bounds: &Bounds) -> Value {
        json!({
            "value": exact(volume),
            "decimal": decimal(volume),
            "bound": bounds.volume.as_ref().map(|bound| exact(bound.at_least)),
            "bound_decimal": bounds.volume.as_ref().map(|bound| decimal(bound.at_least)),
            "standing": self.volume.to_json(),
            "gap": self.volume.gap(),
            "bound_for": scope_to_json(bounds.volume.as_ref().map(VolumeBound::scope)),
            "bound_in_steps": self.in_steps.map(exact),
            "gap_in_steps": self.in_steps.map(|least| times(volume, least) - 1.0),
        })
    }
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
    let rounded = u64::from(bounds.least_width_in(steps, problem.parts())) >= width + u64::from(strictly);
    if exactly { Some(Scope::AnyParts) } else { rounded.then_some(Scope::TheseParts) }
}

/// How a value compares with a bound, and with the least achievable value with these parts.
fn standing(value: Rational, (bound, scope): (Rational, Scope), least: Option<Rational>) -> Standing {
    let zero = Rational::from(0);
    if value == zero {
        Standing::Optimal(Scope::AnyParts, 0.0)
    } else if value == bound {
        Standing::Optimal(scope, 0.0)
    } else if value < bound || bound <= zero {
        Standing::Unknown
    } else if Some(value) == least {
        Standing::Optimal(Scope::TheseParts, times(value, bound) - 1.0)
    } else {
        Standing::Above(scope, times(value, bound) - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;

    #[test]
    fn standings() {
        let whole = |value: i128| Rational::from(value);
        let problem = Problem::new(Topology::torus(&[2]).unwrap(), Collective::new(Kind::AllGather)).unwrap();
        let bound = (Rational::new(1024, 31), Scope::AnyParts);
        let words = |value: Rational, bound, least: i128| {
            standing(value, bound, Some(whole(least))).of_volume(&problem, value, whole(least), Some(bound.1))
        };
        let rounded = words(whole(34), bound, 34);
        assert_eq!(rounded, "certified optimal for whole shards; more parts allow up to 2.8 % less volume");
        assert_eq!(standing(bound.0, bound, Some(whole(34))), Standing::Optimal(Scope::AnyParts, 0.0));
        assert!(matches!(standing(whole(35), bound, Some(whole(34))), Standing::Above(Scope::AnyParts, _)));
        let narrow = (whole(34), Scope::TheseParts);
        assert_eq!(words(whole(34), narrow, 34), "certified optimal for whole shards");
        // A bound for these parts says nothing of more.
        assert_eq!(words(whole(34), (bound.0, Scope::TheseParts), 34), "certified optimal for whole shards");
        assert_eq!(words(whole(51), narrow, 34), "at most 50 % above the optimum for whole shards");
        // A bound far below one width: what these parts can reach, and what more would.
        let fine = (Rational::new(1, 4), Scope::AnyParts);
        assert_eq!(
            words(whole(1), fine, 1),
            "certified optimal for whole shards; more parts allow up to 4x less volume"
        );
        let twice = "at most 2x the optimum for whole shards; more parts allow up to 8x less volume";
        assert_eq!(words(whole(2), fine, 1), twice);
        assert_eq!(words(whole(3), (whole(2), Scope::AnyParts), 2), "at most 50 % above the optimum");
        assert_eq!(standing(whole(0), bound, None), Standing::Optimal(Scope::AnyParts, 0.0));
        assert_eq!(standing(whole(3), (whole(4), Scope::AnyParts), Some(whole(4))), Standing::Unknown);
    }
}
