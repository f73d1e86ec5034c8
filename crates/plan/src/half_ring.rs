//! HalfRing all-to-all: every message goes the shorter way round.
//!
//! # Idea
//!
//! On a ring of `k` ranks, a message to offset `d` goes up if `d < k/2` and down if `d > k/2`; what goes exactly half
//! round is cut in two, half each way. Each step, all that still has to go moves on by one hop, so the steps get
//! narrower. On a torus the rings of the first dimension go first, then those of the second, and so on.
//!
//! ```text
//!        to +1 and half of +2                    step 1: [+1][+2]   step 2: [+2]
//!   0 ---------> 1 ---------> 2 ... 3      up:    3 halves           1 half
//!   0 <--------- 3 <--------- 2 ... 1      down:  3 halves           1 half
//!        to -1 and half of -2
//! ```
//!
//! # When it applies
//!
//! All-to-all (also with a demand matrix) on a torus without failures whose dimensions of 3 and more all wrap. An
//! extent of 2 with a single cable is crossed in one step.
//!
//! # Volume and steps
//!
//! `V = sum over the dimensions of N k / 8` (even extents) or `N (k^2-1) / (8k)` (odd extents), and
//! `S = sum of floor(k/2)`, the diameter. An extent of 2 with a single cable costs `N / 2`. On a ring that is `k^2 / 8`
//! or `(k^2-1) / 8`, the least possible. Exact where what goes half round can be halved: if `parts * N / k` is even for
//! every even extent; else the larger half goes up.
//!
//! # Complexity
//!
//! O(h log h) time, O(h) memory in the number of hops `h`, about `N^2 * parts * D * k / 4`.
//!
//! # References
//!
//! Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO 2025,
//! doi 10.1145/3725843.3756057.

use std::cmp::Ordering;

use super::ring_phases::{Block, check, in_turn};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;

/// Every message the shorter way round the rings, dimension after dimension.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, HalfRing, Parts, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let torus = Topology::torus(&[4])?;
/// let goal = Goal { planner: Some(&HalfRing), parts: Parts::Fixed(2), ..Goal::default() };
/// let schedule = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited())?.schedule;
/// // 2 steps of 3 and 1 halves: V = 4 * 4 / 8 = 2 messages.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (2, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HalfRing;

impl Planner for HalfRing {
    fn name(&self) -> &'static str {
        "half_ring"
    }

    fn summary(&self) -> &'static str {
        "baseline: every message the shorter way round the rings, one dimension after the other; sound tori"
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
        in_turn(self.name(), task, control, shorter_way)
    }
}

/// How many chunks of a block have their shorter way up: all, none, or, half round, half of them.
pub(super) fn shorter_way(block: Block) -> usize {
    match (2 * block.offset).cmp(&block.extent) {
        Ordering::Less => block.chunks,
        Ordering::Equal => block.chunks.div_ceil(2),
        Ordering::Greater => 0,
    }
}
