//! The search over steps and total widths.
//!
//! A *point* is a number of steps and a total width. The search first climbs from the bounds until it reaches some
//! point, so that there is a schedule at all; then it works its way back down, with more effort. It ends as soon as it
//! meets the bounds. Where a single try takes seconds, it makes one, and widens steps in it instead.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::strategy::{Aim, Negotiation, Start, Strategy};
use crate::model::account::StopReason;
use crate::model::control::budget::Budget;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::task::Task;

/// Tries of a point while climbing: as many as this work allows, within the range. A unit of work is a link or slot
/// examined, about 8e7 of them a second; so these budgets are seconds, and a try never depends on a clock.
const QUICK_TRIES: (u64, u64) = (2, 4);
const QUICK_WORK: u64 = 4_000_000_000;
/// Tries of a point while working back down: as many as the rest of its budget, which is for the whole search, allows,
/// within the range. Of the points reached on the sets of tests/data/hard_failures.txt most took tries 0 to 3 and the
/// last one try 27; on 14 all-reduces tries up to 38 still succeed, so fewer lose points.
const HARD_TRIES: (u64, u64) = (4, 40);
/// The share of a width that working down may save.
const WITHIN_REACH: u64 = 16;
/// Where another planner has reached the least width, only steps are left to save: the budget is divided by this.
const TO_SAVE_STEPS: u64 = 10;
/// In groups it is divided by this: other numbers of parts are tried instead.
const IN_GROUPS: u64 = 4;
/// The work of routing everything once that is still done when time is up and there is no schedule yet: some seconds.
const LAST_ROUTING: u64 = 1_000_000_000;
/// The cost limit of a try, in routings of everything.
const TRY_ROUTINGS: u64 = 20;
/// A try ends after these rounds and the work of these routings of everything without progress.
const PATIENCE_ROUNDS: u32 = 40;
const PATIENCE_ROUTINGS: u64 = 10;
/// The cap on the pressure, try by try. A high cap succeeds at once or hardly ever; on large machines low caps then do,
/// given more tries, and on small ones tries that move width.
const PRESSURE_CAPS: [f64; 8] = [20.0, 3.0, 2.0, 5.0, 2.0, 3.0, 2.0, 5.0];
/// Every fourth try moves a unit of width from step to step after this number of rounds without progress.
const RESHAPE_ROUNDS: u32 = 8;

/// With the most and narrowest steps, conflicts settle slowly but surely: the tries of such a point, their cap on the
/// pressure, and their end.
const PATIENT_TRIES: u64 = 2;
const PATIENT_CAP: f64 = 3.0;
const GREAT_PATIENCE: Patience = Patience { rounds: 1500, progress: 0, work: 250_000_000, is_great: true };

/// A try of more work than this is long, so only one is made: it widens steps until it has a schedule. It widens one
/// when this many rounds in turn have settled less than a tenth of the conflicts (`SETTLED`) and have taken a 32nd of
/// the work so far; an eighth once few conflicts are left.
const LONG_TRY: u64 = 1_000_000_000;
const LONG_PATIENCE: u32 = 3;
const LONG_SHARE: (u64, u64) = (8, 32);
const FEW: u64 = 10;
const SETTLED: f64 = 0.1;
/// Of a demand, whose messages fit no template, a unit of this total width is next to nothing: the try begins a share
/// of it wider, and each round is to settle half of the conflicts.
const WIDE: u32 = 1000;
const WIDER: u32 = 300;
const SETTLED_OF_WIDE: f64 = 0.5;

/// The limits of a try.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// It ends after this many rounds without progress, if they also took this work,
    rounds: u32,
    progress: u64,
    /// or after this work in any case.
    work: u64,
    is_great: bool,
}

impl Patience {
    fn usual(routing: u64) -> Self {
        let (progress, work) = (PATIENCE_ROUTINGS * routing, TRY_ROUTINGS * routing);
        Self { rounds: PATIENCE_ROUNDS, progress, work, is_great: false }
    }
}

struct Found<R> {
    widths: Vec<u32>,
    routes: R,
}

impl<R> Found<R> {
    fn width(&self) -> u32 {
        self.widths.iter().sum()
    }
}

type Routes<S> = <<S as Strategy>::Negotiation as Negotiation>::Routes;

pub(crate) struct Search<'a, S: Strategy> {
    planner: &'static str,
    /// What is reported besides steps and width, with a comma.
    label: String,
    task: &'a Task<'a>,
    strategy: &'a S,
    control: &'a Control,
    best: Option<Found<Routes<S>>>,
    /// Tries made so far, per steps and total width.
    tried: BTreeMap<(u32, u32), u64>,
    /// The budget of a search that shares none.
    own: Budget,
    /// What the budget is divided by.
    share: u64,
}

impl<'a, S: Strategy> Search<'a, S> {
    pub fn new(planner: &'static str, task: &'a Task<'a>, strategy: &'a S, control: &'a Control) -> Self {
        Self {
            planner,
            label: String::new(),
            task,
            strategy,
            control,
            best: None,
            tried: BTreeMap::new(),
            own: Budget::default(),
            share: 1,
        }
    }

    /// Reports what it is a search of, for planners that make several.
    pub fn of(self, what: &str) -> Self {
        Self { label: format!("{what}, "), ..self }
    }

    /// Searches from this total width up; returns the widths and routes of the best schedule found.
    ///
    /// # Errors
    ///
    /// [`PlanError::Stopped`] if time was up before everything had a route, and routing the rest would take long;
    /// [`PlanError::NotFound`] if nothing within the budget is worth the price of its time.
    pub fn run(mut self, least_width: u32) -> Result<(Vec<u32>, Routes<S>, StopReason), PlanError> {
        if self.task.problem.groups().is_some() {
            self.share = IN_GROUPS;
        }
        if self.task.price.is_none() && self.task.incumbent.is_some_and(|(_, known)| known <= u64::from(least_width)) {
            self.share = TO_SAVE_STEPS;
        }
        let is_long = |steps: &u32| self.cost(*steps) > LONG_TRY;
        match self.strategy.step_choices(least_width, Aim::Any).first().copied().filter(is_long) {
            Some(steps) if self.is_wide(least_width) => self.widen(steps, least_width + least_width / WIDER),
            Some(steps) => self.widen(steps, least_width),
            None => self.search(least_width),
        }
        let stopped = self.control.stop();
        let Found { widths, routes } = self.best.ok_or_else(|| match stopped {
            Some(stopped) => PlanError::Stopped { stopped },
            None => PlanError::takes_too_long(self.planner),
        })?;
        Ok((widths, routes, stopped.unwrap_or(StopReason::Finished)))
    }

    /// Climbs to some point, then works its way down.
    fn search(&mut self, least_width: u32) {
        self.climb(least_width);
        let gap = self.point().is_some_and(|(_, width)| width > least_width);
        let sharper = self.task.sharper.filter(|_| gap).map(|bounds| bounds.sharp());
        let least_width = sharper.map_or(0, |bounds| bounds.least_width(self.task.problem.parts())).max(least_width);
        self.descend(least_width);
    }

    /// Widens by 1, then in growing strides, until a point is reached. A failed try leaves a wide schedule behind: the
    /// climb ends there at the latest.
    fn climb(&mut self, least_width: u32) {
        let (mut width, mut stride) = (least_width, 1);
        loop {
            let choices = self.strategy.step_choices(width, Aim::Any);
            if !choices.is_empty() && !choices.iter().any(|&steps| self.task.can_pay(steps, width)) {
                return;
            }
            for steps in choices {
                if self.reaches_quickly(steps, width) {
                    return;
                }
            }
            width = self.strategy.wider(width, stride);
            stride = stride.saturating_add(stride.div_ceil(4));
            let found = self.point().is_some_and(|(_, found)| found <= width);
            let in_vain = self.best.is_some() && self.is_in_vain(width);
            // Whoever shares a budget has a plan already.
            let spent = self.task.budget.is_some_and(|budget| budget.is_spent(self.share));
            if found || in_vain || spent || self.control.stop().is_some() {
                return;
            }
        }
    }

    /// One try, whose steps are widened where conflicts do not settle, unless others are narrower.
    fn widen(&mut self, steps: u32, least_width: u32) {
        let abandon = || self.is_abandoned(steps);
        let start = self.start(steps, least_width, 1, PRESSURE_CAPS[0], false);
        let Some(mut negotiation) = self.strategy.begin(start, &abandon) else { return };
        let (mut least, mut work_then, mut slow_rounds) = (u64::MAX, 0, 0);
        for round in 0.. {
            let remaining = negotiation.slots().overfull();
            let width: u32 = negotiation.slots().widths().iter().sum();
            let label = format!("{}{steps} steps, width {width}", self.label);
            self.control.report(Progress { planner: self.planner, attempt: &label, round, remaining });
            if remaining == 0 || self.control.stop().is_some() {
                break;
            }
            if self.is_beyond(width) {
                return;
            }
            let work = negotiation.work();
            let is_wide = remaining > FEW && self.is_wide(width);
            let settled = if is_wide { SETTLED_OF_WIDE } else { SETTLED };
            if remaining as f64 <= (1.0 - settled) * least as f64 {
                (least, work_then, slow_rounds) = (remaining, work, 0);
            }
            // A unit of width is room for a chunk in each column.
            let units = remaining / negotiation.slots().columns() as u64;
            let (rounds, share) = match remaining {
                ..=FEW => (LONG_PATIENCE, LONG_SHARE.0),
                _ if units > 1 || is_wide => (1, u64::MAX),
                _ => (LONG_PATIENCE, LONG_SHARE.1),
            };
            if slow_rounds >= rounds && work - work_then >= work / share {
                (0..units.clamp(1, u64::from(steps))).for_each(|_| negotiation.slots().widen());
                (least, work_then, slow_rounds) = (u64::MAX, work, 0);
            }
            slow_rounds += 1;
            negotiation.round(self.control);
            negotiation.slots().raise();
        }
        self.best = Some(Found { widths: negotiation.needed_widths(), routes: negotiation.into_routes() });
    }

    /// Is a unit of this total width next to nothing?
    fn is_wide(&self, width: u32) -> bool {
        self.task.problem.collective().kind.demand().is_some() && width >= WIDE
    }

    /// Is time up before everything has a route, where that takes long?
    fn is_abandoned(&self, steps: u32) -> bool {
        self.strategy.routing_work(steps) > LAST_ROUTING && self.control.stop().is_some()
    }

    /// Narrows the point reached while it can, then tries fewer steps.
    fn descend(&mut self, least_width: u32) {
        let Some((_, mut width)) = self.point() else { return };
        if self.is_in_vain(width) {
            return;
        }
        let least_width = self.task.near.map_or(0, |near| near as u32).max(least_width);
        while width > least_width {
            let narrower = self.strategy.narrower(width).into_iter().filter(|&narrower| narrower >= least_width);
            let reached = narrower.into_iter().find(|&narrower| {
                let mut choices = self.strategy.step_choices(narrower, Aim::Narrower).into_iter();
                self.reaches_patiently(narrower) || choices.any(|steps| self.reaches_hard(steps, narrower))
            });
            let Some(reached) = reached else { break };
            width = reached;
        }
        let reached = self.point().map_or(0, |(steps, _)| steps);
        let mut fewer = self.strategy.step_choices(width, Aim::Shorter);
        fewer.retain(|&steps| steps < reached);
        match self.task.price {
            None => self.shorten(&fewer, width),
            Some(_) => self.trade(&fewer, width),
        }
    }

    /// The fewest of these steps that do at this width, by bisection.
    fn shorten(&mut self, fewer: &[u32], width: u32) {
        let mut range = 0..fewer.len();
        while !range.is_empty() {
            let middle = (range.start + range.end) / 2;
            range = if self.reaches_hard(fewer[middle], width) { range.start..middle } else { middle + 1..range.end };
        }
    }

    /// Fewer and fewer steps, at widths that still pay at the price of time.
    fn trade(&mut self, fewer: &[u32], width: u32) {
        for &steps in fewer.iter().rev() {
            let (mut wider, mut stride) = (width, 1);
            while self.pays(steps, wider) && !self.budget().is_spent(self.share) && self.control.stop().is_none() {
                if self.reaches_quickly(steps, wider) {
                    break;
                }
                if self.task.budget.is_none() {
                    self.own.spend(QUICK_TRIES.0 * self.cost(steps));
                }
                wider = self.strategy.wider(wider, stride);
                stride += stride.div_ceil(4);
            }
        }
    }

    /// Is a schedule so narrow wanted, or known from another planner, that working down from this width would hardly
    /// reach it? Only where no price is put on steps.
    fn is_in_vain(&self, width: u32) -> bool {
        let known = self.task.incumbent.map(|(_, known)| known);
        let least = known.into_iter().chain(self.task.near).min().filter(|_| self.task.price.is_none());
        least.is_some_and(|least| u64::from(width) > least + least / WITHIN_REACH + 2)
    }

    /// Is this wider than what another planner found, and not by the percent that fewer steps may be worth?
    fn is_beyond(&self, width: u32) -> bool {
        let known = self.task.incumbent.map(|(_, known)| known).filter(|_| self.task.price.is_none());
        known.is_some_and(|known| u64::from(width) > known + known / 100)
    }

    /// Would this point be better than the best schedule?
    fn pays(&self, steps: u32, width: u32) -> bool {
        let is_better = |best| self.rank((steps, width)) < self.rank(best);
        self.task.can_pay(steps, width) && self.point().is_none_or(is_better)
    }

    /// Lower is better: the time if it has a price, then the width, then the steps.
    fn rank(&self, (steps, width): (u32, u32)) -> (f64, u32, u32) {
        let volume = f64::from(width) / f64::from(self.task.problem.parts());
        (self.task.price.map_or(0.0, |price| price.seconds_for(steps as usize, volume)), width, steps)
    }

    fn reaches_quickly(&mut self, steps: u32, width: u32) -> bool {
        let tries = (QUICK_WORK / self.cost(steps)).clamp(QUICK_TRIES.0, QUICK_TRIES.1);
        let reached = self.reaches(steps, width, tries);
        if let Some(budget) = self.task.budget.filter(|_| !reached) {
            budget.spend(tries * self.cost(steps));
        }
        reached
    }

    /// Tries a point as often as the work left allows, and counts the work if it was in vain.
    fn reaches_hard(&mut self, steps: u32, width: u32) -> bool {
        if self.budget().is_spent(self.share) {
            return false;
        }
        let cost = self.cost(steps);
        let tries = (self.budget().left_for_tries(self.share) / cost).clamp(HARD_TRIES.0, HARD_TRIES.1);
        let made = |this: &Self| this.tried.get(&(steps, width)).copied().unwrap_or(0);
        let before = made(self);
        let reached = self.reaches(steps, width, tries);
        if !reached {
            self.budget().spend((made(self) - before).saturating_mul(cost));
        }
        reached
    }

    /// Tries a total width in the number of steps that deserves patience, if any.
    fn reaches_patiently(&mut self, width: u32) -> bool {
        let steps = self.strategy.patient_steps(width).filter(|&steps| self.pays(steps, width));
        self.control.stop().is_none()
            && steps.is_some_and(|steps| self.reaches_in(steps, width, 0..PATIENT_TRIES, GREAT_PATIENCE))
    }

    /// The most work that a try may cost.
    fn cost(&self, steps: u32) -> u64 {
        (TRY_ROUTINGS * self.strategy.routing_work(steps)).max(1)
    }

    fn budget(&self) -> &Budget {
        self.task.budget.unwrap_or(&self.own)
    }

    fn point(&self) -> Option<(u32, u32)> {
        self.best.as_ref().map(|found| (found.widths.len() as u32, found.width()))
    }

    /// Tries a point until it has had `tries` tries.
    fn reaches(&mut self, steps: u32, width: u32, tries: u64) -> bool {
        if width < steps || (self.best.is_some() && self.control.stop().is_some()) {
            return false;
        }
        // Once stopped, one try is still made if there is no schedule yet.
        if self.control.stop().is_none() && !self.strategy.may_fit(steps, width) {
            return false;
        }
        let tried = self.tried.get(&(steps, width)).copied().unwrap_or(0);
        if tried >= tries {
            return false;
        }
        self.tried.insert((steps, width), tries);
        self.reaches_in(steps, width, tried..tries, Patience::usual(self.strategy.routing_work(steps)))
    }

    /// Tries a point several times, from different starts, and keeps the first success in the order of the tries, which
    /// run in parallel without effect on the outcome.
    fn reaches_in(&mut self, steps: u32, width: u32, tries: Range<u64>, patience: Patience) -> bool {
        let tried = tries.start;
        let fallback = Mutex::new(None);
        let first = AtomicU64::new(u64::MAX);
        let found = tries.into_par_iter().find_map_first(|number| {
            // One try is always made, so that there is a schedule.
            if number > tried && self.control.stop().is_some() {
                return None;
            }
            let found = self.attempt(steps, width, number, patience, &first)?;
            if found.width() <= width {
                first.fetch_min(number, Ordering::Relaxed);
                return Some(found);
            }
            // If the point is not reached every try gets here, in any order: the least is always the same.
            let mut least = fallback.lock().unwrap_or_else(PoisonError::into_inner);
            if least.as_ref().is_none_or(|(other, by): &(Found<_>, u64)| (found.width(), number) < (other.width(), *by))
            {
                *least = Some((found, number));
            }
            None
        });
        let reached = found.is_some();
        let fallback = fallback.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(found, _)| found);
        if let Some(found) = found.or(fallback).filter(|found| self.pays(steps, found.width())) {
            self.best = Some(found);
        }
        reached
    }

    fn start(&self, steps: u32, width: u32, number: u64, pressure_cap: f64, patient: bool) -> Start {
        let widths = self.strategy.widths(steps, width, number);
        let seed = self.task.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        Start { widths, number, pressure_cap, patient, seed }
    }

    /// One try to reach a point; if it fails, overfull steps are widened until they are not. Tries differ in their
    /// widths and order, in the cap on the pressure, and in whether widths may move. A try ends once an earlier one,
    /// `first`, has succeeded. `None` if it was abandoned before everything had a route.
    fn attempt(
        &self,
        steps: u32,
        width: u32,
        number: u64,
        patience: Patience,
        first: &AtomicU64,
    ) -> Option<Found<Routes<S>>> {
        let abandon = || self.is_abandoned(steps);
        let usual_cap = PRESSURE_CAPS[number as usize % PRESSURE_CAPS.len()];
        let cap = if patience.is_great { PATIENT_CAP } else { usual_cap };
        let start = self.start(steps, width, number, cap, patience.is_great);
        let label = format!("{}{steps} steps, width {width}, try {}", self.label, number + 1);
        self.control.report(Progress { planner: self.planner, attempt: &label, round: 0, remaining: 0 });
        let mut negotiation = self.strategy.begin(start, &abandon)?;
        let (mut least, mut work_then, mut stale_rounds) = (u64::MAX, 0, 0);
        for round in 0.. {
            let remaining = negotiation.slots().overfull();
            self.control.report(Progress { planner: self.planner, attempt: &label, round, remaining });
            if remaining == 0 {
                break;
            }
            let work = negotiation.work();
            if remaining < least {
                (least, work_then, stale_rounds) = (remaining, work, 0);
            }
            let stuck = stale_rounds >= patience.rounds && work >= work_then + patience.progress;
            let needless = first.load(Ordering::Relaxed) < number;
            if stuck || needless || work >= patience.work || self.control.stop().is_some() {
                break;
            }
            stale_rounds += 1;
            if number % 4 == 3 && stale_rounds % RESHAPE_ROUNDS == 0 {
                negotiation.shift_width();
            }
            negotiation.round(self.control);
            negotiation.slots().raise();
        }
        Some(Found { widths: negotiation.needed_widths(), routes: negotiation.into_routes() })
    }
}
