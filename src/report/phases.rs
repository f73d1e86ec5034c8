//! The phases of a schedule, with the load of the fullest link in each.

use serde_json::{Value, json};

use collsynth_plan::Phase;
use collsynth_verify::report::figures::{count, decimal, exact, exact_and_decimal};
use collsynth_verify::report::table::Table;

/// Adds a row for the phases, if there are any.
pub fn add_row(table: &mut Table, phases: &[Phase]) {
    if !phases.is_empty() {
        table.remark("phases", describe(phases));
    }
}

/// The phases as a JSON list.
pub fn to_json(phases: &[Phase]) -> Value {
    let one = |phase: &Phase| {
        json!({
            "name": phase.name,
            "steps": phase.steps.len(),
            "startups": phase.startups,
            "load": exact(phase.load),
            "decimal": decimal(phase.load),
        })
    };
    phases.iter().map(one).collect()
}

/// `6 phases, loads together 320/7 = 45.714: 3 normal, 32/3 each; 3 acceleration, 32/7 each`.
fn describe(phases: &[Phase]) -> String {
    let kind = |phase: &Phase| phase.name.split(' ').next().unwrap_or_default().to_owned();
    let mut alike: Vec<(String, &Phase, usize)> = Vec::new();
    for phase in phases {
        match alike.iter_mut().find(|(name, first, _)| *name == kind(phase) && first.load == phase.load) {
            Some((_, _, number)) => *number += 1,
            None => alike.push((kind(phase), phase, 1)),
        }
    }
    let listed: Vec<String> = alike
        .into_iter()
        .map(|(name, first, number)| {
            let name = match (&*name, number) {
                ("dimension", _) => "along a dimension".to_owned(),
                ("round", 2..) => "rounds".to_owned(),
                _ => name,
            };
            let each = if number > 1 { " each" } else { "" };
            format!("{number} {name}, {}{each}", exact(first.load))
        })
        .collect();
    let together = exact_and_decimal(Phase::total_load(phases));
    format!("{}, loads together {together}: {}", count(phases.len(), "phase"), listed.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::certificate::Rational;

    #[test]
    fn phases_that_are_alike_are_counted() {
        let phase =
            |name: &str, load| Phase { name: name.to_owned(), steps: 0..1, load: Rational::new(load, 7), startups: 1 };
        let phases =
            [phase("normal 1", 7), phase("acceleration 1", 3), phase("normal 2", 7), phase("acceleration 2", 3)];
        assert_eq!(
            describe(&phases),
            "4 phases, loads together 20/7 = 2.857: 2 normal, 1 each; 2 acceleration, 3/7 each"
        );
        let phases = [phase("dimension x", 7), phase("dimension y", 7)];
        assert_eq!(describe(&phases), "2 phases, loads together 2: 2 along a dimension, 1 each");
        let phases = [phase("round 1", 7), phase("round 2", 3)];
        assert_eq!(describe(&phases), "2 phases, loads together 10/7 = 1.429: 1 round, 1; 1 round, 3/7");
    }
}
