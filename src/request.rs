//! Planning in a few lines: a request, its plan, and from there to a schedule that is known to hold.

use std::ops::Deref;
use std::time::{Duration, Instant};

use collsynth_core::collective::{Kind, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Solution;
use collsynth_core::topology::Topology;
use collsynth_plan::cost::Price;
use collsynth_plan::{Control, Goal, Parts, Plan, PlanError, Planner, bound, synthesize};
use collsynth_verify::verify::{Options, Rejected, Verified};

/// Verifying a move: twice what was measured on large machines.
const VERIFYING_A_MOVE: Duration = Duration::from_nanos(100);
/// The same of a link in a step of the compact form.
const VERIFYING_A_SLOT: Duration = Duration::from_micros(1);

/// A planning request: a collective on a topology, and the goal of its schedule.
///
/// Unless stated otherwise: whole messages, whichever planner does best, the least volume in the fewest steps that
/// reach it, and no time limit.
///
/// ```
/// use std::time::Duration;
///
/// use collsynth::{Kind, Parts, Request, Topology};
///
/// let torus = Topology::torus(&[4, 4])?.fail_cable(2, 3)?;
/// let plan = Request::new(&torus, Kind::AllToAll).parts(Parts::Auto).time_limit(Duration::from_secs(5)).run()?;
/// let schedule = plan.verify()?;
/// assert_eq!(schedule.schedule.step_count(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Request<'a> {
    topology: &'a Topology,
    kind: Kind,
    goal: Goal<'a>,
    control: Control,
    time_limit: Option<Duration>,
}

/// A plan that has not been verified: [`PlannedSchedule::verify`] is the only way to something that can be written,
/// lowered or run. Its fields are those of [`Plan`].
#[derive(Clone, Debug)]
pub struct PlannedSchedule(Plan);

impl<'a> Request<'a> {
    /// A request without limits.
    pub fn new(topology: &'a Topology, kind: Kind) -> Self {
        let (goal, control) = (Goal::default(), Control::unlimited());
        Self { topology, kind, goal, control, time_limit: None }
    }

    /// Replaces the whole goal.
    pub fn goal(self, goal: Goal<'a>) -> Self {
        Self { goal, ..self }
    }

    /// Uses this planner and no other; anyone may implement [`Planner`].
    pub fn planner(mut self, planner: &'a dyn Planner) -> Self {
        self.goal.planner = Some(planner);
        self
    }

    /// The number of parts of each message.
    pub fn parts(mut self, parts: Parts) -> Self {
        self.goal.parts = parts;
        self
    }

    /// Exactly this many steps.
    pub fn steps(mut self, steps: u32) -> Self {
        self.goal.steps = Some(steps);
        self
    }

    /// At most this many steps.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.goal.max_steps = Some(steps);
        self
    }

    /// The least time at this price, instead of the least volume.
    pub fn price(mut self, price: Price) -> Self {
        self.goal.price = Some(price);
        self
    }

    /// The same request and seed give the same schedule.
    pub fn seed(mut self, seed: u64) -> Self {
        self.goal.seed = seed;
        self
    }

    /// Wall time, from the start of [`Request::run`], after which the best schedule found is returned.
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// How to interrupt planning and to follow its progress.
    pub fn control(self, control: Control) -> Self {
        Self { control, ..self }
    }

    /// Plans, and searches for joint certificates in steps and volume if the schedule does not meet its bounds.
    ///
    /// # Errors
    ///
    /// As [`synthesize`].
    pub fn run(&self) -> Result<PlannedSchedule, PlanError> {
        let control = match self.time_limit.and_then(|limit| Instant::now().checked_add(limit)) {
            Some(deadline) => self.control.clone().with_deadline(deadline),
            None => self.control.clone(),
        };
        let mut plan = synthesize(self.topology, &self.kind, &self.goal, &control)?;
        plan.prove_jointly(&control);
        Ok(PlannedSchedule(plan))
    }
}

/// What a time limit leaves for planning: all but what verifying will take, which is half of it at most. Judging a move
/// takes 100 ns. A schedule on its volume bound is judged, in which no chunk moves more often than it must: what goes
/// from rank to rank, at most as often as these are apart, and other chunks once for each rank before and after.
pub fn planning_time(problem: &Problem, limit: Duration) -> Duration {
    let moves = bound::find(problem).map_or(0.0, |bounds| {
        let most = match problem.collective().kind.pattern() {
            Pattern::OneToOne => bounds.least_steps(),
            Pattern::OneToEvery | Pattern::EveryToOne => problem.topology().rank_count() as u32,
            Pattern::EveryToEvery => 2 * problem.topology().rank_count() as u32,
        };
        let capacity = problem.topology().live_links().map(|id| f64::from(problem.topology().link(id).capacity));
        let volume = bounds.volume.map_or(0.0, |bound| {
            *bound.at_least.numer() as f64 / *bound.at_least.denom() as f64 * f64::from(problem.parts())
        });
        (volume * capacity.sum::<f64>()).min(f64::from(problem.chunk_count()) * f64::from(most))
    });
    limit - VERIFYING_A_MOVE.mul_f64(moves).min(limit / 2)
}

/// The same for a plan in the compact form, whose links are judged, a microsecond for each in each step.
pub fn compact_planning_time(problem: &Problem, limit: Duration) -> Duration {
    let steps = bound::find(problem).map_or(0, |bounds| bounds.least_steps());
    limit - (VERIFYING_A_SLOT * problem.topology().links().len() as u32 * steps).min(limit / 2)
}

impl PlannedSchedule {
    /// Has the schedule executed and its bounds checked by the judge.
    ///
    /// # Errors
    ///
    /// [`Rejected`] if it does not hold: the planner has a bug.
    pub fn verify(self) -> Result<Verified<Solution>, Box<Rejected>> {
        Verified::<Solution>::new(self.0.into(), &Options::default())
    }

    /// The plan itself.
    pub fn into_inner(self) -> Plan {
        self.0
    }
}

impl Deref for PlannedSchedule {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{RankId, Topology};

    use super::planning_time;

    #[test]
    fn a_time_limit_has_room_for_the_verdict() {
        let left = |extents: &[u32], parts, limit| {
            let torus = Topology::torus(extents).unwrap();
            let problem = Problem::new(torus, Collective { kind: Kind::AllToAll, parts }).unwrap();
            planning_time(&problem, Duration::from_millis(limit))
        };
        // On its volume bound of 2 messages, an all-to-all on a ring of 4 moves 2 chunks over each of 8 links.
        assert_eq!(left(&[4], 1, 1000), Duration::from_nanos(1_000_000_000 - 16 * 100));
        assert_eq!(left(&[4], 3, 1000), Duration::from_nanos(1_000_000_000 - 3 * 16 * 100));
        // Never less than half.
        assert_eq!(left(&[16, 16], 50, 10), Duration::from_millis(5));
        // Of a scatter, each of 15 messages makes at most 4 hops, though it keeps few of the 64 links busy.
        let scatter =
            Problem::new(Topology::torus(&[4, 4]).unwrap(), Collective::new(Kind::Scatter(RankId(0)))).unwrap();
        let second = Duration::from_secs(1);
        assert_eq!(second - planning_time(&scatter, second), Duration::from_nanos(16 * 4 * 100));
    }
}
