//! HalfRing with DimRotation: all dimensions of a torus are busy in every phase.
//!
//! # Idea
//!
//! Run one dimension after the other, as [`HalfRing`] does, and all but one dimension idle. So divide the data in `D`
//! classes and let each begin with another dimension: in phase `p`, class `c` works on dimension `(c + p) mod D`, with
//! HalfRing on each ring.
//!
//! ```text
//!              phase 0   phase 1   phase 2
//!   class 0       x         y         z
//!   class 1       y         z         x
//!   class 2       z         x         y
//! ```
//!
//! A part belongs to class `(its number in the message + the sum of its offsets) mod D`: with `D` parts every message
//! has one part of each class, and with fewer the classes still come out about equal (exactly equal on tori of even
//! extents and two dimensions, say, with whole messages).
//!
//! # When it applies
//!
//! All-to-all (also with a demand matrix) on a torus without failures whose dimensions of 3 and more all wrap. An
//! extent of 2 with a single cable is crossed in one step; an extent of 1 is no dimension.
//!
//! # Volume and steps
//!
//! On equal extents `V = N k / 8` (even) or `N (k^2-1) / (8k)` (odd): the bisection bound. Exact if `parts` is
//! divisible by `D` and, for even extents, `parts * N / (k D)` is even. On unequal extents a step is as wide as the
//! dimension with most to do needs. `S = D * max floor(k/2)`.
//!
//! # Complexity
//!
//! O(h log h) time, O(h) memory in the number of hops `h`, about `N^2 * parts * D * k / 4`.
//!
//! # References
//!
//! Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO 2025,
//! doi 10.1145/3725843.3756057.
//!
//! [`HalfRing`]: super::HalfRing

use super::half_ring::shorter_way;
use super::ring_phases::{Traveller, active_dims, check, run};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Torus;

/// HalfRing in all dimensions at once, each on its share of the data, then rotated.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, DimRotation, Goal, Parts, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let torus = Topology::torus(&[4, 4, 4])?;
/// let goal = Goal { planner: Some(&DimRotation), parts: Parts::Fixed(6), ..Goal::default() };
/// let schedule = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited())?.schedule;
/// // V = 64 * 4 / 8 = 32 messages.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (6, 6 * 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DimRotation;

impl Planner for DimRotation {
    fn name(&self) -> &'static str {
        "dim_rotation"
    }

    fn summary(&self) -> &'static str {
        "baseline: half_ring in all dimensions at once, the data in rotation; sound tori"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::WithPrice
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check(self.name(), problem)
    }

    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        Some(2 * active_dims(problem).len().max(1) as u32)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let dims = active_dims(task.problem);
        let names = (1..=dims.len()).map(|number| format!("rotation {number}")).collect();
        let dim_of = |phase: usize, traveller: &Traveller| {
            let torus = task.problem.topology().as_torus()?;
            Some(dims[(class(torus, &dims, traveller) + phase) % dims.len()])
        };
        run(self.name(), task, control, names, dim_of, shorter_way)
    }
}

/// The class of a part: spreads the parts of a message, and the messages of a rank, over the dimensions.
pub(super) fn class(torus: &Torus, dims: &[usize], traveller: &Traveller) -> usize {
    let whole_way = Traveller { at: traveller.origin, ..*traveller };
    let offsets = dims.iter().map(|&dim| whole_way.offset(torus, dim) as usize);
    (traveller.part as usize + offsets.sum::<usize>()) % dims.len()
}
