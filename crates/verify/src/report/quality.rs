//! How the figures of a schedule compare with its proven bounds, in words and JSON; `claim` decides it.
//!
//! What stands after "at most" and "up to" is rounded away from the claim, from the exact fraction: a schedule of 2.04
//! times the optimum is at most 2.1 times, and none that is above its bound is "at most 0.00 % above".

use serde_json::{Value, json};

use super::collective::cut;
use super::figures::{decimal, exact, times};
use crate::claim::{Figure, JobQuality, Quality, Standing};
use crate::verify::{Verified, VerifiedJob};
use collsynth_core::certificate::{Bounds, Rational, Scope, VolumeBound};
use collsynth_core::exact::{ratio_up, share_down};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Solution, Timetable};

impl Standing {
    fn to_json(self) -> Value {
        match self {
            Self::Optimal(Scope::AnyParts) => json!("optimal"),
            Self::Optimal(Scope::TheseParts) => json!("optimal for parts"),
            Self::OptimalJointly(Scope::AnyParts) => json!("optimal jointly"),
            Self::OptimalJointly(Scope::TheseParts) => json!("optimal jointly for parts"),
            Self::Above(_) => json!("above"),
            Self::Unknown => Value::Null,
        }
    }
}

impl<S: Timetable> Verified<Solution<S>> {
    /// Its steps and its volume beside their bounds, which hold.
    pub fn quality(&self) -> Quality {
        Quality::new(&self.problem, &self.schedule, &self.bounds)
    }
}

impl VerifiedJob {
    /// Its steps and its total width beside their bounds, which hold.
    pub fn quality(&self) -> JobQuality {
        JobQuality::new(self)
    }
}

impl Figure {
    /// How far the figure is above its bound, as a share of the bound; `None` without a standing.
    pub fn gap(&self) -> Option<f64> {
        match (self.standing, self.bound) {
            (Standing::Unknown, _) => None,
            (_, Some(bound)) if !self.meets_bound() => Some(times(self.value, bound) - 1.0),
            _ => Some(0.0),
        }
    }

    /// The claim about the number of steps in words.
    pub(super) fn of_steps(&self, problem: &Problem) -> String {
        let above = || format!("{} above the bound", self.value - self.bound.unwrap_or(0.into()));
        match self.standing {
            Standing::Optimal(scope) => format!("certified optimal{}", named(scope, problem)),
            Standing::OptimalJointly(scope) => {
                format!("certified the fewest at this volume{} ({})", named(scope, problem), above())
            }
            Standing::Above(_) => above(),
            Standing::Unknown => String::new(),
        }
    }
}

impl Quality {
    /// The claim about the volume in words; `bound_for` is what its bound holds for: one for these parts says nothing
    /// about more.
    pub(super) fn of_volume(&self, problem: &Problem, bound_for: Option<Scope>) -> String {
        let Figure { value, bound, standing } = self.volume;
        let bound = bound.unwrap_or(0.into());
        let more_parts =
            || up_to(value, bound).map_or(String::new(), |less| format!("; more parts allow {less} volume"));
        match standing {
            Standing::Optimal(scope) if self.volume.meets_bound() || bound_for == Some(Scope::TheseParts) => {
                format!("certified optimal{}", named(scope, problem))
            }
            Standing::Optimal(scope) => format!("certified optimal{}{}", named(scope, problem), more_parts()),
            Standing::OptimalJointly(scope) => {
                let above = above(value, bound).map_or(String::new(), |above| format!(" ({above} above the bound)"));
                format!("certified the least in this many steps{}{above}", named(scope, problem))
            }
            // The bound for any parts says little of these where it is below one width.
            Standing::Above(Scope::AnyParts) if bound < self.least => {
                let cut = named(Scope::TheseParts, problem);
                format!("{} the optimum{cut}{}", at_most(value, self.least), more_parts())
            }
            Standing::Above(scope) => format!("{} the optimum{}", at_most(value, bound), named(scope, problem)),
            Standing::Unknown => String::new(),
        }
    }

    /// The claim about the volume in as many steps in words, if there is one.
    pub(super) fn of_volume_in_steps(&self, steps: usize) -> Option<String> {
        self.in_steps.map(|least| format!("{} the least in {steps} steps", at_most(self.volume.value, least)))
    }

    /// The steps, their bound and their standing.
    pub fn steps_to_json(&self, steps: usize, bounds: &Bounds) -> Value {
        json!({
            "value": steps,
            "bound": bounds.steps.as_ref().map(|bound| bound.at_least),
            "standing": self.steps.standing.to_json(),
            "gap": self.steps.gap(),
        })
    }

    /// The volume, its bound and its standing.
    pub fn volume_to_json(&self, bounds: &Bounds) -> Value {
        let volume = self.volume.value;
        json!({
            "value": exact(volume),
            "decimal": decimal(volume),
            "bound": bounds.volume.as_ref().map(|bound| exact(bound.at_least)),
            "bound_decimal": bounds.volume.as_ref().map(|bound| decimal(bound.at_least)),
            "standing": self.volume.standing.to_json(),
            "gap": self.volume.gap(),
            "bound_for": scope_to_json(bounds.volume.as_ref().map(VolumeBound::scope)),
            "bound_in_steps": self.in_steps.map(exact),
            "gap_in_steps": self.in_steps.map(|least| times(volume, least) - 1.0),
        })
    }
}

/// How far a value may be above an optimum that is at least the bound: `at most 50 % above`, `at most 2.5x`; `above`
/// where no number can be told.
fn at_most(value: Rational, bound: Rational) -> String {
    match (ratio_up(value, bound, 10), above(value, bound)) {
        (Some(tenths), _) if tenths >= 20 => format!("at most {}x", ratio(value, bound, tenths)),
        (_, Some(above)) => format!("at most {above} above"),
        _ => "above".to_owned(),
    }
}

/// How much less than a value a bound is: `up to 2.8 % less`, `up to 16x less`.
fn up_to(value: Rational, bound: Rational) -> Option<String> {
    match ratio_up(value, bound, 10)? {
        tenths if tenths >= 20 => Some(format!("up to {}x less", ratio(value, bound, tenths))),
        _ => {
            let less =
                |scale: u32| share_down(bound, value, scale).map(|share| u128::from(scale).saturating_sub(share));
            percent_up(less).map(|percent| format!("up to {percent} less"))
        }
    }
}

/// The share of a bound that a value is above it, rounded up: `2.9 %`.
pub(super) fn above(value: Rational, bound: Rational) -> Option<String> {
    percent_up(|scale| ratio_up(value, bound, scale)?.checked_sub(scale.into()))
}

/// A share in percent, in as many digits as [`fine_percent`](super::figures::fine_percent) gives it, given how many
/// units of `1 / scale` it has, rounded up.
fn percent_up(units: impl Fn(u32) -> Option<u128>) -> Option<String> {
    Some(match units(10_000)? {
        hundredths if hundredths < 10 => format!("0.{hundredths:02} %"),
        _ => match units(1000)? {
            tenths if tenths < 100 => format!("{}.{} %", tenths / 10, tenths % 10),
            _ => format!("{} %", units(100)?),
        },
    })
}

/// A ratio of at least 2, rounded up: one decimal, unless it is zero or hides in the size: `2.5`, `16`.
fn ratio(value: Rational, bound: Rational, tenths: u128) -> String {
    match tenths < 100 && !tenths.is_multiple_of(10) {
        true => format!("{}.{}", tenths / 10, tenths % 10),
        false => ratio_up(value, bound, 1).unwrap_or(tenths.div_ceil(10)).to_string(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::certificate::Evidence;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::{RankId, Topology};

    /// What is said of a volume of `width` widths in these parts.
    fn words(parts: u32, width: u64, at_least: Rational, over_time: bool) -> String {
        let collective = Collective { kind: Kind::AllGather, parts };
        let problem = Problem::new(Topology::torus(&[2]).unwrap(), collective).unwrap();
        let evidence = match over_time {
            true => Evidence::MetricOverTime { width: 1, rank: None, weights: vec![] },
            false => Evidence::Cut { ranks: vec![RankId(0)] },
        };
        let bounds = Bounds { volume: Some(VolumeBound { at_least, evidence }), ..Bounds::default() };
        let bound_for = bounds.volume.as_ref().map(VolumeBound::scope);
        Quality::of(&problem, 1, width, &bounds).of_volume(&problem, bound_for)
    }

    #[test]
    fn claims_in_words() {
        let whole = |width, at_least| words(1, width, at_least, false);
        let bound = Rational::new(1024, 31);
        assert_eq!(whole(34, bound), "certified optimal for whole shards; more parts allow up to 2.9 % less volume");
        assert_eq!(whole(34, 34.into()), "certified optimal");
        // A bound for these parts says nothing of more.
        assert_eq!(words(1, 34, bound, true), "certified optimal for whole shards");
        assert_eq!(words(1, 51, 34.into(), true), "at most 50 % above the optimum for whole shards");
        // A bound far below one width: what these parts can reach, and what more would.
        let fine = Rational::new(1, 4);
        assert_eq!(whole(1, fine), "certified optimal for whole shards; more parts allow up to 4x less volume");
        let twice = "at most 2x the optimum for whole shards; more parts allow up to 8x less volume";
        assert_eq!(whole(2, fine), twice);
        assert_eq!(whole(3, 2.into()), "at most 50 % above the optimum");
    }

    /// What stands after "at most" is never below the truth, and no gap is rounded to nothing.
    #[test]
    fn claims_are_rounded_away() {
        let of = |width, parts, at_least| words(parts, width, at_least, false);
        assert_eq!(of(51, 25, 1.into()), "at most 2.1x the optimum");
        assert_eq!(of(30_001, 30_000, 1.into()), "at most 0.01 % above the optimum");
        assert_eq!(of(1029, 1000, 1.into()), "at most 2.9 % above the optimum");
        assert_eq!(of(10_291, 10_000, 1.into()), "at most 3.0 % above the optimum");
        assert_eq!(of(11_001, 10_000, 1.into()), "at most 11 % above the optimum");
        assert_eq!(of(19_999, 10_000, 1.into()), "at most 2x the optimum");
        assert_eq!(of(10_001, 1000, 1.into()), "at most 11x the optimum");
        assert_eq!(
            of(3, 1, Rational::new(i128::MAX - 1, i128::MAX)),
            "at most 3x the optimum for whole shards; more parts allow up to 3.1x less volume"
        );
        assert_eq!(of(1, 1, Rational::new(1, i128::MAX)), "certified optimal for whole shards");
    }

    /// Every percentage against the exact fraction.
    #[test]
    fn percentages_are_the_least_that_are_enough() {
        for (value, bound) in (1_i32..400).flat_map(|bound| (bound + 1..2 * bound).map(move |value| (value, bound))) {
            let text = above(i128::from(value).into(), i128::from(bound).into()).unwrap();
            let number: f64 = text.strip_suffix(" %").unwrap().parse().unwrap();
            let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len() - 2).try_into().unwrap();
            let (exactly, unit) = (100.0 * f64::from(value - bound) / f64::from(bound), 0.1_f64.powi(digits));
            assert!(number >= exactly - 1e-9 && number < exactly + unit - 1e-9, "{value} over {bound}: {text}");
        }
    }
}
