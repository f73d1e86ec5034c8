//! All-reduce composed: a reduce-scatter, then an all-gather.
//!
//! # Idea
//!
//! Cut the vector in `N` shards, one for each live rank. A reduce-scatter adds every shard up at its rank; an
//! all-gather spreads the sums. Both are planned by [`Trees`], or without failures by [`Template`]; the second begins
//! when the first has ended.
//!
//! ```text
//!            reduce-scatter          all-gather
//!   a0 a1 --> a0+b0          A0 --> A0 A1            shard 0 belongs to rank a, shard 1 to rank b
//!   b0 b1 -->       a1+b1       A1 --> A0 A1
//! ```
//!
//! # Applies
//!
//! All_reduce on any topology, with any failures.
//!
//! # Steps and volume
//!
//! Twice those of the all-gather of shards, in vectors: on an intact 4x4x4 torus `2 * 10.5 / 64 = 21/64` in 12 steps,
//! which is the bound. A rank with `c` live links takes at least `2 (N-1) / (c N)`, so the rank with the fewest
//! decides; trees with free roots ([`SpanningTrees`](crate::SpanningTrees)) avoid that. If `N` does not divide the
//! parts, the first shards have one more.
//!
//! # Complexity
//!
//! That of planning the two halves.
//!
//! # Reference
//!
//! Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::cost::Price;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use crate::planners::template::Template;
use crate::planners::trees::negotiated::Trees;
use collsynth_core::collective::{ChunkId, Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::{Link, RankId};

/// All-reduce as a reduce-scatter and an all-gather.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Composed, Control, Goal, Parts, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let goal = Goal { planner: Some(&Composed), parts: Parts::Fixed(36), ..Goal::default() };
/// let schedule = synthesize(&Topology::torus(&[3, 3])?, &Kind::AllReduce, &goal, &Control::unlimited())?.schedule;
/// // Twice 2 steps; 8 shards of 4 parts over 4 links, twice.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (4, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Composed;

impl Planner for Composed {
    fn name(&self) -> &'static str {
        "composed"
    }

    fn summary(&self) -> &'static str {
        "all_reduce as a reduce_scatter of equal shards and an all_gather"
    }

    fn is_baseline(&self) -> bool {
        true
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_reduce"])
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        let shards = Shards::new(problem);
        Self::has_closed_form(problem) || shards.half(Kind::AllGather).is_ok_and(|half| Trees.is_quick(&half))
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        if task.problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let shards = Shards::new(task.problem);
        let [first, second] = [Kind::ReduceScatter, Kind::AllGather].map(|kind| shards.plan(kind, task, control));
        let (first, second) = (first?, second?);
        let mut moves = Moves::default();
        shards.append(&first.schedule, 0, &mut moves);
        shards.append(&second.schedule, first.schedule.step_count(), &mut moves);
        let schedule = moves.write(task.problem.topology(), |_, needed| Some(needed).filter(|&needed| needed > 0));
        task.check_steps(self.name(), schedule.step_count())?;
        let stopped = if first.stopped == StopReason::Finished { second.stopped } else { first.stopped };
        Ok(Outcome::new(schedule, stopped))
    }
}

impl Composed {
    /// Does [`Template`] plan both halves of an all_reduce?
    pub(crate) fn has_closed_form(whole: &Problem) -> bool {
        let half = Problem::new(whole.topology().clone(), Collective::new(Kind::AllGather));
        half.is_ok_and(|half| Template.applies(&half).is_ok())
    }
}

/// The parts of the vector that form the shard of each rank.
struct Shards<'a> {
    problem: &'a Problem,
    /// The parts of the largest shard: the two halves are planned as if all shards had them.
    largest: u32,
    /// By rank: the first part of its shard, and its number of parts; 0 for failed ranks.
    shards: Vec<(u32, u32)>,
}

impl<'a> Shards<'a> {
    fn new(problem: &'a Problem) -> Self {
        let ranks = problem.topology().live_rank_count() as u32;
        let (even, larger) = (problem.parts() / ranks, problem.parts() % ranks);
        let mut shards = vec![(0, 0); problem.topology().rank_count()];
        let mut first = 0;
        for (index, rank) in problem.topology().live_ranks().enumerate() {
            let size = even + u32::from((index as u32) < larger);
            shards[rank.index()] = (first, size);
            first += size;
        }
        Self { problem, largest: problem.parts().div_ceil(ranks), shards }
    }

    /// The problem of a half.
    fn half(&self, kind: Kind) -> Result<Problem, PlanError> {
        Ok(Problem::new(self.problem.topology().clone(), Collective { kind, parts: self.largest })?)
    }

    /// Plans one of the halves, with half of the steps.
    fn plan(&self, kind: Kind, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let share = |steps: u32| if kind == Kind::AllGather { steps.div_ceil(2) } else { steps / 2 };
        let (steps, max_steps) = (task.steps.map(share), task.max_steps.map(share));
        let problem = self.half(kind.clone())?;
        let bounds = control.bounds(&problem)?;
        if let Some(stated) = steps.or(max_steps).filter(|&stated| stated < bounds.least_steps()) {
            let limit = format!("{stated} steps for the {}: it takes {}", kind.name(), bounds.least_steps());
            return Err(PlanError::NotFound { planner: Composed.name(), limit });
        }
        let shard_bytes = |price: Price| Price {
            message_bytes: price.message_bytes * u64::from(self.largest) / u64::from(self.problem.parts()),
            ..price
        };
        let price = task.price.map(shard_bytes);
        // As wide as both halves must be, if they are alike.
        let least = 2 * u64::from(bounds.least_width(self.largest));
        let wider = task.incumbent.filter(|&(_, width)| width < least && task.near.is_none_or(|near| near < least));
        if let (None, Some((_, width))) = (price, wider) {
            let limit = format!("a total width below {least}, and another planner found {width}");
            return Err(PlanError::NotFound { planner: Composed.name(), limit });
        }
        if !task.can_pay(2 * bounds.least_steps(), u32::try_from(least).unwrap_or(u32::MAX)) {
            return Err(PlanError::takes_too_long(Composed.name()));
        }
        let half = Task {
            problem: &problem,
            bounds: &bounds,
            sharper: None,
            incumbent: None,
            near: None,
            steps,
            max_steps,
            price,
            ..task.clone()
        };
        let planner: &dyn Planner = if Template.applies(&problem).is_ok() { &Template } else { &Trees };
        planner.plan(&half, control)
    }

    /// Appends a half, in chunks of the vector, after the first `begin` steps. A step may become empty, if its chunks
    /// exceed all shards; writing omits it.
    fn append(&self, half: &Schedule, begin: usize, moves: &mut Moves) {
        let topology = self.problem.topology();
        for (step, transfer) in
            half.steps().enumerate().flat_map(|(step, of)| of.transfers.iter().map(move |t| (step, t)))
        {
            let meant = |link: &Link| link.alive && (transfer.via.is_none() || transfer.via == link.direction);
            let mut joining = topology.links_between(transfer.from, transfer.to);
            let link = joining.find(|&id| meant(topology.link(id))).expect("transfers go over live links");
            moves.add(
                begin + step,
                link,
                transfer.op,
                half.chunks(transfer).iter().filter_map(|&chunk| self.part(chunk)),
            );
        }
    }

    /// The part of the vector that is this chunk of a shard, if the shard has it.
    fn part(&self, chunk: ChunkId) -> Option<ChunkId> {
        let (owner, index) = (RankId(chunk.0 / self.largest), chunk.0 % self.largest);
        let (first, size) = self.shards[owner.index()];
        (index < size).then_some(ChunkId(first + index))
    }
}
