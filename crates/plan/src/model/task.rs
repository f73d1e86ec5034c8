//! The input of a planner.

use std::cmp::Ordering;

use crate::model::addition::addition_depth;
use crate::model::control::budget::Budget;
use crate::model::cost::Price;
use crate::model::error::PlanError;
use crate::model::sharper::SharperBounds;
use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

/// One planning job.
#[derive(Clone)]
pub struct Task<'a> {
    /// The problem; its parts are fixed.
    pub problem: &'a Problem,
    /// Lower bounds already proven for the problem, as targets.
    pub bounds: &'a Bounds,
    /// More costly bounds, computed only if the cheap ones are not met.
    pub sharper: Option<&'a SharperBounds<'a>>,
    /// Exactly this many steps, if stated.
    pub steps: Option<u32>,
    /// At most this many steps, if stated.
    pub max_steps: Option<u32>,
    /// Prices of time, if stated; otherwise the least volume counts, then the fewest steps.
    pub price: Option<Price>,
    /// A total width below which only steps count, if there is one.
    pub near: Option<u64>,
    /// Steps and total width of the best schedule that other planners found; a search for anything wider is in vain.
    pub incumbent: Option<(usize, u64)>,
    /// Seconds that a schedule must beat to be worth anything, where time has a price and there is a plan.
    pub beat: Option<f64>,
    /// Is only what is quick asked for? A planner that would try several things leaves out those that are not.
    pub only_quick: bool,
    /// The work that all searches for the same answer may do in vain, if they share it; else each has its own.
    pub budget: Option<&'a Budget>,
    /// Breaks ties and drives random choices: same task and seed, same schedule.
    pub seed: u64,
}

impl<'a> Task<'a> {
    /// A task without limits, prices or costly bounds.
    pub fn new(problem: &'a Problem, bounds: &'a Bounds) -> Self {
        Self {
            problem,
            bounds,
            sharper: None,
            steps: None,
            max_steps: None,
            price: None,
            near: None,
            incumbent: None,
            beat: None,
            only_quick: false,
            budget: None,
            seed: 0,
        }
    }

    /// The number of steps to plan for: the number stated, or else `least`.
    ///
    /// # Errors
    ///
    /// [`PlanError::TooFewSteps`] if the number stated is below the distance bound.
    pub fn steps_or(&self, least: u32) -> Result<u32, PlanError> {
        for wanted in self.steps.into_iter().chain(self.max_steps) {
            if let Some(bound) = self.bounds.steps.as_ref().filter(|bound| wanted < bound.at_least) {
                return Err(PlanError::TooFewSteps {
                    wanted,
                    distance: bound.at_least,
                    from: bound.from,
                    to: bound.to,
                });
            }
        }
        Ok(self.steps.unwrap_or(least))
    }

    /// Checks a number of steps that a planner cannot change against the stated number or maximum.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotFound`] if it does not fit.
    pub fn check_steps(&self, planner: &'static str, steps: usize) -> Result<(), PlanError> {
        let refuse = |limit: String| Err(PlanError::NotFound { planner, limit: format!("{limit} (it takes {steps})") });
        match (self.steps, self.max_steps) {
            (Some(wanted), _) if wanted as usize != steps => refuse(format!("exactly {wanted} steps")),
            (_, Some(most)) if steps > most as usize => refuse(format!("{most} steps")),
            _ => Ok(()),
        }
    }

    /// Can schedules of at least these steps and this total width be worth anything?
    pub fn can_pay(&self, steps: u32, width: u32) -> bool {
        let volume = f64::from(width) / f64::from(self.problem.parts());
        let seconds = self.price.map_or(0.0, |price| price.seconds_for(steps as usize, volume));
        self.beat.is_none_or(|beat| seconds < beat)
    }

    /// A schedule in exactly the steps stated: if it has fewer, idle steps follow.
    pub fn in_stated_steps(&self, schedule: Schedule) -> Schedule {
        let missing = self.steps.map_or(0, |steps| steps as usize).saturating_sub(schedule.step_count());
        let mut longer = schedule.into_builder();
        for _ in 0..missing {
            longer.step(1);
        }
        longer.finish()
    }

    /// Is the first schedule better: cheaper if there are prices, else of less volume, then of fewer steps? Of two that
    /// are equal in both figures, the one whose sums are less deep.
    pub fn prefers(&self, first: &Schedule, second: &Schedule) -> bool {
        let figures = |of: &Schedule| (of.step_count(), of.total_width());
        let order = self.order(figures(first), figures(second));
        let shallower = || addition_depth(self.problem, first) < addition_depth(self.problem, second);
        order.is_lt() || (order.is_eq() && figures(first) == figures(second) && shallower())
    }

    /// Of two pairs of steps and total width, the better one is less.
    pub(crate) fn order(&self, first: (usize, u64), second: (usize, u64)) -> Ordering {
        let volume = |width: u64| width as f64 / f64::from(self.problem.parts());
        match self.price {
            Some(price) => {
                let seconds = |(steps, width): (usize, u64)| price.seconds_for(steps, volume(width));
                seconds(first).total_cmp(&seconds(second))
            }
            None => self.rank(first).cmp(&self.rank(second)),
        }
    }

    /// Less is better: the width if it is not near enough, the steps, the width.
    fn rank(&self, (steps, width): (usize, u64)) -> (u64, usize, u64) {
        (if self.is_near_enough(width) { 0 } else { width }, steps, width)
    }

    /// Is the schedule near enough to the volume bound?
    pub fn is_near(&self, schedule: &Schedule) -> bool {
        self.is_near_enough(schedule.total_width())
    }

    fn is_near_enough(&self, width: u64) -> bool {
        self.near.is_some_and(|near| width <= near)
    }

    /// Has another planner come near enough?
    pub(crate) fn has_near_incumbent(&self) -> bool {
        self.incumbent.is_some_and(|(_, width)| self.is_near_enough(width))
    }

    /// Does the schedule meet both bounds, in the steps stated?
    pub fn is_optimal(&self, schedule: &Schedule) -> bool {
        let bounds = self.sharper.map_or(self.bounds, SharperBounds::known);
        let least_steps = self.steps.unwrap_or(bounds.least_steps());
        schedule.step_count() as u64 == u64::from(least_steps)
            && schedule.total_width() == u64::from(bounds.least_width(self.problem.parts()).max(least_steps))
    }
}
