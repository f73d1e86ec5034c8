//! The trade of steps against volume: as tables, and as a plot.

mod csv;
mod labels;
mod svg;

use serde_json::{Value, json};

use super::comparison::describe_price;
use crate::report::observed;
use crate::report::summary::refuted_to_json;
use collsynth_core::certificate::{Bounds, JointBound, Rational, VolumeBound};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Solution;
use collsynth_plan::cost::Price;
use collsynth_plan::{Account, Control, StopReason, prove_jointly};
use collsynth_verify::claim::{Quality, least_in_steps, volume};
use collsynth_verify::report::figures::{bytes, decimal, exact, exact_and_decimal, fine_percent, seconds, times};
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::table::Table;
use collsynth_verify::verify::Observed;

/// A verified schedule, reduced to its figures.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its steps.
    pub steps: usize,
    /// Its volume.
    pub volume: Rational,
    /// The depth of its sums, as observed; 0 if it adds nothing.
    pub depth: u32,
    /// How close both are to their bounds.
    pub quality: Quality,
    problem: Problem,
    total_width: u64,
    bounds: Bounds,
    observed: Option<Observed>,
    planner: &'static str,
    account: Account,
    /// The options of the goal, and the whole command that plans the schedule again.
    command: [String; 2],
}

/// What was found.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a> {
    /// The collective and the machine; its parts are 1.
    pub problem: &'a Problem,
    /// Bounds that hold for all points, whatever their parts; joint ones for their numbers of steps.
    pub bounds: &'a Bounds,
    /// By ascending steps.
    pub points: &'a [Point],
    /// Message sizes to show times for.
    pub prices: &'a [Price],
    /// Why the search ended.
    pub stopped: StopReason,
}

impl Point {
    /// The figures of a verified solution, its planner's name and account, the options of the goal, and the whole
    /// command.
    pub fn new(
        solution: &Solution,
        observed: Option<&Observed>,
        planner: &'static str,
        account: Account,
        command: [String; 2],
    ) -> Self {
        let Solution { problem, schedule, bounds, .. } = solution;
        Self {
            steps: schedule.step_count(),
            volume: volume(problem, schedule),
            depth: observed.and_then(|observed| observed.sums.as_ref()).map_or(0, |sums| sums.depth),
            quality: Quality::new(problem, schedule, bounds),
            problem: problem.clone(),
            total_width: schedule.total_width(),
            bounds: bounds.clone(),
            observed: observed.cloned(),
            planner,
            account,
            command,
        }
    }

    /// Its bound on the volume, if there is one.
    pub fn volume_bound(&self) -> Option<&VolumeBound> {
        self.bounds.volume.as_ref()
    }

    /// Looks for joint bounds, as [`collsynth_plan::prove_jointly`] does.
    pub fn prove_jointly(&mut self, control: &Control) {
        prove_jointly(&self.problem, &mut self.bounds, self.steps, self.total_width, control);
        self.quality = Quality::of(&self.problem, self.steps, self.total_width, &self.bounds);
    }

    /// Its joint bounds, which hold whatever its parts.
    pub fn joint_bounds(&self) -> &[JointBound] {
        &self.bounds.joint
    }

    fn seconds(&self, price: &Price) -> f64 {
        price.seconds_for(self.steps, decimal(self.volume))
    }
}

impl Curve<'_> {
    /// A heading, the bounds, and a line for each point; the best time for each message size has a star.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", headline(self.problem));
        let steps = self.bounds.steps.as_ref().map(|bound| format!("{} steps", bound.at_least));
        let volume = self.bounds.volume.as_ref().map(|bound| format!("volume {}", exact_and_decimal(bound.at_least)));
        let bounds: Vec<String> = steps.into_iter().chain(volume).collect();
        if !bounds.is_empty() {
            text.push_str(&format!("  bound: {}\n", bounds.join(", ")));
        }
        if let Some(price) = self.prices.first() {
            text.push_str(&format!("  times: {}\n", describe_price(price)));
        }
        let sizes: Vec<String> = self.prices.iter().map(|price| bytes(price.message_bytes)).collect();
        let mut headings = vec!["steps", "volume", "least", "gap", "parts", "planner", "held"];
        headings.extend(sizes.iter().map(String::as_str));
        headings.push("options");
        let mut table = Table::new(&headings).indented(2);
        for (index, point) in self.points.iter().enumerate() {
            let gap = match self.gap(point) {
                Some(0.0) => "0".to_owned(),
                gap => gap.map_or("-".to_owned(), fine_percent),
            };
            let held = point.observed.as_ref().map_or(String::new(), |observed| observed.held.chunks.to_string());
            let mut cells = vec![point.steps.to_string(), exact_and_decimal(point.volume)];
            let planner = format!("{}{}", point.planner, if point.account.is_proven() { ", proven" } else { "" });
            cells.push(self.least_in_steps(point).map_or("-".to_owned(), |least| format!("{:.3}", decimal(least))));
            cells.push(gap);
            cells.extend([point.problem.parts().to_string(), planner, held]);
            for price in self.prices {
                let star = if self.fastest(price) == Some(index) { " *" } else { "" };
                cells.push(format!("{}{star}", seconds(point.seconds(price))));
            }
            cells.push(point.command[0].clone());
            table.row(cells);
        }
        text.push_str(&table.to_string());
        match self.stopped {
            StopReason::Finished => {}
            StopReason::TimeLimit => text.push_str("stopped by the time limit; there may be more\n"),
            StopReason::Interrupted => text.push_str("interrupted; there may be more\n"),
        }
        text
    }

    /// The greatest volume proven for schedules of as many steps as a point has.
    fn least_in_steps(&self, point: &Point) -> Option<Rational> {
        let bound = self.bounds.volume.as_ref().map(|bound| bound.at_least);
        bound.max(least_in_steps(self.bounds, point.steps))
    }

    /// How far the volume of a point lies above what is proven for its steps, as a share of that.
    pub fn gap(&self, point: &Point) -> Option<f64> {
        let bound = self.least_in_steps(point).filter(|&bound| bound > Rational::from(0))?;
        Some(times(point.volume, bound) - 1.0)
    }

    /// Is it proven that none in as many steps and parts is better: by a bound that the point meets, or by a solver?
    pub fn is_proven(&self, point: &Point) -> bool {
        point.account.is_proven() || self.least_in_steps(point) == Some(point.volume)
    }

    /// The same as a JSON object.
    pub fn to_json(&self) -> Value {
        let kind = &self.problem.collective().kind;
        let points: Vec<Value> = self.points.iter().map(|point| self.point_to_json(point)).collect();
        let fastest = |price: &Price| json!({ "message_bytes": price.message_bytes, "point": self.fastest(price) });
        json!({
            "collective": kind.name(),
            "root": kind.root().map(|root| root.0),
            "unit": kind.unit().name(),
            "machine": self.problem.topology().to_string(),
            "ranks": self.problem.topology().rank_count(),
            "stopped": self.stopped.name(),
            "fastest": self.prices.iter().map(fastest).collect::<Vec<Value>>(),
            "points": points,
        })
    }

    fn point_to_json(&self, point: &Point) -> Value {
        let mut json = json!({
            "parts": point.problem.parts(),
            "steps": point.quality.steps_to_json(point.steps, &point.bounds),
            "volume": point.quality.volume_to_json(&point.bounds),
            "least_volume_in_steps": self.least_in_steps(point).map(exact),
            "gap_in_steps": self.gap(point),
            "total_width": point.total_width,
            "planner": point.planner,
            "proven": self.is_proven(point),
            "refuted": refuted_to_json(point.account.refuted()),
            "seconds": self.prices.iter().map(|price| point.seconds(price)).collect::<Vec<f64>>(),
            "command": point.command[1],
        });
        observed::add_json(&mut json, point.observed.as_ref());
        json
    }

    /// The point of the least time.
    fn fastest(&self, price: &Price) -> Option<usize> {
        let time = |index: &usize| self.points[*index].seconds(price);
        (0..self.points.len()).min_by(|a, b| time(a).total_cmp(&time(b)))
    }
}
