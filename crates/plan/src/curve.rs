//! The trade of steps against volume: not one schedule but all those of which none is better in both.
//!
//! A schedule of `S` steps and volume `V` takes `alpha * S + V * bytes / bandwidth`; which one is fastest depends on
//! the size of the messages. Those worth having form a curve that falls from few steps and much volume to many steps
//! and little:
//!
//! ```text
//!   V |  x                   x  on the front: nothing has fewer steps and no more volume,
//!     |      . x             .  dominated       nor less volume in no more steps
//!     |          .  x
//!     +---------------- S
//! ```
//!
//! For each number of parts, planning without a wish gives the least volume it finds; fewer steps are then asked for
//! again and again down to the distance bound, and more steps as long as they pay. What cannot get onto the front even
//! if its volume bound is met is not planned at all.

use std::ops::RangeInclusive;

use super::driver::plan_bounded;
use super::{Control, Parts, Plan, PlanError, StopReason, Wish};
use crate::bound;
use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;

/// More steps are asked for until they have been of no use so many times.
const VAIN_TRIES: u32 = 2;

/// Points of which none is at least as good as another in both steps and volume, by ascending steps.
///
/// ```
/// # use collsynth_plan::Front;
/// # use collsynth_core::certificate::Rational;
/// let mut front = Front::default();
/// assert!(front.insert(6, Rational::from(13), "a") && front.insert(7, Rational::from(12), "b"));
/// assert!(!front.insert(7, Rational::from(13), "dominated"));
/// assert!(front.insert(6, Rational::from(12), "better than both"));
/// assert_eq!(front.into_points(), [(6, Rational::from(12), "better than both")]);
/// ```
#[derive(Clone, Debug)]
pub struct Front<T> {
    points: Vec<(usize, Rational, T)>,
}

impl<T> Default for Front<T> {
    fn default() -> Self {
        Self { points: Vec::new() }
    }
}

impl<T> Front<T> {
    /// True if some point has no more steps and no more volume.
    pub fn covers(&self, steps: usize, volume: Rational) -> bool {
        self.points.iter().any(|(other, by, _)| *other <= steps && *by <= volume)
    }

    /// Adds a point, and drops those it makes needless. False if it is needless itself.
    pub fn insert(&mut self, steps: usize, volume: Rational, what: T) -> bool {
        if self.covers(steps, volume) {
            return false;
        }
        self.points.retain(|(other, by, _)| *other < steps || *by < volume);
        let at = self.points.partition_point(|(other, ..)| *other < steps);
        self.points.insert(at, (steps, volume, what));
        true
    }

    /// The points: steps, volume, and what was given with them.
    pub fn into_points(self) -> Vec<(usize, Rational, T)> {
        self.points
    }
}

/// Plans the curve of a collective on a topology for these numbers of parts. Every schedule that is on the front when
/// it is found is given to `found`, with the wish that [`synthesise`](super::synthesise) meets with the very same
/// schedule; some later ones may dominate it. The wish says the planner, the seed and the most steps; what it says of
/// steps, parts and price is not used. The least parts come first.
///
/// # Errors
///
/// A [`PlanError`] if there is no schedule at all.
pub fn trace(
    topology: &Topology,
    kind: &Kind,
    wish: &Wish,
    parts: &[u32],
    control: &Control,
    found: impl FnMut(&Wish, Plan),
) -> Result<StopReason, PlanError> {
    let mut findings = OnFront { front: Front::default(), found };
    let mut failure = None;
    let mut parts = parts.to_vec();
    parts.sort_unstable();
    parts.dedup();
    for parts in parts {
        if control.stop().is_some() && !findings.front.points.is_empty() {
            break;
        }
        let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts })?;
        let bounds = bound::find(&problem)?;
        if let Err(error) = trace_bounded(&problem, &bounds, wish, control, &mut findings) {
            failure.get_or_insert(error);
        }
    }
    match failure {
        Some(error) if findings.front.points.is_empty() => Err(error),
        _ => Ok(control.stop().unwrap_or(StopReason::Finished)),
    }
}

/// Whoever has a use for the schedules of a curve.
pub(super) trait Findings {
    /// Is there no use for schedules of at least so many steps and so much volume?
    fn has_enough(&self, steps: usize, volume: Rational) -> bool;

    /// Is there no use for schedules of so many steps? Their volume is at least `least`, and likely at least `seen`,
    /// which is what more steps took.
    fn has_enough_below(&self, steps: RangeInclusive<usize>, least: Rational, seen: Rational) -> bool;

    /// A schedule, with the wish it was planned for.
    fn add(&mut self, wish: &Wish, plan: Plan);
}

/// Keeps the front, and hands on what is on it when it is found.
struct OnFront<F> {
    front: Front<()>,
    found: F,
}

impl<F: FnMut(&Wish, Plan)> Findings for OnFront<F> {
    fn has_enough(&self, steps: usize, volume: Rational) -> bool {
        self.front.covers(steps, volume)
    }

    fn has_enough_below(&self, steps: RangeInclusive<usize>, least: Rational, _seen: Rational) -> bool {
        self.front.covers(*steps.end(), least)
    }

    fn add(&mut self, wish: &Wish, plan: Plan) {
        let volume = Rational::new(plan.schedule.total_width().into(), plan.problem.parts().into());
        if self.front.insert(plan.schedule.step_count(), volume, ()) {
            (self.found)(wish, plan);
        }
    }
}

/// Plans the curve for one number of parts, as far as it is of use.
pub(super) fn trace_bounded(
    problem: &Problem,
    bounds: &Bounds,
    wish: &Wish,
    control: &Control,
    findings: &mut impl Findings,
) -> Result<(), PlanError> {
    let wish = Wish { parts: Parts::Fixed(problem.parts()), steps: None, price: None, ..wish.clone() };
    Tracing { problem, bounds, wish, control, findings }.run()
}

/// The numbers of parts worth trying when nobody says: powers of two up to those at which the volume bound can be met,
/// then twice and four times as many; 1 where cutting changes nothing.
///
/// # Errors
///
/// As [`trace`].
pub fn useful_parts(topology: &Topology, kind: &Kind) -> Result<Vec<u32>, PlanError> {
    if !can_be_cut(kind) {
        return Ok(vec![1]);
    }
    let whole = Problem::new(topology.clone(), Collective::new(kind.clone()))?;
    let bounds = bound::find(&whole)?;
    let (exact, most) = super::driver::best_parts(&whole, &bounds, None);
    let powers = (0..).map(|exponent| 1 << exponent).take_while(|&parts| parts < exact);
    Ok(powers.chain([exact, 2 * exact, 4 * exact]).filter(|&parts| parts <= most).collect())
}

/// Can messages of this kind be cut in more parts? A barrier has one chunk, and a demand says its chunks itself.
pub fn can_be_cut(kind: &Kind) -> bool {
    kind.can_be_cut()
}

/// The curve for one number of parts.
struct Tracing<'a, F> {
    problem: &'a Problem,
    bounds: &'a Bounds,
    wish: Wish,
    control: &'a Control,
    findings: &'a mut F,
}

impl<F: Findings> Tracing<'_, F> {
    fn run(mut self) -> Result<(), PlanError> {
        let (least_steps, least) = (self.bounds.least_steps() as usize, self.least_volume());
        let most_steps = self.wish.max_steps.map_or(usize::MAX, |most| most as usize);
        if self.findings.has_enough(least_steps, least) {
            return Ok(());
        }
        let (first, mut volume, least_of_all) = self.plan(None, self.wish.max_steps)?;
        let (mut steps, mut seen) = (first, volume);
        while steps > least_steps
            && !self.findings.has_enough_below(least_steps..=steps - 1, least, seen)
            && self.control.stop().is_none()
        {
            match self.plan(None, Some((steps - stride(steps)).max(least_steps) as u32)) {
                Ok((fewer, more, _)) if fewer < steps => (steps, seen) = (fewer, more),
                _ => break,
            }
        }
        // More steps are no use where it is proven that no schedule has less volume.
        let (mut steps, mut vain) = (first, if least_of_all { VAIN_TRIES } else { 0 });
        while vain < VAIN_TRIES && !self.findings.has_enough(steps + 1, least) && self.control.stop().is_none() {
            steps += stride(steps);
            if steps > most_steps {
                break;
            }
            match self.plan(Some(steps as u32), None) {
                Ok((_, less, _)) if less < volume => (volume, vain) = (less, 0),
                _ => vain += 1,
            }
        }
        Ok(())
    }

    /// Plans for these steps, and gives the steps and the volume of what comes of it, and whether it is proven optimal.
    fn plan(&mut self, steps: Option<u32>, max_steps: Option<u32>) -> Result<(usize, Rational, bool), PlanError> {
        let wish = Wish { steps, max_steps, ..self.wish.clone() };
        let plan = plan_bounded(self.problem.clone(), self.bounds.clone(), &wish, self.control)?;
        let figures = (plan.schedule.step_count(), self.volume(plan.schedule.total_width()), plan.proven);
        self.findings.add(&wish, plan);
        Ok(figures)
    }

    fn volume(&self, width: u64) -> Rational {
        Rational::new(i128::from(width), i128::from(self.problem.parts()))
    }

    /// The least volume there can be with so many parts.
    fn least_volume(&self) -> Rational {
        self.volume(self.bounds.least_width(self.problem.parts()).into())
    }
}

/// From a number of steps to the next one to try: 1, more for many steps.
fn stride(steps: usize) -> usize {
    (steps / 8).max(1)
}
