//! Ring all-reduce: the sum goes round a ring of all ranks twice.
//!
//! # Idea
//!
//! Lay a ring through all `N` live ranks. Cut the vector in `N` segments. In each of the first `N-1` steps every rank
//! hands one segment to the next rank, which adds it to its own: then every rank holds one segment summed up. In each
//! of the other `N-1` steps the finished segments go on round the ring, replacing what they meet.
//!
//! ```text
//!   segment at      rank 0   rank 1   rank 2   rank 3
//!   step 1, adding    a >>     b >>     c >>     d >>       a goes 0 -> 1 -> 2 -> 3, complete at 3,
//!   step 2, adding    d >>     a >>     b >>     c >>       and then 3 -> 0 -> 1 -> 2
//! ```
//!
//! # When it applies
//!
//! All-reduce on any topology through whose live ranks and links a ring (a Hamiltonian cycle) is found. Two ranks and
//! both links between them are a ring.
//!
//! # Volume and steps
//!
//! `S = 2 (N-1)`. Of `n` parts, segment `i` gets the parts `i n / N .. (i+1) n / N`, rounded down; some are empty if
//! there are fewer parts than ranks. `V = 2 (N-1) ceil(n / N) / n` for capacity 1, which is `2 (N-1) / N` where `N`
//! divides `n`. On a one-way ring of links nothing is better; on a torus, all links but one per rank are idle.
//!
//! # Complexity
//!
//! O(N n) for the schedule. The ring is searched for within fixed limits (see `ring_of_ranks`); where none is found,
//! there may still be one.
//!
//! # References
//!
//! Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009.

use super::ring_of_ranks::{ring_for, round_the_ring};
use super::{AutoUse, Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;

/// All-reduce round one ring.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, Parts, RingAllReduce, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let goal = Goal { planner: Some(&RingAllReduce), parts: Parts::Fixed(4), ..Goal::default() };
/// let schedule = synthesize(&Topology::torus(&[4])?, &Kind::AllReduce, &goal, &Control::unlimited())?.schedule;
/// // 6 steps of a quarter of the vector: V = 2 * 3 / 4.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (6, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RingAllReduce;

const KINDS: &[&str] = &["all_reduce"];

impl Planner for RingAllReduce {
    fn name(&self) -> &'static str {
        "ring_all_reduce"
    }

    fn summary(&self) -> &'static str {
        "baseline: all_reduce twice round one ring of all live ranks"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::WithPrice
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        ring_for(self.name(), problem, KINDS).map(|_| ())
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        let ring = ring_for(self.name(), task.problem, KINDS)?;
        let (ranks, parts) = (ring.len(), u64::from(task.problem.parts()));
        let half = ranks.saturating_sub(1);
        task.check_steps(self.name(), 2 * half)?;
        let border = |segment: usize| (segment as u64 * parts / ranks as u64) as u32;
        let ops = std::iter::repeat_n(Op::Reduce, half).chain(std::iter::repeat_n(Op::Copy, half));
        let schedule = round_the_ring(task.problem.topology(), &ring, ops, |at, step| {
            // Rank i hands on segment i - step: while adding, and afterwards the segment i + 1 complete with it first.
            let segment = (at + 2 * ranks - step) % ranks;
            border(segment)..border(segment + 1)
        });
        Ok(Outcome::new(schedule, StopReason::Finished))
    }
}
