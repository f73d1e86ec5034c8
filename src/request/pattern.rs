//! Patterns of large machines: when they are planned, and when they have to do.

use std::time::Duration;

use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Solution;
use collsynth_plan::cost::Price;
use collsynth_plan::{Account, CompactPlan, Control, Parts, Plan, PlanError, compact, compact_problem};

use super::{PlannedSchedule, Request, hops};
use crate::form::Form;

/// Verifying and writing a move that is stated.
const FINISHING_A_STATED_MOVE: Duration = Duration::from_nanos(700);
/// Verifying a move of a chunk that follows a pattern but for others; and one that may add to a sum.
const VERIFYING_AN_ALTERED_CHUNKS_MOVE: Duration = Duration::from_nanos(250);
const VERIFYING_AN_ALTERED_SUMS_MOVE: Duration = Duration::from_nanos(500);
/// Verifying a link in a step of the compact form.
const VERIFYING_A_SLOT: Duration = Duration::from_micros(1);
/// Verifying what a rank owes another, and how far that is.
const VERIFYING_A_PAIR: Duration = Duration::from_nanos(40);

/// How many times what bounds allow a pattern may take without a search for a better schedule, which takes minutes on
/// a large machine: its time at a price; of an all_reduce around failures, whose halves follow each other, its volume
/// too.
const NEAR: f64 = 1.01;
const NEAR_IN_TURN: f64 = 1.05;
/// Below this multiple of the distance bound, that search seldom finds a better all_reduce: 11/4.
const TIGHT: (u64, u64) = (11, 4);
/// The most chunks of which that search plans each; of an all_reduce around failures, counted at every rank that they
/// come to.
const MOST_CHUNKS: u32 = 1 << 25;
const MOST_ARRIVALS: u64 = 1 << 24;

/// A plan of what the chunks of one rank do, and what departs from it.
pub(super) struct PlannedPattern {
    pub plan: PlannedSchedule,
    /// Is it nearly as good as bounds allow, or would the search for a better schedule take minutes?
    pub has_to_do: bool,
    /// About how long it takes to judge and to write.
    pub finishing: Duration,
}

impl Request<'_> {
    /// The problem whose pattern is planned before every move.
    pub(super) fn compact_problem(&self) -> Option<Problem> {
        let is_large = Form::of(self.topology) == Form::Compact;
        let problem = compact_problem(self.topology, &self.kind, &self.goal).filter(|_| is_large)?;
        // A part is at least a byte.
        let fits = |price: Price| u64::from(problem.parts()) <= price.message_bytes.max(1);
        self.goal.price.is_none_or(fits).then_some(problem)
    }

    /// Plans this [problem](Request::compact_problem); `None` in fewer steps than its pattern takes.
    pub(super) fn pattern(&self, problem: Problem, control: &Control) -> Result<Option<PlannedPattern>, PlanError> {
        let control = control.clone().leaving_instead(finishing_time_compact);
        let Some(CompactPlan { solution, stopped }) = compact(problem, &self.goal, &control)? else { return Ok(None) };
        let Solution { problem, schedule, bounds, .. } = solution;
        let arrivals = u64::from(problem.chunk_count()) * problem.machine().rank_count() as u64;
        let is_large = match self.takes_halves_in_turn() {
            true => arrivals > MOST_ARRIVALS,
            false => problem.chunk_count() > MOST_CHUNKS,
        };
        let repeats = schedule.repeated().is_some() && self.goal.parts != Parts::Auto;
        let of_altered = schedule.altered().len() * schedule.pattern().move_count()
            / (schedule.translation().chunks_of_rank() as usize).max(1);
        let [stated, of_altered] =
            [schedule.stated_moves(), of_altered].map(|moves| u32::try_from(moves).unwrap_or(u32::MAX));
        let of_an_altered = match problem.collective().kind.adds() {
            true => VERIFYING_AN_ALTERED_SUMS_MOVE,
            false => VERIFYING_AN_ALTERED_CHUNKS_MOVE,
        };
        let finishing =
            finishing_time_compact(&problem) + FINISHING_A_STATED_MOVE * stated + of_an_altered * of_altered;
        let (schedule, planner) = (schedule.into(), CompactPlan::PLANNER);
        let plan = self.planned(Plan { problem, schedule, planner, bounds, stopped, account: Account::None });
        // With a planner stated, it is this one.
        let has_to_do = self.goal.planner.is_some() || is_large || repeats || self.is_near(&plan);
        Ok(Some(PlannedPattern { plan, has_to_do, finishing }))
    }

    /// Is it an all_reduce around failures, whose pattern leaves links idle that a search could use?
    fn takes_halves_in_turn(&self) -> bool {
        let live = self.topology.live_links().count();
        self.kind.pattern() == Pattern::EveryToEvery && live < self.topology.links().len()
    }

    /// Is a pattern nearly as good as bounds allow? Of an all_reduce around failures, as bounds allow in its steps.
    fn is_near(&self, pattern: &PlannedSchedule) -> bool {
        let Plan { schedule, bounds, .. } = &**pattern;
        let in_turn = self.takes_halves_in_turn();
        let volume = bounds.volume.as_ref().map_or(0.0, |bound| {
            let (above, below) = (*bound.at_least.numer() as f64, *bound.at_least.denom() as f64);
            above / below
        });
        let is_tight = self
            .goal
            .steps
            .or(self.goal.max_steps)
            .is_some_and(|most| u64::from(most) * TIGHT.1 < u64::from(bounds.least_steps()) * TIGHT.0);
        let near = if in_turn { NEAR_IN_TURN } else { NEAR };
        let steps = if in_turn { schedule.step_count() } else { bounds.least_steps() as usize };
        match self.goal.price {
            Some(price) => self.cost(pattern).0 <= near * price.seconds_for(steps, volume),
            None => !in_turn || is_tight || self.cost(pattern).0 <= near * volume,
        }
    }
}

/// About how long the judge takes in the compact form, without moves that depart from the pattern: it looks at each
/// link in each step, and its bounds at each pair of ranks.
pub(super) fn finishing_time_compact(problem: &Problem) -> Duration {
    let slots = problem.topology().links().len() as u32 * hops(problem).0;
    let ranks = problem.topology().live_rank_count() as u32;
    VERIFYING_A_SLOT * slots + VERIFYING_A_PAIR * ranks.saturating_mul(ranks)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;
    use collsynth_plan::{Mended, StopReason};

    use super::*;

    #[test]
    fn patterns_take_time_to_judge_by_their_links_and_ranks() {
        let torus = Topology::torus(&[4, 4]).unwrap();
        let problem = Problem::new(torus, Collective::new(Kind::AllToAll)).unwrap();
        assert_eq!(finishing_time_compact(&problem), VERIFYING_A_SLOT * 64 * 4 + VERIFYING_A_PAIR * 16 * 16);
    }

    /// What a plan of 512 ranks and more is: of halves in turn, or of trees that meet anywhere.
    #[test]
    fn halves_in_turn_are_for_few_steps_short_vectors_and_dead_switches() {
        let plan = |request: Request<'_>| {
            let plan = request.run().unwrap();
            assert_eq!(plan.stopped, StopReason::Finished);
            (plan.planner, plan.schedule.step_count())
        };
        let intact = Topology::torus(&[8, 8, 8]).unwrap();
        let cable = intact.clone().fail_cable(2, 3).unwrap();
        let switch = intact.fail_switch(&"x:1,2".parse().unwrap(), &[4; 3]).unwrap();
        let request = |machine| Request::new(machine, Kind::AllReduce);
        let price = Price { alpha: 1e-6, bandwidth: 50e9, message_bytes: 1 << 20 };
        assert_eq!(plan(request(&cable)), ("matching", 34));
        assert_eq!(plan(request(&cable).max_steps(24)), ("mended", 24));
        assert_eq!(plan(request(&cable).price(price)), ("mended", 24));
        assert_eq!(plan(request(&switch)), ("mended", 24));
        assert_eq!(plan(request(&switch).parts(Parts::Auto)), ("packed_trees", 266));
        assert_eq!(plan(request(&cable).max_steps(u32::MAX)), ("matching", 34));
        // What cannot be judged in time is not taken, however good.
        let (now, hour) = (Instant::now(), Duration::from_secs(3600));
        let late = Control::unlimited().with_deadline(now + hour).leaving(now, |_| Duration::from_secs(7200));
        let in_512 = || request(&cable).parts(Parts::Fixed(512));
        assert_eq!([plan(in_512()).0, plan(in_512().control(late)).0], ["packed_trees", "mended"]);
        // By name.
        assert_eq!(plan(request(&cable).planner(&Mended)), ("mended", 24));
        let plane = Topology::torus(&[8, 8]).unwrap();
        let refused = Request::new(&plane, Kind::AllReduce).planner(&Mended).run().unwrap_err().to_string();
        assert!(refused.contains("512 ranks and more"), "{refused}");
    }
}
