//! The headline and the figures of a schedule.

use serde_json::{Value, json};

use super::collective::{cut, name_collective};
use super::figures::{exact_and_decimal, percent, with_article};
use super::table::Table;
use crate::claim::{Figure, Quality, volume};
use collsynth_core::certificate::{Bounds, VolumeBound};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Statistics, Timetable};
use collsynth_core::topology::{Direction, dim_name};

/// The collective and the machine: `all_to_all on a 4x4x4 torus with 1 failed cable, messages in 7 parts`.
pub fn headline(problem: &Problem) -> String {
    let parts = match problem.parts() {
        1 => String::new(),
        _ => format!(", {}", cut(problem)),
    };
    format!("{} on {}{parts}", name_collective(problem), with_article(&problem.topology().to_string()))
}

/// Rows for steps, volume and link use; with bounds that hold, also the standings.
pub fn figures(problem: &Problem, schedule: &impl Timetable, bounds: Option<&Bounds>) -> Table {
    let statistics = schedule.statistics(problem);
    let mut steps = vec!["steps".to_owned(), statistics.steps.to_string()];
    let mut volumes = vec!["volume".to_owned(), exact_and_decimal(volume(problem, schedule))];
    if let Some(bounds) = bounds {
        let quality = Quality::new(problem, schedule, bounds);
        steps.extend([bound_words(&quality.steps), quality.steps.of_steps(problem)]);
        volumes.push(bound_words(&quality.volume));
        let words = quality.of_volume(problem, bounds.volume.as_ref().map(VolumeBound::scope));
        let in_steps = quality.of_volume_in_steps(statistics.steps);
        volumes.push(in_steps.map_or(words.clone(), |in_steps| format!("{words}; {in_steps}")));
    }
    let mut table = Table::new(&[]).indented(2);
    table.row(steps);
    table.row(volumes);
    for (name, share) in busy_by_dimension(problem, &statistics) {
        table.row([name, share]);
    }
    table
}

/// The [`figures`] as a JSON object; of what was refuted, without bounds.
pub fn figures_to_json(problem: &Problem, schedule: &impl Timetable, bounds: Option<&Bounds>) -> Value {
    let none = Bounds::default();
    let (quality, bounds) = match bounds {
        Some(bounds) => (Quality::new(problem, schedule, bounds), bounds),
        None => (Quality::of_refuted(problem, schedule), &none),
    };
    let statistics = schedule.statistics(problem);
    let named = |(direction, share): &(Option<Direction>, Option<f64>)| {
        (direction.map_or("links".to_owned(), |direction| direction.to_string()), json!(share))
    };
    let busy: serde_json::Map<String, Value> = statistics.busy.iter().map(named).collect();
    json!({
        "collective": problem.collective().kind.name(),
        "root": problem.collective().kind.root().map(|root| root.0),
        "unit": problem.collective().kind.unit().name(),
        "machine": problem.topology().to_string(),
        "ranks": problem.topology().rank_count(),
        "parts": problem.parts(),
        "steps": quality.steps_to_json(statistics.steps, bounds),
        "volume": quality.volume_to_json(bounds),
        "total_width": statistics.total_width,
        "transfers": statistics.transfers,
        "moves": statistics.moves,
        "busy": busy,
    })
}

pub(super) fn bound_words(figure: &Figure) -> String {
    match figure.bound {
        Some(bound) => format!("bound {}", exact_and_decimal(bound)),
        None if figure.is_certified() => "nothing to move".to_owned(),
        None => "no bound stated".to_owned(),
    }
}

/// A row per dimension: how busy its links are in each direction. Links that have not failed, but that no chunk of a
/// group without relays may cross, are not used.
fn busy_by_dimension(problem: &Problem, statistics: &Statistics) -> Vec<(String, String)> {
    let allowed = problem.topology();
    let may_be_busy = |direction| allowed.live_links().any(|id| allowed.link(id).direction == direction);
    let words = |direction, share: Option<f64>| match share {
        None => "all failed".to_owned(),
        Some(_) if !may_be_busy(direction) => "not used".to_owned(),
        Some(share) => format!("{} busy", percent(share)),
    };
    let mut rows: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for (direction, share) in &statistics.busy {
        let words = words(*direction, *share);
        let name = direction.map_or("links".to_owned(), |direction| format!("{} links", dim_name(direction.dim)));
        let shown = direction.map(|direction| direction.to_string()).unwrap_or_default();
        match rows.last_mut() {
            Some((last, shares)) if *last == name => shares.push((shown, words)),
            _ => rows.push((name, vec![(shown, words)])),
        }
    }
    rows.into_iter().map(|(name, shares)| (name, both(&shares))).collect()
}

/// The shares of two directions, or of one: `x- 50 %, x+ 40 % busy`, `not used`.
fn both(shares: &[(String, String)]) -> String {
    match shares {
        [(_, one), (_, other)] if one == other && !one.contains('%') => one.clone(),
        [(minus, one), (plus, other)] if one.ends_with(" busy") && other.ends_with(" busy") => {
            format!("{minus} {}, {plus} {other}", one.trim_end_matches(" busy"))
        }
        _ => {
            let listed: Vec<String> = shares.iter().map(|(of, words)| format!("{of} {words}")).collect();
            listed.join(", ").trim_start().to_owned()
        }
    }
}
