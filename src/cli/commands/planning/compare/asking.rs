//! Asking a planner for its schedules, within its share of the time.

use std::time::{Duration, Instant};

use collsynth::certificate::{Bounds, Rational};
use collsynth::collective::Kind;
use collsynth::cost::Rates;
use collsynth::finishing_time;
use collsynth::plan::{Control, Goal, Plan, PlanError, StopReason, alternatives};
use collsynth::report::comparison::Entry;
use collsynth::report::figures::count;
use collsynth::topology::Topology;

use super::CompareCommand;
use super::files::Own;
use super::rows::Shown;
use crate::cli::arguments::plan::named;
use crate::cli::commands::planning::plan;
use crate::cli::ending::Failure;
use crate::cli::io::progress::{Ticker, figures};
use crate::cli::options::Given;

/// Planning for a comparison: the state shared by all machines and planners.
pub struct Run<'a> {
    pub command: &'a CompareCommand,
    pub given: &'a Given,
    /// Files to compare with.
    pub own: Option<&'a Own>,
    pub ticker: Ticker,
    pub shown: Shown,
    /// Until Ctrl-C; bounds are found once for all planners.
    pub control: Control,
    pub deadline: Option<Instant>,
    /// Planners still to ask, over all machines, and their [weights](weight).
    pub left: usize,
    pub weight: u32,
    /// Volume and steps of the best schedule so far on this machine.
    pub best: Option<(Rational, usize)>,
    pub stopped: StopReason,
}

/// What all planners of a machine are asked.
pub struct Question<'a> {
    pub kind: &'a Kind,
    pub rates: &'a Rates,
    /// The options that describe the machine.
    pub words: &'a [String],
}

/// A planner's answer: verified schedules with their bounds, or why there is none, and whether the planner applies.
pub struct Answer {
    pub found: Result<Vec<(Entry, Bounds)>, (String, bool)>,
    pub stopped: StopReason,
    /// The time it planned.
    pub time: Duration,
}

impl Run<'_> {
    /// The answer of a planner on this machine.
    pub fn ask(&mut self, name: &str, topology: &Topology, question: &Question<'_>) -> Result<Answer, Failure> {
        let (control, started) = (self.control(name), Instant::now());
        self.ticker.say(format!("{topology}, {} to go", count(self.left, "planner")));
        let Question { kind, rates, words } = *question;
        let (parts, prices) = (self.command.parts.numbers(), self.command.rates.prices(rates, kind));
        let planned = match control.stop() {
            Some(stopped @ StopReason::Interrupted) => Err(PlanError::Stopped { stopped }),
            _ => alternatives(named(name)?, topology, kind, parts, &prices, self.command.seed, &control),
        };
        // Planners that do not apply were not counted.
        if !matches!(planned, Err(PlanError::NotApplicable { .. })) {
            (self.left, self.weight) = (self.left.saturating_sub(1), self.weight.saturating_sub(weight(name)));
        }
        match planned {
            Ok((found, stopped)) => {
                let time = started.elapsed();
                let entry = |(goal, plan): (Goal<'_>, Plan)| {
                    let (planner, account) = (plan.planner, plan.account.clone());
                    let verified = plan::verified(plan, None)?;
                    let command = match self.own {
                        Some(own) => own.command(words, &goal, prices.first()),
                        None => self.command.command_of(words, &goal),
                    };
                    let entry = Entry::new(&verified, planner, account.phases(), rates, command);
                    Ok((entry, verified.bounds.clone()))
                };
                let found = found.into_iter().map(entry).collect::<Result<Vec<_>, Failure>>()?;
                self.note_best(&found);
                Ok(Answer { found: Ok(found), stopped, time })
            }
            Err(error) => {
                let (reason, applies) = match &error {
                    PlanError::NotApplicable { reason, .. } => (reason.clone(), false),
                    _ => (error.to_string(), true),
                };
                let stopped = if let PlanError::Stopped { stopped } = error { stopped } else { StopReason::Finished };
                Ok(Answer { found: Err((reason, applies)), stopped, time: started.elapsed() })
            }
        }
    }

    /// Shows the least volume so far.
    fn note_best(&mut self, found: &[(Entry, Bounds)]) {
        for (entry, _) in found {
            let best = (entry.volume, entry.steps);
            if self.best.is_none_or(|so_far| best < so_far) {
                self.best = Some(best);
                self.ticker.best(format!("{} by {}", figures(entry.steps, entry.volume), entry.planner));
            }
        }
    }

    /// When to stop a planner that is asked now.
    fn control(&self, name: &str) -> Control {
        let (control, now) = (self.control.clone(), Instant::now());
        match self.share(name) {
            Some(share) => control.with_deadline(now + share).leaving(now, finishing_time),
            None => control,
        }
    }

    /// What the planner gets of the time left.
    pub fn share(&self, name: &str) -> Option<Duration> {
        let left = self.deadline?.saturating_duration_since(Instant::now());
        let weight = weight(name);
        Some(left * weight / self.weight.max(weight))
    }
}

/// Does this planner follow a published scheme, for comparison?
pub fn is_published(name: &str) -> bool {
    named(name).is_ok_and(|planner| planner.is_baseline())
}

/// What a planner gets of the time, in proportion: to build a published scheme takes less than a search.
pub fn weight(name: &str) -> u32 {
    if is_published(name) { 1 } else { 10 }
}
