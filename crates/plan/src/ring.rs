//! Ring all-to-all: half of every message goes each way, all the way round.
//!
//! # Idea
//!
//! On a ring of `k` ranks, cut every message in two halves. One half walks up the ring to its destination, the other
//! walks down; each step, all that still has to go moves on by one hop, joined in one transfer per link. On a torus the
//! rings of the first dimension go first, then those of the second, and so on.
//!
//! ```text
//!       0 ---> 1 ---> 2 ---> 3 --->    upper halves of 0>1, 0>2, 0>3: 1, 2, 3 hops
//!   <--- 0 <--- 1 <--- 2 <--- 3        lower halves of 0>1, 0>2, 0>3: 3, 2, 1 hops
//! ```
//!
//! # When it applies
//!
//! All-to-all (also with a demand matrix) on a torus without failures whose dimensions of 3 and more all wrap. An
//! extent of 2 with a single cable is crossed in one step.
//!
//! # Volume and steps
//!
//! `V = sum over the dimensions of N (k-1) / 4` and `S = sum of (k-1)`: on a ring, `k (k-1) / 4` and `k-1`; an extent
//! of 2 with a single cable costs `N / 2`. Exact where the halves are whole: if `parts * N / k` is even for every
//! extent. Else the larger half goes up for odd offsets and down for even ones. Twice the volume of [`HalfRing`],
//! nearly: half of the data goes the longer way.
//!
//! # Complexity
//!
//! O(h log h) time, O(h) memory in the number of hops `h`, about `N^2 * parts * D * k / 2`.
//!
//! # References
//!
//! The baseline of Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks",
//! MICRO 2025, doi 10.1145/3725843.3756057.
//!
//! [`HalfRing`]: super::HalfRing

use super::ring_phases::{Block, check, in_turn};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;

/// Half of every message each way round the rings, dimension after dimension.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, Parts, Ring, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let torus = Topology::torus(&[4])?;
/// let goal = Goal { planner: Some(&Ring), parts: Parts::Fixed(2), ..Goal::default() };
/// let schedule = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited())?.schedule;
/// // 3 steps of 3, 2 and 1 halves: V = 4 * 3 / 4 = 3 messages.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (3, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ring;

impl Planner for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn summary(&self) -> &'static str {
        "baseline: half of every message each way round the rings, one dimension after the other; sound tori"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::WithPrice
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check(self.name(), problem)
    }

    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        Some(2)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        in_turn(self.name(), task, control, half)
    }
}

/// Half of the block; of an odd block, the larger half at odd offsets.
pub(super) fn half(block: Block) -> usize {
    (block.chunks + (block.offset % 2) as usize) / 2
}
