//! The order of the questions.
//!
//! First with little effort, from the best pair of steps and width up, until there is a schedule; then, with full
//! effort, the better pairs that are still open. One refutation answers many questions.

use std::ops::RangeInclusive;

use super::ask::{Asking, Effort, Known};
use super::options::{Minimize, Smt};
use crate::model::account::{Account, StopReason};
use crate::model::error::PlanError;
use crate::model::planner::Outcome;
use crate::model::task::Task;
use crate::planners::searchers::SEARCHERS;
use collsynth_core::certificate::Scope;
use collsynth_core::schedule::Schedule;

pub(super) fn search(asking: &mut Asking<'_>) -> Result<Outcome, PlanError> {
    check_width(asking)?;
    let first = asking.task.steps.unwrap_or(asking.least_steps).max(1);
    // In twice the distance, everything can be added up at one rank and sent back.
    let last = asking.task.steps.or(asking.task.max_steps);
    match (*asking.smt, asking.task.steps) {
        // Any schedule will do.
        (Smt { width: Some(width), .. }, Some(steps)) => {
            let found = match asking.ask(steps, width.min(asking.widest(steps)), Effort::Full)? {
                Known::Found(schedule) => schedule,
                _ => return Err(nothing(asking, steps..=steps)),
            };
            Ok(outcome(asking, found, false))
        }
        (smt, _) if smt.minimize == Minimize::Steps => {
            let last = last.or(smt.width).unwrap_or(2 * first);
            for steps in first..=last {
                match asking.ask(steps, asking.widest(steps), Effort::Full)? {
                    Known::Found(schedule) => {
                        // The schedule may have fewer steps than allowed.
                        let steps = steps.min(schedule.step_count() as u32).max(first);
                        return least_volume(asking, steps..=steps, Some(schedule));
                    }
                    Known::Refuted => {}
                    Known::Unknown => break,
                }
            }
            Err(nothing(asking, first..=last))
        }
        (smt, _) => {
            let last = last.or(smt.width).unwrap_or(u32::MAX).max(first);
            least_volume(asking, first..=last, None)
        }
    }
}

/// The least total width, then the fewest steps, in a range of steps; a schedule may be known already.
fn least_volume(
    asking: &mut Asking<'_>,
    steps: RangeInclusive<u32>,
    known: Option<Schedule>,
) -> Result<Outcome, PlanError> {
    let (first, last) = (*steps.start(), *steps.end());
    let most = match &known {
        Some(schedule) => width(schedule) - 1,
        None => asking.widest(last.min(2 * first)),
    };
    let from = asking.least_width.max(first);
    let mut best = known;
    asking.has_schedule = best.is_some();
    'efforts: for effort in [Effort::Quick, Effort::Full] {
        for total in from..=most {
            for steps in first..=last.min(total) {
                match asking.ask(steps, total, effort)? {
                    Known::Refuted => continue,
                    Known::Found(schedule) => best = Some(schedule),
                    // Another planner's schedule may be good enough, or even meet a bound.
                    Known::Unknown if effort == Effort::Quick => {
                        let all = best.take().into_iter().chain(by_others(asking, first, last));
                        best = all.min_by_key(|schedule| (schedule.total_width(), schedule.step_count()));
                    }
                    Known::Unknown => {}
                }
                if best.is_some() {
                    break 'efforts;
                }
            }
        }
        if best.is_some() {
            break;
        }
    }
    let Some(mut best) = best else { return Err(nothing(asking, steps)) };
    asking.has_schedule = true;
    while let Some(better) = better(asking, &best, first, last)? {
        best = better;
    }
    Ok(outcome(asking, best, true))
}

/// The best schedule that fits the task, among those of the planners that planning always uses.
fn by_others(asking: &Asking<'_>, first: u32, last: u32) -> Option<Schedule> {
    let fits = |schedule: &Schedule| {
        let steps = schedule.step_count() as u32;
        (first..=last).contains(&steps) && asking.smt.width.is_none_or(|most| width(schedule) <= most)
    };
    let max_steps = Some(last).filter(|&last| last < u32::MAX && first < last);
    let task = Task { steps: Some(first).filter(|_| first == last), max_steps, price: None, ..asking.task.clone() };
    let found =
        SEARCHERS.iter().filter_map(|planner| planner.plan(&task, asking.control).ok()).map(|outcome| outcome.schedule);
    found.filter(fits).min_by_key(|schedule| (schedule.total_width(), schedule.step_count()))
}

/// A schedule of less width, or of the same width in fewer steps; `None` if there is none, or time ran out.
fn better(asking: &mut Asking<'_>, best: &Schedule, first: u32, last: u32) -> Result<Option<Schedule>, PlanError> {
    let (steps, total) = (best.step_count() as u32, width(best));
    // If chunks only move, a refutation in more steps covers fewer.
    for fewer in (first..=last.min(total)).rev() {
        let target = if fewer < steps { total } else { total - 1 };
        if target < fewer {
            continue;
        }
        if let Known::Found(schedule) = asking.ask(fewer, target, Effort::Full)? {
            return Ok(Some(schedule));
        }
    }
    Ok(None)
}

fn width(schedule: &Schedule) -> u32 {
    u32::try_from(schedule.total_width()).unwrap_or(u32::MAX)
}

/// The answer, proven if the search was for the best, was not stopped and left nothing open.
pub(super) fn outcome(asking: &mut Asking<'_>, schedule: Schedule, for_the_best: bool) -> Outcome {
    let stopped = asking.stopped();
    let (refuted, proven) =
        (std::mem::take(&mut asking.refuted), for_the_best && !asking.has_open && stopped == StopReason::Finished);
    Outcome { schedule, stopped, account: Account::Search { refuted, proven } }
}

/// Refuses widths below a bound, or below the number of steps, without a solver.
fn check_width(asking: &Asking<'_>) -> Result<(), PlanError> {
    let Some(width) = asking.smt.width else { return Ok(()) };
    if let Some(steps) = asking.task.steps.filter(|&steps| width < steps) {
        return Err(PlanError::TooNarrow { width, why: format!("each of {steps} steps is at least 1 wide") });
    }
    if width < asking.least_width {
        let why = match asking.known_bounds().volume.as_ref().filter(|_| width >= asking.least_steps) {
            Some(bound) => {
                let whose = if bound.scope() == Scope::TheseParts { " in these parts" } else { "" };
                format!("no volume is below {}{whose} (`synth bound ...` says why)", bound.at_least)
            }
            None => format!("it takes {} steps, each at least 1 wide", asking.least_steps),
        };
        return Err(PlanError::TooNarrow { width, why });
    }
    Ok(())
}

/// The error if no schedule was found: refuted, or undecided.
fn nothing(asking: &Asking<'_>, steps: RangeInclusive<u32>) -> PlanError {
    let (first, last) = (*steps.start(), *steps.end());
    let in_steps = match (first == last, last) {
        (_, u32::MAX) => String::new(),
        (true, 1) => " in 1 step".to_owned(),
        (true, _) => format!(" in {last} steps"),
        (false, _) => format!(" in {first} to {last} steps"),
    };
    let limits = match asking.smt.width {
        Some(width) => format!("{in_steps} of total width {width}"),
        None => in_steps,
    };
    match asking.control.stop() {
        Some(stopped) => PlanError::Undecided { limits, refuted: asking.refuted.clone(), stopped },
        None => PlanError::Refuted { limits, by: asking.smt.backend.name(), refuted: asking.refuted.clone() },
    }
}
