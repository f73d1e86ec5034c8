//! Steps against volume: what no schedule can beat at each number of steps, and what planning reached.

use serde_json::{Value, json};

use collsynth_core::certificate::{Rational, Scope};
use collsynth_core::problem::Problem;
use collsynth_plan::bound::SteppedBound;
use collsynth_verify::report::figures::{decimal, exact};
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::quality::{named, scope_to_json};
use collsynth_verify::report::table::Table;

/// One number of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What no schedule in this many steps can beat.
    pub bound: SteppedBound,
    /// The sum of the widths of the verified schedule found, and its planner.
    pub planned: Option<(u64, &'static str)>,
}

impl Point {
    /// The schedules of which none is narrower in as many steps, if that is proven.
    fn optimal_for(&self, problem: &Problem) -> Option<Scope> {
        let (width, _) = self.planned?;
        if Rational::new(width.into(), problem.parts().into()) <= self.bound.proven.at_least {
            return Some(Scope::AnyParts);
        }
        (width <= u64::from(self.bound.least_width(problem.parts()))).then_some(Scope::TheseParts)
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
            format!("{:.4}", (decimal(point.bound.proven.at_least) * 1e4 + 1e-3).floor() / 1e4),
            point.bound.least_width(problem.parts()).to_string(),
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
            "volume": exact(point.bound.proven.at_least),
            "decimal": decimal(point.bound.proven.at_least),
            "optimum": point.bound.optimum,
            "variables": point.bound.variables,
            "total_width": point.bound.least_width(problem.parts()),
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
