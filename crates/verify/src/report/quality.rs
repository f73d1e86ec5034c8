//! How the figures of a schedule compare with its proven bounds.

use serde_json::{Value, json};

use super::collective::cut;
use super::figures::{decimal, exact, fine_percent, times};
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

/// How a figure compares with its lower bound; the number is its gap, as a share of the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// It meets its bound: nothing is better.
    Optimal,
    /// It is the bound rounded up to a whole width: nothing is better with the same number of parts.
    OptimalForParts(f64),
    /// It is above the bound, but a joint bound proves that nothing is better without being worse in the other figure,
    /// steps or volume.
    OptimalJointly(f64),
    /// It is above the bound.
    Above(f64),
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
}

impl Standing {
    /// True if no schedule with the same number of parts is better.
    pub fn is_certified(self) -> bool {
        matches!(self, Self::Optimal | Self::OptimalForParts(_))
    }

    fn jointly(self, proven: bool) -> Self {
        match self {
            Self::Above(above) if proven => Self::OptimalJointly(above),
            standing => standing,
        }
    }

    pub(super) fn words(self, problem: &Problem) -> String {
        match self {
            Self::Optimal => "certified optimal".to_owned(),
            Self::OptimalForParts(above) => {
                format!("certified optimal for {} ({} above the bound)", cut(problem), fine_percent(above))
            }
            Self::OptimalJointly(above) => {
                format!("certified the least in this many steps ({} above the bound)", fine_percent(above))
            }
            Self::Above(above) => format!("at most {} above the optimum", fine_percent(above)),
            Self::Unknown => String::new(),
        }
    }

    fn to_json(self) -> Value {
        match self {
            Self::Optimal => json!("optimal"),
            Self::OptimalForParts(_) => json!("optimal for parts"),
            Self::OptimalJointly(_) => json!("optimal jointly"),
            Self::Above(_) => json!("above"),
            Self::Unknown => Value::Null,
        }
    }

    /// The gap, as a share of the bound.
    pub fn gap(self) -> Option<f64> {
        match self {
            Self::Optimal => Some(0.0),
            Self::OptimalForParts(above) | Self::OptimalJointly(above) | Self::Above(above) => Some(above),
            Self::Unknown => None,
        }
    }
}

/// The volume of a schedule, exactly: the sum of its widths over the parts.
pub fn volume(problem: &Problem, schedule: &Schedule) -> Rational {
    Rational::new(i128::from(schedule.total_width()), i128::from(problem.parts()))
}

impl Quality {
    /// Compares a schedule with bounds that hold.
    pub fn new(problem: &Problem, schedule: &Schedule, bounds: &Bounds) -> Self {
        let steps = Rational::from(schedule.step_count() as i128);
        let steps_bound = bounds.steps.as_ref().map(|bound| Rational::from(i128::from(bound.at_least)));
        let volume_bound = bounds.volume.as_ref().map(|bound| bound.at_least);
        let least = Rational::new(i128::from(bounds.least_width(problem.parts())), i128::from(problem.parts()));
        let width = schedule.total_width();
        // Is it proven that `steps` steps need this width?
        let needed = |steps: usize, width: u64| {
            let steps = u32::try_from(steps).unwrap_or(u32::MAX);
            u64::from(bounds.least_width_in(steps, problem.parts())) >= width
        };
        let count = schedule.step_count();
        Self {
            steps: standing(steps, steps_bound, steps_bound).jointly(count > 0 && needed(count - 1, width + 1)),
            volume: standing(volume(problem, schedule), volume_bound, Some(least)).jointly(needed(count, width)),
        }
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
        })
    }
}

/// How a value compares with a bound, and with the least achievable value from the bound on.
fn standing(value: Rational, bound: Option<Rational>, least: Option<Rational>) -> Standing {
    let zero = Rational::from(0);
    match (bound, least) {
        _ if value == zero => Standing::Optimal,
        (Some(bound), _) if value == bound => Standing::Optimal,
        (Some(bound), Some(least)) if value > bound && bound > zero => {
            let above = times(value, bound) - 1.0;
            if value == least { Standing::OptimalForParts(above) } else { Standing::Above(above) }
        }
        _ => Standing::Unknown,
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
        let bound = Some(Rational::new(1024, 31));
        assert_eq!(
            standing(whole(34), bound, Some(whole(34))).words(&problem).split(" (").next(),
            Some("certified optimal for whole shards")
        );
        assert_eq!(standing(Rational::new(1024, 31), bound, Some(whole(34))), Standing::Optimal);
        assert!(matches!(standing(whole(35), bound, Some(whole(34))), Standing::Above(_)));
        assert_eq!(standing(whole(3), None, None), Standing::Unknown);
        assert_eq!(standing(whole(0), None, None), Standing::Optimal);
        assert_eq!(standing(whole(3), Some(whole(4)), Some(whole(4))), Standing::Unknown);
    }
}
