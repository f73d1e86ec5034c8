//! Ring with Pipeline: the parts of a message follow each other through the dimensions.
//!
//! # Idea
//!
//! [`Ring`](super::Ring) works on one dimension at a time, and the others idle. Cut every message in `C` parts and let
//! them follow each other: in slot `s`, part `c` works on dimension `s - c`, so that up to `D` dimensions are busy with
//! a part each. All parts take the dimensions in the same order.
//!
//! ```text
//!            slot 1   slot 2   slot 3   slot 4
//!   part 0     x        y        z
//!   part 1              x        y        z
//! ```
//!
//! # When it applies
//!
//! All-to-all (also with a demand matrix) on a torus without failures whose dimensions of 3 and more all wrap. An
//! extent of 2 with a single cable is crossed in one step; an extent of 1 is no dimension. The parts of a message are
//! its `C` pieces: the paper takes 6.
//!
//! # Volume and steps
//!
//! On equal extents of 3 or more, `V = (C+D-1)/C * N (k-1) / 4` and `S = (C+D-1) (k-1)`. Exact where the halves are
//! whole: if `N / k` is even. On unequal extents a slot takes what the dimension with most to do needs.
//!
//! # Complexity
//!
//! O(h log h) time, O(h) memory in the number of hops `h`, about `N^2 * parts * D * k / 2`.
//!
//! # References
//!
//! The fault-free baseline of Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus
//! Networks", MICRO 2025, doi 10.1145/3725843.3756057.

use super::ring::half;
use super::ring_phases::{Traveller, active_dims, check, run};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;

/// Ring, the parts of a message one dimension after the other.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, Parts, RingPipeline, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let torus = Topology::torus(&[4, 4, 4])?;
/// let goal = Goal { planner: Some(&RingPipeline), parts: Parts::Fixed(6), ..Goal::default() };
/// let schedule = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited())?.schedule;
/// // V = 8/6 * 64 * 3 / 4 = 64 messages, in 8 slots of 3 steps.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (24, 6 * 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RingPipeline;

impl Planner for RingPipeline {
    fn name(&self) -> &'static str {
        "ring_pipeline"
    }

    fn summary(&self) -> &'static str {
        "baseline: ring, the parts of each message behind each other through the dimensions; sound tori"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check(self.name(), problem)
    }

    /// The paper's number of chunks.
    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        Some(6)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let dims = active_dims(task.problem);
        // Of a demand matrix, a message is what one rank has for another, in however many chunks.
        let pieces = task.problem.parts().max(1);
        let slots = if dims.is_empty() { 0 } else { pieces as usize + dims.len() - 1 };
        let names = (1..=slots).map(|slot| format!("slot {slot}")).collect();
        let dim_of = |slot: usize, traveller: &Traveller| {
            let place = slot.checked_sub((traveller.part % pieces) as usize)?;
            dims.get(place).copied()
        };
        run(self.name(), task, control, names, dim_of, half)
    }
}
