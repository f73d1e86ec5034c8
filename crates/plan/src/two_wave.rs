//! The two waves of a ring barrier.
//!
//! # Idea
//!
//! Lay a ring through all `N` live ranks. A first wave collects: each rank waits for the one before it, then tells the
//! next that all so far have arrived. The last rank knows that all have; a second wave tells everybody.
//!
//! ```text
//!   first wave    0 > 1 > 2 > 3        what rank i passes on: 0 .. i have arrived
//!   second wave               3 > 0 > 1 > 2
//! ```
//!
//! # When it applies
//!
//! Barrier on any topology through whose live ranks and links a ring (a Hamiltonian cycle) is found.
//!
//! # Volume and steps
//!
//! `S = 2 (N-1)` steps of width 1, where [`Flood`](super::Flood) takes as many as the farthest ranks are apart: one
//! link is busy at a time.
//!
//! # Complexity
//!
//! O(N^2) after the search for the ring.
//!
//! # References
//!
//! Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", IJPP 1988, for barriers by messages and
//! what is better than a ring.

use super::ring_of_ranks::{ring_for, round_the_ring};
use super::{AutoUse, Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;

/// The ring barrier.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, TwoWave, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let goal = Goal { planner: Some(&TwoWave), ..Goal::default() };
/// let schedule = synthesize(&Topology::torus(&[4])?, &Kind::Barrier, &goal, &Control::unlimited())?.schedule;
/// assert_eq!((schedule.step_count(), schedule.total_width()), (6, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TwoWave;

const KINDS: &[&str] = &["barrier"];

impl Planner for TwoWave {
    fn name(&self) -> &'static str {
        "two_wave"
    }

    fn summary(&self) -> &'static str {
        "baseline: barrier in two waves round one ring of all live ranks"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::WithPrice
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        ring_for(self.name(), problem, KINDS).map(|_| ())
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        let ring = ring_for(self.name(), task.problem, KINDS)?;
        let wave = ring.len().saturating_sub(1);
        task.check_steps(self.name(), 2 * wave)?;
        let ops = std::iter::repeat_n(Op::Reduce, wave).chain(std::iter::repeat_n(Op::Copy, wave));
        // The second wave sets out from the last rank of the first.
        let schedule =
            round_the_ring(task.problem.topology(), &ring, ops, |at, step| 0..u32::from(at == step % ring.len()));
        Ok(Outcome::new(schedule, StopReason::Finished))
    }
}
