//! Which numbers of steps and total widths to try, how hard, and from where.
//!
//! A *point* is a number of steps and a total width. The search first climbs from the bounds until some point is
//! reached, so that there is a schedule at all; then it works its way back down, harder. It ends at once when it stands
//! on the bounds.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::network::{Message, Network};
use super::rounds::Negotiation;
use super::router::WAIT;
use super::start;
use crate::plan::{Control, Progress, StopReason, Task, even_widths};

/// How many steps beyond the least are worth trying when nobody says.
const MORE_STEPS: u32 = 3;
/// Tries while climbing.
const QUICK_TRIES: u64 = 4;
/// Tries while working back down: as many as fit in this much work, within the range.
const HARD_TRIES: (u64, u64) = (4, 40);
const HARD_WORK: u64 = 3_000_000_000;
/// A routing of all messages, in rough terms: so many links looked at per message and step.
const LINKS_PER_ROUTING: u64 = 60;
/// What a try may cost, in routings of all messages.
const TRY_ROUTINGS: u64 = 20;
/// A try ends when it has made no progress in so many rounds and in the work of so many routings of all messages.
const PATIENCE_ROUNDS: u32 = 40;
const PATIENCE_ROUTINGS: u64 = 10;
/// How far the pressure rises, try by try.
const PRESSURE_CAPS: [f64; 4] = [20.0, 3.0, 2.0, 5.0];
/// Every fourth try moves a unit of width from step to step after every so many rounds without progress.
const RESHAPE_ROUNDS: u32 = 8;

/// A schedule found.
struct Found {
    widths: Vec<u32>,
    paths: Vec<u16>,
}

impl Found {
    fn width(&self) -> u32 {
        self.widths.iter().sum()
    }
}

/// A search at work.
pub(super) struct Search<'a> {
    planner: &'static str,
    task: &'a Task<'a>,
    network: &'a Network,
    messages: &'a [Message],
    control: &'a Control,
    best: Option<Found>,
    /// Tries made so far, per steps and total width.
    tried: BTreeMap<(u32, u32), u64>,
    /// The paths tries begin with, per number of steps.
    warm: BTreeMap<u32, Vec<u16>>,
}

impl<'a> Search<'a> {
    pub fn new(
        planner: &'static str,
        task: &'a Task<'a>,
        network: &'a Network,
        messages: &'a [Message],
        control: &'a Control,
    ) -> Self {
        Self { planner, task, network, messages, control, best: None, tried: BTreeMap::new(), warm: BTreeMap::new() }
    }

    /// Searches from this number of steps up.
    pub fn run(&mut self, least_steps: u32) -> StopReason {
        if self.messages.is_empty() {
            self.best = Some(Found { widths: Vec::new(), paths: Vec::new() });
            return StopReason::Finished;
        }
        let most_steps = match (self.task.steps, self.task.max_steps) {
            (Some(steps), _) => steps,
            (None, Some(most)) => most,
            (None, None) => least_steps + MORE_STEPS,
        };
        // Every step is at least 1 wide.
        let least_width = self.task.bounds.least_width(self.task.problem.parts()).max(least_steps);
        self.climb(least_steps, most_steps, least_width);
        self.descend(least_steps, most_steps, least_width);
        self.control.stop().unwrap_or(StopReason::Finished)
    }

    /// The widths and paths of the best schedule found.
    pub fn into_best(self) -> Option<(Vec<u32>, Vec<u16>)> {
        self.best.map(|found| (found.widths, found.paths))
    }

    /// Widens by 1, then by ever more, until a point is reached in the least steps or one more. What a failed try leaves
    /// behind is a schedule too, if a wide one: the climb ends there at the latest.
    fn climb(&mut self, least_steps: u32, most_steps: u32, least_width: u32) {
        let (mut width, mut stride) = (least_width, 1);
        loop {
            for steps in least_steps..=most_steps.min(least_steps + 1) {
                if self.reaches(steps, width, QUICK_TRIES) {
                    return;
                }
            }
            width = width.saturating_add(stride);
            stride = stride.saturating_add(stride.div_ceil(4));
            if self.point().is_some_and(|(_, found)| found <= width) || self.control.stop().is_some() {
                return;
            }
        }
    }

    /// Narrows what was reached as far as it goes, then tries fewer steps: at the same width, or at such widths as still
    /// pay where time has a price.
    fn descend(&mut self, least_steps: u32, most_steps: u32, least_width: u32) {
        let Some((_, mut width)) = self.point() else { return };
        while width > least_width
            && (least_steps..=most_steps).any(|steps| self.reaches(steps, width - 1, self.hard_tries(steps)))
        {
            width -= 1;
        }
        let reached = self.point().map_or(least_steps, |(steps, _)| steps);
        for steps in least_steps..reached {
            let mut wider = width;
            while self.pays(steps, wider) && self.control.stop().is_none() {
                if self.reaches(steps, wider, self.hard_tries(steps)) {
                    return;
                }
                wider += 1;
            }
        }
    }

    /// Would this point be better than the best schedule?
    fn pays(&self, steps: u32, width: u32) -> bool {
        self.point().is_none_or(|best| self.rank((steps, width)) < self.rank(best))
    }

    /// Lower is better: the time where it has a price, then the width, then the steps.
    fn rank(&self, (steps, width): (u32, u32)) -> (f64, u32, u32) {
        let volume = f64::from(width) / f64::from(self.task.problem.parts());
        (self.task.price.map_or(0.0, |price| price.seconds_for(steps as usize, volume)), width, steps)
    }

    /// The work of one routing of all messages in so many steps, in rough terms.
    fn routing_work(&self, steps: u32) -> u64 {
        self.messages.len() as u64 * u64::from(steps) * LINKS_PER_ROUTING
    }

    fn hard_tries(&self, steps: u32) -> u64 {
        (HARD_WORK / (TRY_ROUTINGS * self.routing_work(steps))).clamp(HARD_TRIES.0, HARD_TRIES.1)
    }

    /// Steps and total width of the best schedule.
    fn point(&self) -> Option<(u32, u32)> {
        self.best.as_ref().map(|found| (found.widths.len() as u32, found.width()))
    }

    /// Tries a point several times, from different starts; the first success, in the order of the tries, is kept.
    /// The tries run side by side, which changes nothing about their outcome.
    fn reaches(&mut self, steps: u32, width: u32, tries: u64) -> bool {
        if width < steps || (self.best.is_some() && self.control.stop().is_some()) {
            return false;
        }
        let tried = self.tried.insert((steps, width), tries).unwrap_or(0);
        if tried >= tries {
            return false;
        }
        let warm = self
            .warm
            .remove(&steps)
            .unwrap_or_else(|| start::paths(self.task.problem, self.network, self.messages, steps as usize));
        let fallback = Mutex::new(None);
        let found = (tried..tries).into_par_iter().find_map_first(|number| {
            let found = self.attempt(steps, width, number, &warm);
            if found.width() <= width {
                return Some(found);
            }
            // Every try of a point that is not reached gets here, in whatever order: the least is always the same.
            let mut least = fallback.lock().unwrap_or_else(PoisonError::into_inner);
            if least.as_ref().is_none_or(|(other, by): &(Found, u64)| (found.width(), number) < (other.width(), *by)) {
                *least = Some((found, number));
            }
            None
        });
        self.warm.insert(steps, warm);
        let reached = found.is_some();
        let fallback = fallback.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(found, _)| found);
        if let Some(found) = found.or(fallback).filter(|found| self.pays(steps, found.width())) {
            self.best = Some(found);
        }
        reached
    }

    /// One try to reach a point; where it fails, steps that are overfull are widened until they are not. Tries differ in where the wider steps stand, in how far the pressure rises, in whether
    /// widths may move and whether the template is the start, and in the order of the messages.
    fn attempt(&self, steps: u32, width: u32, number: u64, warm: &[u16]) -> Found {
        let mut widths = even_widths(width, steps);
        // The wider steps come first, last, or after the first third.
        widths.rotate_right([0, (steps - width % steps) % steps, steps / 3][number as usize % 3] as usize);
        let paths = if number % 8 == 6 { vec![WAIT; warm.len()] } else { warm.to_vec() };
        let cap = PRESSURE_CAPS[number as usize % PRESSURE_CAPS.len()];
        let seed = self.task.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        let mut negotiation = Negotiation::new(self.network, self.messages, widths, paths, cap, seed);

        let label = format!("{steps} steps, width {width}, try {}", number + 1);
        let routing = self.routing_work(steps);
        let (mut least, mut work_then, mut stale_rounds) = (u64::MAX, 0, 0);
        for round in 0.. {
            let remaining = negotiation.overfull();
            self.control.report(Progress { planner: self.planner, attempt: &label, round, remaining });
            if remaining == 0 {
                break;
            }
            let work = negotiation.work();
            if remaining < least {
                (least, work_then, stale_rounds) = (remaining, work, 0);
            }
            let stuck = stale_rounds >= PATIENCE_ROUNDS && work >= work_then + PATIENCE_ROUTINGS * routing;
            if stuck || work >= TRY_ROUTINGS * routing || self.control.stop().is_some() {
                negotiation.widen();
                break;
            }
            stale_rounds += 1;
            if number % 4 == 3 && stale_rounds % RESHAPE_ROUNDS == 0 {
                negotiation.shift_width();
            }
            negotiation.round(self.control);
        }
        let (widths, paths) = negotiation.into_parts();
        Found { widths, paths }
    }
}
