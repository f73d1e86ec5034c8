//! A schedule in a few lines: its figures, and how far from the best it is.

use std::time::Duration;

use serde_json::{Value, json};

use super::collective::{cut, name_collective, unit};
use super::figures::{count, decimal, exact, exact_and_decimal, fine_percent, percent, seconds, times};
use super::machine::describe;
use super::observed;
use super::phases;
use super::table::Table;
use crate::certificate::{Bounds, Rational};
use crate::cost::Price;
use crate::plan::{Phase, Refuted, StopReason};
use crate::problem::Problem;
use crate::schedule::{Schedule, Solution, Statistics};
use crate::verify::Observed;

/// So many refuted questions are shown.
const MOST_REFUTED: usize = 3;

/// How a figure stands to its lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// It is the bound: nothing is better.
    Optimal,
    /// It is the bound rounded up to a whole width: nothing is better with as many parts. By how much of the bound it
    /// lies above it.
    OptimalForParts(f64),
    /// It is above the bound, but nothing is better without being worse in the other figure, steps or volume: no schedule of
    /// so many steps has less volume, or none of fewer steps has as little. By how much of the bound it lies above it.
    OptimalJointly(f64),
    /// By how much of the bound it lies above it.
    Above(f64),
    /// There is no bound.
    Unknown,
}

/// How the steps and the volume of a schedule stand to their bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// The number of steps.
    pub steps: Standing,
    /// The volume.
    pub volume: Standing,
}

/// Everything a summary says.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The problem, its verified schedule and its bounds.
    pub solution: &'a Solution,
    /// What the verifier saw when it ran the schedule.
    pub observed: Option<&'a Observed>,
    /// The planner's name.
    pub planner: &'a str,
    /// The phases its algorithm has, if it has some.
    pub phases: &'a [Phase],
    /// Why it stopped.
    pub stopped: StopReason,
    /// What a solver has refuted.
    pub refuted: &'a [Refuted],
    /// Is it proven that nothing better exists with these parts?
    pub proven: bool,
    /// How long planning took.
    pub planning: Duration,
    /// How long verifying took.
    pub verifying: Duration,
    /// What steps and volume cost, if that was stated.
    pub price: Option<Price>,
}

impl Standing {
    /// True if it is proven that no schedule is better, with as many parts.
    pub fn is_certified(self) -> bool {
        matches!(self, Self::Optimal | Self::OptimalForParts(_))
    }

    /// The same if it is proven that nothing is better without being worse in the other figure.
    fn jointly(self, proven: bool) -> Self {
        match self {
            Self::Above(above) if proven => Self::OptimalJointly(above),
            standing => standing,
        }
    }

    fn words(self, problem: &Problem) -> String {
        match self {
            Self::Optimal => "certified optimal".to_owned(),
            Self::OptimalForParts(above) => {
                format!("certified optimal for {} ({} above the bound)", cut(problem), fine_percent(above))
            }
            Self::OptimalJointly(above) => {
                format!("certified the least in so many steps ({} above the bound)", fine_percent(above))
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

    /// How far above the bound, as a share of it.
    pub fn gap(self) -> Option<f64> {
        match self {
            Self::Optimal => Some(0.0),
            Self::OptimalForParts(above) | Self::OptimalJointly(above) | Self::Above(above) => Some(above),
            Self::Unknown => None,
        }
    }
}

impl Quality {
    /// Compares a schedule with bounds that hold.
    pub fn new(problem: &Problem, schedule: &Schedule, bounds: &Bounds) -> Self {
        let steps = Rational::from(schedule.step_count() as i128);
        let steps_bound = bounds.steps.as_ref().map(|bound| Rational::from(i128::from(bound.at_least)));
        let volume_bound = bounds.volume.as_ref().map(|bound| bound.at_least);
        let least = Rational::new(i128::from(bounds.least_width(problem.parts())), i128::from(problem.parts()));
        let width = schedule.total_width();
        // Is it proven that so few steps need so much width?
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

    /// The steps, their bound and how they stand to it.
    pub fn steps_to_json(&self, steps: usize, bounds: &Bounds) -> Value {
        json!({
            "value": steps,
            "bound": bounds.steps.as_ref().map(|bound| bound.at_least),
            "standing": self.steps.to_json(),
            "gap": self.steps.gap(),
        })
    }

    /// The volume, its bound and how it stands to it.
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

impl Summary<'_> {
    /// The summary in lines for people, without a final line break.
    pub fn to_text(&self) -> String {
        let Solution { problem, schedule, bounds, .. } = self.solution;
        let mut text = headline(problem);
        text.push('\n');
        let mut table = figures(problem, schedule, Some(bounds));
        phases::add_row(&mut table, self.phases);
        observed::add_rows(&mut table, problem, self.observed);
        if !self.refuted.is_empty() {
            table.row(["refuted".to_owned(), self.refuted_words()]);
        }
        if let Some(price) = &self.price {
            let message =
                format!("for {}s of {}", unit(&problem.collective().kind), count(price.message_bytes as usize, "byte"));
            table.row(["time".to_owned(), seconds(price.seconds(problem, schedule)), message]);
        }
        text.push_str(&table.to_string());
        let stopped = match self.stopped {
            StopReason::Finished => "",
            StopReason::TimeLimit => ", stopped by the time limit",
            StopReason::Interrupted => ", interrupted",
        };
        let [planning, verifying] = [self.planning, self.verifying].map(|time| seconds(time.as_secs_f64()));
        text.push_str(&format!("planned by {} in {planning}{stopped}; verified in {verifying}", self.planner));
        text
    }

    /// What the solver refuted, and what that proves.
    fn refuted_words(&self) -> String {
        let proven = if self.proven { ": nothing better exists with these parts" } else { "" };
        let shown: Vec<String> = self.refuted.iter().rev().take(MOST_REFUTED).map(Refuted::to_string).collect();
        let more = match self.refuted.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}{proven}", shown.join(", "))
    }

    /// The summary as a JSON object.
    pub fn to_json(&self) -> Value {
        let Solution { problem, schedule, bounds, .. } = self.solution;
        let mut summary = figures_to_json(problem, schedule, bounds);
        observed::add_json(&mut summary, self.observed);
        summary["verified"] = json!(true);
        summary["planner"] = json!(self.planner);
        summary["phases"] = phases::to_json(self.phases);
        summary["stopped"] = json!(self.stopped.name());
        summary["proven"] = json!(self.proven);
        summary["refuted"] = refuted_to_json(self.refuted);
        summary["planning_seconds"] = json!(self.planning.as_secs_f64());
        summary["verifying_seconds"] = json!(self.verifying.as_secs_f64());
        if let Some(price) = &self.price {
            summary["predicted_seconds"] = json!(price.seconds(problem, schedule));
        }
        summary
    }
}

/// Steps and total width of all that was refuted.
pub(super) fn refuted_to_json(refuted: &[Refuted]) -> Value {
    refuted.iter().map(|of| json!({ "steps": of.steps, "total_width": of.width })).collect()
}

/// The collective and the machine: `all_to_all on a 4x4x4 torus with 1 failed cable, messages in 7 parts`.
pub fn headline(problem: &Problem) -> String {
    let parts = match problem.parts() {
        1 => String::new(),
        _ => format!(", {}", cut(problem)),
    };
    format!("{} on a {}{parts}", name_collective(problem), describe(problem.topology()))
}

/// The volume of a schedule, exactly: the sum of its widths over the parts.
pub fn volume(problem: &Problem, schedule: &Schedule) -> Rational {
    Rational::new(i128::from(schedule.total_width()), i128::from(problem.parts()))
}

/// Rows for steps, volume and link use; with bounds that hold, also how the figures stand to them.
pub fn figures(problem: &Problem, schedule: &Schedule, bounds: Option<&Bounds>) -> Table {
    let statistics = Statistics::new(problem, schedule);
    let mut steps = vec!["steps".to_owned(), statistics.steps.to_string()];
    let mut volumes = vec!["volume".to_owned(), exact_and_decimal(volume(problem, schedule))];
    if let Some(bounds) = bounds {
        let quality = Quality::new(problem, schedule, bounds);
        let (least_steps, least_volume) = (&bounds.steps, &bounds.volume);
        steps.push(bound_words(least_steps.as_ref().map(|bound| bound.at_least.to_string()), quality.steps));
        let least = least_volume.as_ref().map(|bound| exact_and_decimal(bound.at_least));
        volumes.push(bound_words(least, quality.volume));
        steps.push(match (least_steps, quality.steps) {
            (Some(bound), Standing::Above(_)) => {
                format!("{} above the bound", statistics.steps as u64 - u64::from(bound.at_least))
            }
            (Some(bound), Standing::OptimalJointly(_)) => {
                let above = statistics.steps as u64 - u64::from(bound.at_least);
                format!("certified the fewest with so little volume ({above} above the bound)")
            }
            (_, standing) => standing.words(problem),
        });
        volumes.push(quality.volume.words(problem));
    }
    let mut table = Table::new(&[]).indented(2);
    table.row(steps);
    table.row(volumes);
    for (name, share) in busy_by_dimension(&statistics) {
        table.row([name, share]);
    }
    table
}

/// What [`figures`] says, as a JSON object.
pub fn figures_to_json(problem: &Problem, schedule: &Schedule, bounds: &Bounds) -> Value {
    let quality = Quality::new(problem, schedule, bounds);
    let statistics = Statistics::new(problem, schedule);
    let busy: serde_json::Map<String, Value> = statistics
        .busy
        .iter()
        .map(|(direction, share)| {
            (direction.map(|direction| direction.to_string()).unwrap_or("links".to_owned()), json!(share))
        })
        .collect();
    json!({
        "collective": problem.collective().kind.name(),
        "root": problem.collective().kind.root().map(|root| root.0),
        "unit": unit(&problem.collective().kind),
        "machine": describe(problem.topology()),
        "ranks": problem.topology().rank_count(),
        "parts": problem.parts(),
        "steps": quality.steps_to_json(statistics.steps, bounds),
        "volume": quality.volume_to_json(volume(problem, schedule), bounds),
        "total_width": statistics.total_width,
        "transfers": statistics.transfers,
        "moves": statistics.moves,
        "busy": busy,
    })
}

fn bound_words(bound: Option<String>, standing: Standing) -> String {
    match bound {
        Some(bound) => format!("bound {bound}"),
        None if standing == Standing::Optimal => "nothing to move".to_owned(),
        None => "no bound stated".to_owned(),
    }
}

/// A row per dimension: how busy its links are, each way.
fn busy_by_dimension(statistics: &Statistics) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for (direction, share) in &statistics.busy {
        let share = share.map(percent).unwrap_or("all failed".to_owned());
        match direction {
            None => rows.push(("links".to_owned(), format!("{share} busy"))),
            Some(direction) => {
                let name = format!("{} links", crate::topology::dim_name(direction.dim));
                let share = format!("{direction} {share}");
                match rows.last_mut() {
                    Some((last, shares)) if *last == name => *shares = format!("{shares}, {share} busy"),
                    _ => rows.push((name, share)),
                }
            }
        }
    }
    rows
}

/// How a value stands to a bound, and to the least value that can be had above the bound.
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
    use crate::collective::{Collective, Kind};
    use crate::topology::Topology;

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
