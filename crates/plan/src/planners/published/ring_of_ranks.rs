//! One ring of all live ranks: all-reduce, all-gather and barrier around it.
//!
//! # Idea
//!
//! Lay a ring through all `N` live ranks (see `hamiltonian`). Every planner is a row of [`RingOfRanks`]:
//!
//! - `ring_all_reduce` cuts the vector in `N` segments. In each of the first `N-1` steps every rank hands one segment
//!   to the next rank, which adds it to its own: then every rank holds one complete segment. In each of the other `N-1`
//!   steps the complete segments travel on around the ring, replacing what they meet.
//! - `ring_gather` hands the shards on: in the first step every rank its own, in every later step the one it received
//!   last.
//! - `two_wave` sends two waves. In the first, each rank waits for the one before it, then tells the next that all
//!   ranks so far have arrived. The last rank knows that all have; the second wave tells the others.
//!
//! ```text
//!   segment or shard at        rank 0   rank 1   rank 2   rank 3
//!   step 1                       a >>     b >>     c >>     d >>     all-reduce: a goes 0 -> 1 -> 2 -> 3, whole at 3,
//!   step 2                       d >>     a >>     b >>     c >>     and then 3 -> 0 -> 1 -> 2
//!
//!   first wave                   0 > 1 > 2 > 3                       rank i passes on that 0 .. i have arrived
//!   second wave                              3 > 0 > 1 > 2
//! ```
//!
//! # Applies
//!
//! All_reduce, all_gather and all_reduce_gathered, or barrier, on any topology whose live ranks and links have a ring
//! (a Hamiltonian cycle) that the search finds. Two ranks and both links between them form a ring.
//!
//! # Steps and volume
//!
//! For links of capacity 1. A one-way ring allows nothing better; on a torus all links but one per rank idle.
//!
//! | planner | steps | volume |
//! |---|---|---|
//! | `ring_all_reduce` | `2 (N-1)` | `2 (N-1) ceil(n/N) / n` in `n` parts, `2 (N-1) / N` where `N` divides `n` |
//! | `ring_gather` | `N-1` | `N-1` |
//! | `two_wave` | `2 (N-1)` | `2 (N-1)`, one link busy at a time; [`Flood`](crate::Flood) takes diameter steps |
//!
//! Segment `i` of an all-reduce has the parts `i n / N .. (i+1) n / N`, rounded down; with fewer parts than ranks some
//! are empty.
//!
//! # Complexity
//!
//! The size of the schedule, after the search for the ring, which has fixed limits and may miss one.
//!
//! # Reference
//!
//! Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009; Thakur,
//! Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005, section 4, for
//! all-gather; Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", IJPP 1988, for barriers.

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner, has_many_ranks};
use crate::model::task::Task;
use crate::planners::published::hamiltonian::ring_of_ranks;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::LinkId;

/// A planner around one ring of all live ranks.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, Parts, RingOfRanks, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let ring = Topology::torus(&[4])?;
/// let figures = |planner: RingOfRanks, kind: Kind, parts: u32| {
///     let goal = Goal { planner: Some(&planner), parts: Parts::Fixed(parts), ..Goal::default() };
///     let plan = synthesize(&ring, &kind, &goal, &Control::unlimited());
///     plan.map(|plan| (plan.schedule.step_count(), plan.schedule.total_width()))
/// };
/// // 6 steps of a quarter of the vector: V = 2 * 3 / 4.
/// assert_eq!(figures(RingOfRanks::ALL_REDUCE, Kind::AllReduce, 4)?, (6, 6));
/// assert_eq!(figures(RingOfRanks::GATHER, Kind::AllGather, 1)?, (3, 3));
/// assert_eq!(figures(RingOfRanks::TWO_WAVE, Kind::Barrier, 1)?, (6, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RingOfRanks {
    name: &'static str,
    summary: &'static str,
    kinds: &'static [&'static str],
    scheme: Scheme,
}

/// The data that travels around the ring.
#[derive(Clone, Copy, Debug)]
enum Scheme {
    /// Segments of a vector, twice.
    AllReduce,
    /// Shards, once.
    Gather,
    /// Word of arrivals, twice, from one rank on.
    TwoWave,
}

impl RingOfRanks {
    /// `ring_all_reduce`: the sum travels around the ring twice.
    pub const ALL_REDUCE: Self = Self {
        name: "ring_all_reduce",
        summary: "all_reduce twice around one ring of all live ranks",
        kinds: &["all_reduce"],
        scheme: Scheme::AllReduce,
    };
    /// `ring_gather`: every shard travels around the ring once.
    pub const GATHER: Self = Self {
        name: "ring_gather",
        summary: "all_gather, all_reduce_gathered once around one ring of all live ranks",
        kinds: &["all_gather", "all_reduce_gathered"],
        scheme: Scheme::Gather,
    };
    /// `two_wave`: the barrier in two waves.
    pub const TWO_WAVE: Self = Self {
        name: "two_wave",
        summary: "barrier in two waves around one ring of all live ranks",
        kinds: &["barrier"],
        scheme: Scheme::TwoWave,
    };

    /// The links of a ring through all live ranks, in order; none for a single rank.
    fn ring(&self, problem: &Problem) -> Result<Vec<LinkId>, PlanError> {
        self.scope().check(self.name, problem)?;
        problem.check_connected()?;
        let reason = || "no ring through all live ranks was found".to_owned();
        ring_of_ranks(problem.topology())
            .ok_or_else(|| PlanError::NotApplicable { planner: self.name, reason: reason() })
    }

    /// No schedule of the ring is narrower: in every step, some link carries the longest segment.
    fn least_width(&self, problem: &Problem, steps: &[Op]) -> u64 {
        let capacity = problem.topology().links().iter().map(|link| link.capacity).max().unwrap_or(1).max(1);
        let longest = match self.scheme {
            Scheme::AllReduce => problem.parts().div_ceil(problem.topology().live_rank_count() as u32),
            Scheme::Gather => problem.parts(),
            Scheme::TwoWave => 1,
        };
        steps.len() as u64 * u64::from(longest.div_ceil(capacity))
    }
}

impl Planner for RingOfRanks {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn is_baseline(&self) -> bool {
        true
    }

    fn scope(&self) -> Scope {
        Scope::of(self.kinds)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        self.ring(problem).map(|_| ())
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        !has_many_ranks(problem)
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        let ring = self.ring(task.problem)?;
        let (topology, parts) = (task.problem.topology(), task.problem.parts());
        let (ranks, round) = (ring.len(), ring.len().saturating_sub(1));
        let ops = match self.scheme {
            Scheme::Gather => vec![Op::Copy; round],
            Scheme::AllReduce | Scheme::TwoWave => [vec![Op::Reduce; round], vec![Op::Copy; round]].concat(),
        };
        task.check_steps(self.name, ops.len())?;
        let least = self.least_width(task.problem, &ops);
        let narrower = task.incumbent.filter(|&(_, width)| width < least && task.near.is_none_or(|near| near < least));
        if let (None, Some((_, width))) = (task.price, narrower) {
            let limit = format!("a total width below {least}, and another planner found {width}");
            return Err(PlanError::NotFound { planner: self.name, limit });
        }
        let border = |segment: usize| (segment as u64 * u64::from(parts) / ranks as u64) as u32;
        // The chunks over link `at` of the ring, from its rank `at` to its rank `at + 1`, in a step.
        let chunks = |at: usize, step: usize| match self.scheme {
            // Rank i hands on segment i - step: while adding, and afterward the segment i + 1 complete with it first.
            Scheme::AllReduce => {
                let segment = (at + 2 * ranks - step) % ranks;
                border(segment)..border(segment + 1)
            }
            Scheme::Gather => {
                let owner = topology.link(ring[(at + ranks - step) % ranks]).from.0;
                owner * parts..(owner + 1) * parts
            }
            // The second wave sets out from the last rank of the first.
            Scheme::TwoWave => 0..u32::from(at == step % ranks),
        };
        let mut moves = Moves::new(ops.len());
        for (step, &op) in ops.iter().enumerate() {
            for (at, &link) in ring.iter().enumerate() {
                moves.add(step, link, op, chunks(at, step).map(ChunkId));
            }
        }
        let schedule = moves.write(topology, |_, needed| Some(needed.max(1)));
        Ok(Outcome::new(schedule, StopReason::Finished))
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;

    use super::*;

    /// Beside a plan that is narrower than any ring, none is written; beside one as narrow, it is.
    #[test]
    fn rings_are_as_wide_as_they_must_be_and_give_way_to_narrower_plans() {
        for (ring, kind) in [(RingOfRanks::ALL_REDUCE, Kind::AllReduce), (RingOfRanks::GATHER, Kind::AllGather)] {
            for (extents, parts) in [(&[4][..], 1), (&[4, 4], 3), (&[4, 4], 16), (&[3, 4], 40), (&[2, 3, 4], 25)] {
                let torus = Topology::torus(extents).unwrap();
                let problem = Problem::new(torus, Collective { kind: kind.clone(), parts }).unwrap();
                let bounds = collsynth_bound::find(&problem).unwrap();
                let plan = |incumbent| {
                    let task = Task { incumbent, ..Task::new(&problem, &bounds) };
                    ring.plan(&task, &Control::unlimited()).map(|outcome| outcome.schedule.total_width())
                };
                let width = plan(None).unwrap();
                assert_eq!(plan(Some((1, width))), Ok(width));
                assert!(plan(Some((1, width - 1))).is_err(), "{extents:?} in {parts} parts: {width}");
            }
        }
    }
}
