//! Ring all-gather: every shard goes once round a ring of all ranks.
//!
//! # Idea
//!
//! Lay a ring through all `N` live ranks. In the first step every rank hands its shard to the next rank, in every later
//! step the shard it received last.
//!
//! ```text
//!            rank 0   rank 1   rank 2   rank 3
//!   step 1     a >>     b >>     c >>     d >>
//!   step 2     d >>     a >>     b >>     c >>
//!   step 3     c >>     d >>     a >>     b >>
//! ```
//!
//! # When it applies
//!
//! All-gather, and all-reduce of payloads that are reduced at their destination, on any topology through whose live
//! ranks and links a ring (a Hamiltonian cycle) is found.
//!
//! # Volume and steps
//!
//! `S = V = N-1` for capacity 1: on a one-way ring of links nothing is better; on a torus, all links but one per rank
//! are idle. The shards come to every rank in the order of the ring, backwards from itself.
//!
//! # Complexity
//!
//! O(N^2 n) for `n` parts, the size of the schedule, after the search for the ring.
//!
//! # References
//!
//! Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005, section
//! 4.

use super::ring_of_ranks::{ring_for, round_the_ring};
use super::{AutoUse, Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;

/// All-gather round one ring.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, RingGather, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let goal = Goal { planner: Some(&RingGather), ..Goal::default() };
/// let schedule = synthesize(&Topology::torus(&[4])?, &Kind::AllGather, &goal, &Control::unlimited())?.schedule;
/// assert_eq!((schedule.step_count(), schedule.total_width()), (3, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RingGather;

const KINDS: &[&str] = &["all_gather", "all_reduce_gathered"];

impl Planner for RingGather {
    fn name(&self) -> &'static str {
        "ring_gather"
    }

    fn summary(&self) -> &'static str {
        "baseline: all_gather, all_reduce_gathered once round one ring of all live ranks"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::WithPrice
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        ring_for(self.name(), problem, KINDS).map(|_| ())
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        let ring = ring_for(self.name(), task.problem, KINDS)?;
        let (topology, parts) = (task.problem.topology(), task.problem.parts());
        let steps = ring.len().saturating_sub(1);
        task.check_steps(self.name(), steps)?;
        let ops = std::iter::repeat_n(Op::Copy, steps);
        let schedule = round_the_ring(topology, &ring, ops, |at, step| {
            let owner = topology.link(ring[(at + ring.len() - step) % ring.len()]).from.0;
            owner * parts..(owner + 1) * parts
        });
        Ok(Outcome::new(schedule, StopReason::Finished))
    }
}
