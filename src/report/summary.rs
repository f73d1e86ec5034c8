//! A schedule in a few lines: its figures, and how far it is from the best.

use std::time::Duration;

use serde_json::{Value, json};

use collsynth_core::schedule::{Schedule, Solution, Timetable};
use collsynth_plan::cost::Price;
use collsynth_plan::{Account, Refutation, StopReason};
use collsynth_verify::report::figures::{count, seconds};
use collsynth_verify::report::observed;
use collsynth_verify::report::overview::{figures, figures_to_json, headline};
use collsynth_verify::verify::Observed;

use super::comparison::describe_price;
use super::failure::Cost;
use super::phases;

/// The most refuted questions shown.
const MOST_REFUTED: usize = 3;

/// Everything a summary says.
#[derive(Debug)]
pub struct Summary<'a, S = Schedule> {
    /// The problem, its verified schedule and its bounds.
    pub solution: &'a Solution<S>,
    /// What the verifier observed as it executed the schedule.
    pub observed: Option<&'a Observed>,
    /// Where a schedule was given: is this a better one?
    pub improved: Option<bool>,
    /// The planner's name.
    pub planner: &'a str,
    /// What the planner reports besides the schedule.
    pub account: &'a Account,
    /// Why it stopped.
    pub stopped: StopReason,
    /// How long planning took.
    pub planning: Duration,
    /// How long verifying took.
    pub verifying: Duration,
    /// The price of steps and volume, if stated.
    pub price: Option<Price>,
    /// What the failures cost, if there are any.
    pub cost: Option<Cost>,
}

impl<S: Timetable> Summary<'_, S> {
    /// The summary in lines for people, without a final line break.
    pub fn to_text(&self) -> String {
        let Solution { problem, schedule, bounds, .. } = self.solution;
        let mut text = headline(problem);
        text.push('\n');
        let mut table = figures(problem, schedule, Some(bounds));
        phases::add_row(&mut table, self.account.phases());
        observed::add_rows(&mut table, problem, self.observed);
        if !self.account.refuted().is_empty() {
            table.row(["refuted".to_owned(), self.refuted_words()]);
        }
        if let Some(price) = &self.price {
            let unit = problem.collective().kind.unit().name();
            let size = count(price.message_bytes as usize, "byte");
            let message = format!("for {unit}s of {size}");
            table.row(["time".to_owned(), seconds(price.seconds(problem, schedule)), message]);
            table.remark("", describe_price(price));
        }
        if let Some(cost) = self.cost {
            cost.add_rows(&mut table);
        }
        text.push_str(&table.to_string());
        let stopped = match self.stopped {
            StopReason::Finished => "",
            StopReason::TimeLimit => ", stopped by the time limit",
            StopReason::Interrupted => ", interrupted",
        };
        let [planning, verifying] = [self.planning, self.verifying].map(|time| seconds(time.as_secs_f64()));
        let made = match self.improved {
            None => "planned",
            Some(true) => "improved",
            Some(false) => "not improved",
        };
        text.push_str(&format!("{made} by {} in {planning}{stopped}; verified in {verifying}", self.planner));
        text
    }

    /// What the solver refuted, and what that proves.
    fn refuted_words(&self) -> String {
        let refuted = self.account.refuted();
        let proven = if self.account.is_proven() { ": nothing better exists with these parts" } else { "" };
        let shown: Vec<String> = refuted.iter().rev().take(MOST_REFUTED).map(Refutation::to_string).collect();
        let more = match refuted.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}{proven}", shown.join(", "))
    }

    /// The summary as a JSON object.
    pub fn to_json(&self) -> Value {
        let Solution { problem, schedule, bounds, .. } = self.solution;
        let mut summary = figures_to_json(problem, schedule, Some(bounds));
        observed::add_json(&mut summary, self.observed);
        summary["verified"] = json!(true);
        summary["planner"] = json!(self.planner);
        if let Some(improved) = self.improved {
            summary["improved"] = json!(improved);
        }
        summary["phases"] = phases::to_json(self.account.phases());
        summary["stopped"] = json!(self.stopped.name());
        summary["proven"] = json!(self.account.is_proven());
        summary["refuted"] = refuted_to_json(self.account.refuted());
        summary["failure_cost"] = self.cost.map_or(Value::Null, |cost| cost.to_json());
        summary["planning_seconds"] = json!(self.planning.as_secs_f64());
        summary["verifying_seconds"] = json!(self.verifying.as_secs_f64());
        if let Some(price) = &self.price {
            let Price { message_bytes, alpha, bandwidth } = price;
            summary["price"] = json!({ "message_bytes": message_bytes, "alpha": alpha, "bandwidth": bandwidth });
            summary["predicted_seconds"] = json!(price.seconds(problem, schedule));
        }
        summary
    }
}

/// Steps and total width of all that was refuted.
pub(crate) fn refuted_to_json(refuted: &[Refutation]) -> Value {
    refuted.iter().map(|of| json!({ "steps": of.steps, "total_width": of.width })).collect()
}
