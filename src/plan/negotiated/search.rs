//! Which numbers of steps and total widths to try, how hard, and from where.
//!
//! A *point* is a number of steps and a total width. The search first climbs from the bounds until some point is
//! reached, so that there is a schedule at all; then it works its way back down, harder. It ends at once when it stands
//! on the bounds.

use rayon::prelude::*;

use super::network::{Message, Network};
use super::rounds::Negotiation;
use super::router::WAIT;
use super::start;
use crate::plan::{Control, Progress, StopReason, Task, even_widths};

/// How many steps beyond the least are worth trying when nobody says.
const MORE_STEPS: u32 = 3;
/// Tries while climbing, and while working back down: as many as this many hops of messages allow, within the range.
const QUICK_TRIES: u64 = 4;
const HARD_TRIES: (u64, u64) = (4, 64);
const HARD_HOPS: u64 = 6_000_000;
/// How far the pressure rises, try by try.
const PRESSURE_CAPS: [f64; 4] = [20.0, 3.0, 2.0, 5.0];
/// A try ends after so many rounds without progress.
const PATIENCE: u32 = 40;

/// Every second try moves a unit of width from step to step after every so many rounds without progress.
const RESHAPE: u32 = 8;

/// A schedule found.
struct Found {
    widths: Vec<u32>,
    paths: Vec<u16>,
}

/// A search at work.
pub(super) struct Search<'a> {
    planner: &'static str,
    task: &'a Task<'a>,
    network: &'a Network,
    messages: &'a [Message],
    control: &'a Control,
    best: Option<Found>,
}

impl<'a> Search<'a> {
    pub fn new(
        planner: &'static str,
        task: &'a Task<'a>,
        network: &'a Network,
        messages: &'a [Message],
        control: &'a Control,
    ) -> Self {
        Self { planner, task, network, messages, control, best: None }
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

    /// Widens by 1, then by ever more, until a point is reached in the least steps or one more.
    fn climb(&mut self, least_steps: u32, most_steps: u32, least_width: u32) {
        let (mut width, mut stride) = (least_width, 1);
        while self.best.is_none() && self.control.stop().is_none() {
            for steps in least_steps..=most_steps.min(least_steps + 1) {
                if self.reaches(steps, width, QUICK_TRIES) {
                    return;
                }
            }
            width = width.saturating_add(stride);
            stride = stride.saturating_add(stride.div_ceil(4));
        }
    }

    /// Narrows the best schedule as far as it goes, then shortens it.
    fn descend(&mut self, least_steps: u32, most_steps: u32, least_width: u32) {
        while let Some((_, width)) = self.point().filter(|&(_, width)| width > least_width) {
            let narrower =
                (least_steps..=most_steps).any(|steps| self.reaches(steps, width - 1, self.hard_tries(steps)));
            if !narrower {
                break;
            }
        }
        if let Some((most, width)) = self.point() {
            let _shorter = (least_steps..most).any(|steps| self.reaches(steps, width, self.hard_tries(steps)));
        }
    }

    fn hard_tries(&self, steps: u32) -> u64 {
        let hops = self.messages.len() as u64 * u64::from(steps);
        (HARD_HOPS / hops.max(1)).clamp(HARD_TRIES.0, HARD_TRIES.1)
    }

    /// Steps and total width of the best schedule.
    fn point(&self) -> Option<(u32, u32)> {
        self.best.as_ref().map(|found| (found.widths.len() as u32, found.widths.iter().sum()))
    }

    /// Tries a point several times, from different starts; the first success, in the order of the tries, is kept.
    /// The tries run side by side, which changes nothing about their outcome.
    fn reaches(&mut self, steps: u32, width: u32, tries: u64) -> bool {
        if width < steps {
            return false;
        }
        let warm = start::paths(self.task.problem, self.network, self.messages, steps as usize);
        let found = (0..tries).into_par_iter().find_map_first(|number| self.attempt(steps, width, number, &warm));
        let reached = found.is_some();
        self.best = found.or(self.best.take());
        reached
    }

    fn attempt(&self, steps: u32, width: u32, number: u64, warm: &[u16]) -> Option<Found> {
        let mut widths = even_widths(width, steps);
        // The wider steps come first, last, or after the first third.
        widths.rotate_right([0, (steps - width % steps) % steps, steps / 3][number as usize % 3] as usize);
        let paths = if number % 8 == 7 { vec![WAIT; warm.len()] } else { warm.to_vec() };
        let seed = self.task.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        let reshapes = number % 2 == 1;
        let label = format!("{steps} steps, width {width}, try {}", number + 1);
        let cap = PRESSURE_CAPS[number as usize % PRESSURE_CAPS.len()];
        let mut negotiation = Negotiation::new(self.network, self.messages, widths, paths, cap, seed);
        let (mut least, mut patience, mut round) = (u64::MAX, PATIENCE, 0);
        loop {
            let remaining = negotiation.overfull();
            self.control.report(Progress { planner: self.planner, attempt: &label, round, remaining });
            if remaining == 0 {
                let (widths, paths) = negotiation.into_parts();
                return Some(Found { widths, paths });
            }
            patience = if remaining < least { PATIENCE } else { patience - 1 };
            if patience == 0 || self.control.stop().is_some() {
                return None;
            }
            least = least.min(remaining);
            if reshapes && patience % RESHAPE == 0 {
                negotiation.shift_width();
            }
            negotiation.round();
            round += 1;
        }
    }
}
