//! Planning in a few lines: a request, its plan, and from there to a schedule that is known to hold. Jobs likewise.

mod grain;
mod job;
mod judged;
mod pattern;

use std::ops::Deref;
use std::time::{Duration, Instant};

use collsynth_core::collective::{Kind, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{AnySchedule, AnySolution, Origin, Solution, Stated};
use collsynth_core::topology::{Topology, UNREACHABLE};
use collsynth_plan::cost::Price;
use collsynth_plan::{Control, Goal, Parts, Plan, PlanError, Planner, synthesize};
use collsynth_verify::verify::{Options, Rejected, Verified};

use crate::form::{Form, FormError, formed};
use pattern::PlannedPattern;

pub use job::{JobRequest, JobRequestError, PlannedJob, Size};
pub use judged::Judged;

/// Verifying and writing a move: twice what was measured on large machines.
const FINISHING_A_MOVE: Duration = Duration::from_nanos(400);
/// The same where values are added: what was measured.
const FINISHING_A_MOVE_OF_SUMS: Duration = Duration::from_nanos(800);
/// Patterns seldom take as long to judge as they are said to: this share less may do.
const SPARE: u32 = 8;

/// A planning request: a collective on a topology, and the goal of its schedule.
///
/// Unless stated otherwise: whole messages (vectors that all ranks share in [enough](Parts::Enough) parts), whichever
/// planner does best, the least volume in the fewest steps that reach it, and no time limit. A kind
/// [in groups](Kind::in_groups) is planned in each of them at once; several collectives that run at once are a
/// [`JobRequest`].
///
/// ```
/// use std::time::Duration;
///
/// use collsynth::{Kind, Parts, Request, Topology};
///
/// let torus = "4x4".parse::<Topology>()?.fail_cable(2, 3)?;
/// let plan = Request::new(&torus, Kind::AllToAll).parts(Parts::Auto).time_limit(Duration::from_secs(5)).run()?;
/// let schedule = plan.verify()?;
/// assert_eq!(schedule.schedule.step_count(), 4);
/// // The judge has checked the bound: no schedule has less volume.
/// let volume = schedule.quality().volume;
/// assert_eq!((volume.value.to_string(), volume.gap()), ("64/7".to_owned(), Some(0.0)));
/// // What `synth verify` reads.
/// assert!(schedule.to_json().starts_with('{'));
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

/// A plan that has not been verified: [`PlannedSchedule::verify`] leads to what can be written, lowered or run.
///
/// Its fields are those of [`Plan`].
#[derive(Clone, Debug)]
pub struct PlannedSchedule {
    plan: Plan<AnySchedule>,
    seed: u64,
}

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

    /// Wall time, from the start of [`Request::run`], after which the best schedule found is returned; the first may
    /// come a little later.
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// How to interrupt planning and to follow its progress.
    pub fn control(self, control: Control) -> Self {
        Self { control, ..self }
    }

    /// Is a pattern planned before every move? On machines of 512 ranks and more where that can be done, unless another
    /// planner is stated than the one that does.
    pub fn is_compact(&self) -> bool {
        self.compact_problem().is_some()
    }

    /// Plans, and searches for joint certificates in steps and volume if the schedule does not meet its bounds. Where
    /// it [can](Request::is_compact), it plans a pattern first. With a price, a pattern that takes 1 % longer than
    /// bounds allow, or more, is the plan only if no faster one is found move by move; so is an all_reduce around
    /// failures, 5 % above them in its steps, unless the failures repeat and parts are not [`Parts::Auto`].
    ///
    /// # Errors
    ///
    /// As [`synthesize`].
    pub fn run(&self) -> Result<PlannedSchedule, PlanError> {
        let control = limited(&self.control, self.time_limit);
        let pattern = self.compact_problem().map(|problem| self.pattern(problem, &control)).transpose()?.flatten();
        let Some(PlannedPattern { plan: pattern, has_to_do, finishing }) = pattern else {
            return self.every_move(&control);
        };
        if has_to_do && !control.is_too_late(finishing - finishing / SPARE) {
            return Ok(pattern);
        }
        // What takes most of the time to judge is written only if nothing is found that takes less.
        let is_in_time = control.leaves_half(finishing);
        let control = if is_in_time { control.keeping(finishing) } else { control };
        let is_over = if is_in_time { control.planning(&pattern.problem).stop() } else { control.stop() };
        let found = is_over.map_or_else(|| self.every_move(&control), |stopped| Err(PlanError::Stopped { stopped }));
        let wins = |plan: &PlannedSchedule| !is_in_time || self.cost(plan) < self.cost(&pattern);
        let is_late = |plan: &PlannedSchedule| {
            control.is_too_late_for(&plan.problem) && finishing_time(&plan.problem) >= finishing
        };
        let stopped = match found {
            Ok(plan) if wins(&plan) && !is_late(&plan) => return Ok(plan),
            Ok(plan) => plan.stopped,
            Err(PlanError::Stopped { stopped }) => stopped,
            Err(_) => pattern.stopped,
        };
        Ok(self.planned(Plan { stopped, ..pattern.into_inner() }))
    }

    /// The time at the price, or else the volume; then the steps.
    fn cost(&self, plan: &PlannedSchedule) -> (f64, usize) {
        let Plan { problem, schedule, .. } = &**plan;
        let volume = || schedule.total_width() as f64 / f64::from(problem.parts());
        let first = self.goal.price.map_or_else(volume, |price| price.seconds(problem, schedule));
        (first, schedule.step_count())
    }

    fn every_move(&self, control: &Control) -> Result<PlannedSchedule, PlanError> {
        let mut plan = synthesize(self.topology, &self.kind, &self.goal, control)?;
        let control = control.planning(&plan.problem);
        plan.prove_jointly(&control);
        let Plan { problem, schedule, planner, bounds, stopped, account } = plan;
        Ok(self.planned(Plan { problem, schedule: schedule.into(), planner, bounds, stopped, account }))
    }

    fn planned(&self, plan: Plan<AnySchedule>) -> PlannedSchedule {
        PlannedSchedule { plan, seed: self.goal.seed }
    }
}

/// A control that stops when the time from now on is over.
fn limited(control: &Control, time_limit: Option<Duration>) -> Control {
    match time_limit.and_then(|limit| Instant::now().checked_add(limit)) {
        Some(deadline) => control.clone().with_deadline(deadline),
        None => control.clone(),
    }
}

/// About how long a plan of a problem takes to judge and to write, if every move is stated: of messages from rank to
/// rank, as many moves as they have hops on average; of others, one for each rank that they come to, or come from.
pub fn finishing_time(problem: &Problem) -> Duration {
    let topology = problem.topology();
    let largest = problem.groups().and_then(|groups| groups.members().iter().map(Vec::len).max());
    let ranks = largest.unwrap_or(topology.live_rank_count()) as f64;
    let each = match problem.collective().kind.pattern() {
        Pattern::OneToOne => hops(problem).1,
        Pattern::OneToEvery | Pattern::EveryToOne => ranks,
        Pattern::EveryToEvery => 2.0 * ranks,
    };
    let moves = f64::from(problem.chunk_count()) * each;
    let each = if problem.collective().kind.adds() { FINISHING_A_MOVE_OF_SUMS } else { FINISHING_A_MOVE };
    each.mul_f64(moves)
}

/// The most hops from the root, or from the first rank, and the average.
fn hops(problem: &Problem) -> (u32, f64) {
    let topology = problem.topology();
    let origin = problem.collective().kind.root().or_else(|| topology.live_ranks().next());
    let hops = origin.map_or(Vec::new(), |origin| topology.hops_from(origin));
    let reached: Vec<u32> = hops.into_iter().filter(|&hops| hops != UNREACHABLE).map(u32::from).collect();
    let sum: u32 = reached.iter().sum();
    (reached.iter().copied().max().unwrap_or(0), f64::from(sum) / reached.len().max(1) as f64)
}

impl PlannedSchedule {
    /// Has the schedule executed and its bounds checked by the judge, in the form in which it was planned.
    ///
    /// # Errors
    ///
    /// [`Rejected`] if it does not hold: the planner has a bug.
    pub fn verify(self) -> Result<Verified<AnySolution>, Box<Rejected<AnySchedule>>> {
        let tool = concat!("collsynth ", env!("CARGO_PKG_VERSION")).to_owned();
        let planner = Some(self.planner.to_owned());
        let origin = Origin { tool: Some(tool), planner, command: None, seed: Some(self.seed) };
        Verified::new(Solution { origin: Some(origin), ..self.plan.into() }, &Options::default())
    }

    /// The same with an origin and in this form, or in the one that serves best: see [`formed`]. What was planned as a
    /// pattern stays one.
    ///
    /// # Errors
    ///
    /// As [`formed`]; [`FormError::Rejected`] also if the plan does not hold.
    pub fn verify_as(self, form: Option<Form>, origin: Origin) -> Result<Verified<AnySolution>, FormError> {
        let solution = Solution { origin: Some(origin), ..Solution::from(self.plan) };
        let verified = Verified::new(solution, &Options::default()).map_err(FormError::Rejected)?;
        if verified.schedule.is_explicit() { formed(verified.expand(), form) } else { Ok(verified) }
    }

    /// The plan itself.
    pub fn into_inner(self) -> Plan<AnySchedule> {
        self.plan
    }
}

impl Deref for PlannedSchedule {
    type Target = Plan<AnySchedule>;

    fn deref(&self) -> &Plan<AnySchedule> {
        &self.plan
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::RankId;

    use super::*;

    #[test]
    fn plans_take_time_to_judge_and_write_by_their_moves() {
        let moves = |extents: &[u32], kind: Kind, parts| {
            let each = if kind.adds() { FINISHING_A_MOVE_OF_SUMS } else { FINISHING_A_MOVE };
            let torus = Topology::torus(extents).unwrap();
            let problem = Problem::new(torus, Collective { kind, parts }).unwrap();
            finishing_time(&problem).as_nanos() / each.as_nanos()
        };
        // On a ring of 4, a message makes 1 hop on average, none of those to oneself among them.
        assert_eq!(moves(&[4], Kind::AllToAll, 1), 16);
        assert_eq!(moves(&[4], Kind::AllToAll, 3), 48);
        assert_eq!(moves(&[4, 4], Kind::Scatter(RankId(0)), 1), 32);
        assert_eq!(moves(&[4, 4], Kind::Broadcast(RankId(3)), 5), 80);
        assert_eq!(moves(&[4, 4], Kind::AllReduce, 5), 160);
    }
}
