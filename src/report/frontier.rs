//! Steps against volume: what no schedule can beat at each number of steps, and what planning reached.

use serde_json::{Value, json};

use collsynth_bound::SteppedBound;
use collsynth_core::certificate::{JointBound, Rational, Scope};
use collsynth_core::problem::Problem;
use collsynth_verify::report::figures::{decimal, exact};
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::quality::{named, scope_to_json};
use collsynth_verify::report::table::Table;

/// One number of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What no schedule in this many steps can beat.
    pub bound: SteppedBound,
    /// The same, or the volume that no schedule can beat in any number of steps, whichever is more.
    pub volume: Rational,
    /// The least sum of the widths for the parts of the problem, in any number of steps.
    pub least_width: u32,
    /// The sum of the widths of the verified schedule found, and its planner.
    pub planned: Option<(u64, &'static str)>,
}

impl Point {
    /// The least sum of the widths in this many steps.
    pub fn least_width(&self, parts: u32) -> u32 {
        let least = JointBound { at_least: self.volume, ..self.bound.proven.clone() };
        least.least_width(parts).max(self.bound.proven.steps).max(self.least_width)
    }

    /// The schedules of which none is narrower in as many steps, if that is proven.
    fn optimal_for(&self, problem: &Problem) -> Option<Scope> {
        let (width, _) = self.planned?;
        if Rational::new(width.into(), problem.parts().into()) <= self.volume {
            return Some(Scope::AnyParts);
        }
        (width <= u64::from(self.least_width(problem.parts()))).then_some(Scope::TheseParts)
    }
}

/// The frontier as a table for people.
pub fn to_text(problem: &Problem, points: &[Point]) -> String {
    let mut text = format!("{}\n", headline(problem));
    let mut table = Table::new(&["steps", "volume >=", "width >=", "planned", ""]).indented(2);
    for point in points {
        let planned = point.planned.map_or("none".to_owned(), |(width, _)| width.to_string());
        table.row([
            point.bound.proven.steps.to_string(),
            // Rounded down, so that the printed figure is proven.
            format!("{:.4}", (decimal(point.volume) * 1e4 + 1e-3).floor() / 1e4),
            point.least_width(problem.parts()).to_string(),
            planned,
            point.optimal_for(problem).map_or_else(String::new, |scope| format!("optimal{}", named(scope, problem))),
        ]);
    }
    text.push_str(&table.to_string());
    text
}

/// The frontier as a JSON object.
pub fn to_json(problem: &Problem, points: &[Point]) -> Value {
    let entry = |point: &Point| {
        json!({
            "steps": point.bound.proven.steps,
            "volume": exact(point.volume),
            "decimal": decimal(point.volume),
            "optimum": point.bound.optimum,
            "variables": point.bound.variables,
            "total_width": point.least_width(problem.parts()),
            "planned_width": point.planned.map(|(width, _)| width),
            "planner": point.planned.map(|(_, planner)| planner),
            "optimal_for": scope_to_json(point.optimal_for(problem)),
        })
    };
    json!({
        "problem": headline(problem),
        "parts": problem.parts(),
        "frontier": points.iter().map(entry).collect::<Vec<Value>>(),
    })
}
