//! What the verdict on a file that holds may claim: how its figures stand beside the bounds in the file.
//!
//! By docs/use/command-line.md (`standing`, `gap`, `bound_for`), docs/formats/schedule-format.md (what bounds of jobs
//! mean) and docs/glossary.md. All claims in the file are proven here: otherwise it would not hold.

use std::cmp::Ordering;

use num_bigint::BigUint;
use serde_json::{Value, json};

use super::outcome::Judged;
use super::together::Job;
use crate::naive::evidence::certificate::Claim as Bound;
use crate::naive::fraction::Fraction;
use crate::naive::opinion::{Claim, Opinion};
use crate::naive::stated::file::File;

/// What is said of a schedule.
pub fn of_schedule(file: &File, bounds: &[Bound], opinion: &mut Opinion) {
    let (steps, width) = (file.steps.len() as u64, file.width());
    let volume = Fraction::new(width, file.task.parts);
    let of_steps = bounds.iter().find(|bound| bound.kind == "steps");
    let of_volume = bounds.iter().find(|bound| !["steps", "joint"].contains(&&bound.kind[..]));
    let joint = |least: u64| bounds.iter().filter(move |bound| bound.steps.is_some_and(|steps| steps >= least));
    // Joint bounds on schedules of one step less, and of as many.
    let fewer = |proves: &dyn Fn(&Fraction) -> bool| steps > 0 && joint(steps - 1).any(|bound| proves(&bound.at_least));
    let as_many = |proves: &dyn Fn(&Fraction) -> bool| joint(steps).any(|bound| proves(&bound.at_least));
    // Of these parts: whole, and each step has a width of at least 1.
    let needed = of_steps.map_or(BigUint::ZERO, |bound| bound.at_least.rounded_up(1));
    let least = |bound: &Fraction| bound.rounded_up(file.task.parts).max(needed.clone());

    let few = Fraction::new(steps, 1u8);
    let met = of_steps.map(|bound| few.compare(&bound.at_least));
    let jointly = match () {
        () if fewer(&|bound| bound.compare(&volume) == Ordering::Greater) => Some("optimal jointly"),
        () if fewer(&|bound| least(bound) > BigUint::from(width)) => Some("optimal jointly for parts"),
        () => None,
    };
    let standing = match met {
        _ if steps == 0 => Some("optimal"),
        Some(Ordering::Equal) => Some("optimal"),
        Some(Ordering::Greater) if is_zero(of_steps) => None,
        Some(Ordering::Greater) => Some(jointly.unwrap_or("above")),
        _ => None,
    };
    opinion.say("/figures/steps/value", json!(steps));
    opinion.say("/figures/steps/standing", json!(standing));
    opinion.say("/figures/steps/bound", of_steps.map_or(Value::Null, |bound| whole(&bound.at_least)));
    gap(&few, of_steps, standing.is_some(), "/figures/steps/gap", opinion);
    opinion.reached.extend(standing.map(|standing| format!("steps {standing}")));

    let narrow = of_volume.is_some_and(|bound| bound.kind == "metric_over_time");
    let jointly = match () {
        () if as_many(&|bound| bound.compare(&volume) != Ordering::Less) => Some("optimal jointly"),
        () if as_many(&|bound| least(bound) >= BigUint::from(width)) => Some("optimal jointly for parts"),
        () => None,
    };
    let met = of_volume.map(|bound| volume.compare(&bound.at_least));
    let rounded = of_volume.is_some_and(|bound| least(&bound.at_least) == BigUint::from(width));
    let standing = match met {
        _ if width == 0 => Some("optimal"),
        Some(Ordering::Equal) if !narrow => Some("optimal"),
        Some(Ordering::Equal) => Some("optimal for parts"),
        Some(Ordering::Greater) if is_zero(of_volume) => None,
        Some(Ordering::Greater) if rounded => Some("optimal for parts"),
        Some(Ordering::Greater) => Some(jointly.unwrap_or("above")),
        _ => None,
    };
    opinion.say("/figures/volume/value", exact(&volume));
    opinion.say("/figures/volume/standing", json!(standing));
    opinion.say("/figures/volume/bound", of_volume.map_or(Value::Null, |bound| exact(&bound.at_least)));
    let bound_for = of_volume.map(|_| if narrow { "these parts" } else { "any parts" });
    opinion.say("/figures/volume/bound_for", json!(bound_for));
    gap(&volume, of_volume, standing.is_some(), "/figures/volume/gap", opinion);
    opinion.reached.extend(standing.map(|standing| format!("volume {standing}")));

    let known = of_volume.map_or(Fraction::new(0u8, 1u8), |bound| bound.at_least.clone());
    let in_steps = joint(steps).map(|bound| &bound.at_least).max_by(|one, other| one.compare(other));
    let in_steps = in_steps.filter(|least| {
        standing == Some("above")
            && least.compare(&known) == Ordering::Greater
            && least.compare(&volume) == Ordering::Less
    });
    opinion.say("/figures/volume/bound_in_steps", in_steps.map_or(Value::Null, exact));
    if let Some(bound) = of_volume.filter(|bound| standing.is_some() && !is_zero(Some(bound))) {
        words(&volume, &bound.at_least, &Fraction::new(least(&bound.at_least), file.task.parts), opinion);
    }
    if let Some(least) = in_steps {
        over(&volume, least, least, [("at most ", " % above the least in"), ("at most ", "x the least in")], opinion);
    }
}

/// What the text says of a volume above its bound, or above the least for these parts.
fn words(volume: &Fraction, bound: &Fraction, least: &Fraction, opinion: &mut Opinion) {
    if bound.compare(volume) == Ordering::Greater {
        return;
    }
    // Said of these parts, or of any.
    over(volume, least, bound, [("at most ", " % above the optimum for"), ("at most ", "x the optimum for")], opinion);
    over(volume, bound, bound, [("at most ", " % above the optimum"), ("at most ", "x the optimum")], opinion);
    let share = volume.less(bound).over(volume);
    let percent = Fraction::new(share.top * 100u8, share.bottom);
    opinion.claims.push(Claim::Says("up to ", " % less", percent.clone(), percent));
    opinion.claims.push(Claim::Says("up to ", "x less", volume.over(bound), volume.over(bound)));
}

/// Two ways to say that a volume is above a bound, and at the most above another.
fn over(
    volume: &Fraction,
    least: &Fraction,
    most: &Fraction,
    ways: [(&'static str, &'static str); 2],
    opinion: &mut Opinion,
) {
    let percent = |bound: &Fraction| {
        let above = volume.less(bound).over(bound);
        Fraction::new(above.top * 100u8, above.bottom)
    };
    if least.compare(volume) == Ordering::Greater {
        return;
    }
    let [(before, after), (before_times, after_times)] = ways;
    opinion.claims.push(Claim::Says(before, after, percent(least), percent(most)));
    opinion.claims.push(Claim::Says(before_times, after_times, volume.over(least), volume.over(most)));
}

/// What is said of a job.
pub fn of_job(job: &Job, all: &[Judged], opinion: &mut Opinion) {
    let widths = job.widths();
    let (steps, width): (u64, u64) = (widths.len() as u64, widths.iter().sum());
    let of = |judged: &Judged, steps: bool| {
        let fits = move |bound: &&Bound| (bound.kind == "steps") == steps && bound.kind != "joint";
        judged.bounds.iter().find(fits).map(|bound| bound.at_least.clone())
    };
    for (index, (file, judged)) in job.files.iter().zip(all).enumerate() {
        let steps = of(judged, true).map_or(BigUint::ZERO, |bound| bound.rounded_up(1));
        let alone = of(judged, false).map_or(BigUint::ZERO, |bound| bound.rounded_up(file.task.parts)).max(steps);
        let pointer = format!("/figures/schedules/{index}/at_least_alone");
        opinion.say(&pointer, whole(&Fraction::new(alone, 1u8)));
    }
    let least_steps = all.iter().filter_map(|judged| of(judged, true)).map(|bound| bound.rounded_up(1)).max();
    let alone = |(file, judged): (&File, &Judged)| of(judged, false).map(|bound| bound.rounded_up(file.task.parts));
    let together = job.bound.as_ref().map(|bound| bound.at_least.rounded_up(1));
    // Every step has a width of at least 1.
    let least_width = job.files.iter().zip(all).filter_map(alone).chain(together).chain(least_steps.clone()).max();
    for (name, key, value, least) in
        [("steps", "value", steps, least_steps), ("total_width", "value", width, least_width)]
    {
        let at = |key: &str| format!("/figures/{name}/{key}");
        let least = least.unwrap_or_default();
        let optimal = BigUint::from(value) == least;
        opinion.claims.push(Claim::Is(at(key), json!(value)));
        opinion.claims.push(Claim::Is(at("at_least"), whole(&Fraction::new(least.clone(), 1u8))));
        opinion.claims.push(Claim::Is(at("optimal"), json!(optimal)));
        opinion.reached.extend(optimal.then(|| format!("job {name} optimal")));
        if BigUint::from(value) >= least && least > BigUint::ZERO {
            let gap = Fraction::new(BigUint::from(value) - &least, least);
            opinion.claims.push(Claim::Near(at("gap"), gap.decimal()));
        }
    }
}

impl Opinion {
    fn say(&mut self, pointer: &str, value: Value) {
        self.claims.push(Claim::Is(pointer.into(), value));
    }
}

fn is_zero(bound: Option<&Bound>) -> bool {
    bound.is_some_and(|bound| bound.at_least.top == BigUint::ZERO)
}

/// How far a value is above its bound, if it has a standing.
fn gap(value: &Fraction, bound: Option<&Bound>, stands: bool, pointer: &str, opinion: &mut Opinion) {
    match bound {
        Some(bound) if stands && !is_zero(Some(bound)) && value.compare(&bound.at_least) != Ordering::Less => {
            let gap = value.less(&bound.at_least).over(&bound.at_least);
            opinion.claims.push(Claim::Near(pointer.into(), gap.decimal()));
        }
        _ => {}
    }
}

fn whole(bound: &Fraction) -> Value {
    let number = &bound.top / &bound.bottom;
    u64::try_from(number).map_or(Value::Null, |number| json!(number))
}

/// A fraction in lowest terms, as verdicts write it.
fn exact(fraction: &Fraction) -> Value {
    let (mut one, mut other) = (fraction.top.clone(), fraction.bottom.clone());
    while other > BigUint::ZERO {
        (one, other) = (other.clone(), one % other);
    }
    let (top, bottom) = (&fraction.top / &one, &fraction.bottom / &one);
    json!(if bottom == BigUint::from(1u8) { top.to_string() } else { format!("{top}/{bottom}") })
}
