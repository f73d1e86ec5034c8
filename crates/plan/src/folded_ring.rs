//! FoldedRing with DimRotation: a ring with a dead cable goes on as a line, at a fraction of its speed.
//!
//! # Idea
//!
//! Everything goes as in [`DimRotation`](super::DimRotation), but a ring with a dead cable runs FoldedRing: it keeps
//! to one direction, and who has to pass the dead cable walks back over all the other cables.
//!
//! ```text
//!   0 ---> 1 ---> 2 ---> 3          3 to 0 is a logical edge of three hops
//!   0 <--- 1 <--- 2 <--- 3
//! ```
//!
//! A walk ends where it has to be, on the way back too. The paper calls FoldedRing bandwidth-optimal. It is not: the
//! same ring, used as the line it is ([`OpenRing`]), takes less. On the way back chunks pass ranks that have them
//! already: the verifier says so in warnings, and it shows what the detour is worth.
//!
//! # When it applies
//!
//! All-to-all (also with a demand matrix) on a torus whose dimensions of 3 and more all wrap, some of whose rings
//! have one dead cable each. A ring with two is in pieces, and refused.
//!
//! # Volume and steps
//!
//! With `T0 = N k / 8` (even) or `N (k^2-1) / (8k)` (odd) for the sound torus of equal extents, the loads of the phases
//! add up to `T0 / r = N (k-1) / 2`, where `r = k / (4 (k-1))` or `(k+1) / (4k)`; open, to `2 T0`. The volume is above
//! that by the filling of the pipeline, a few chunks in each phase; it vanishes as parts grow.
//!
//! # Complexity
//!
//! That of scheduling the hops, O(h log h).
//!
//! # References
//!
//! Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO 2025,
//! doi 10.1145/3725843.3756057.

use super::broken_rings::{self, Acceleration, Remains, Scheme};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;

/// DimRotation with FoldedRing on the rings that have a dead cable.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, FoldedRing, Goal, Parts, Phase, synthesize};
/// use collsynth_core::topology::{Topology, TopologySpec};
///
/// let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]))?;
/// let goal = Goal { planner: Some(&FoldedRing), parts: Parts::Fixed(2), ..Goal::default() };
/// let plan = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited())?;
/// // N (k-1) / 2 messages.
/// assert_eq!(Phase::total_load(plan.account.phases()), 24.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FoldedRing;

/// DimRotation on rings and, where a cable is dead, on the line that is left: the shortest way there is.
#[derive(Clone, Copy, Debug)]
pub struct OpenRing;

const fn scheme(remains: Remains) -> Scheme {
    Scheme { remains, normal: true, acceleration: Acceleration::None }
}

impl Planner for FoldedRing {
    fn name(&self) -> &'static str {
        "folded_ring"
    }

    fn summary(&self) -> &'static str {
        "baseline: dim_rotation, rings with a dead cable one way and back again; tori with one dead cable a ring"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        broken_rings::check(self.name(), problem, scheme(Remains::Folded))
    }

    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        broken_rings::natural_parts(problem, scheme(Remains::Folded))
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        broken_rings::plan(self.name(), task, control, scheme(Remains::Folded))
    }
}

impl Planner for OpenRing {
    fn name(&self) -> &'static str {
        "open_ring"
    }

    fn summary(&self) -> &'static str {
        "baseline: folded_ring with the shortest way along each broken ring instead of folding it"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        broken_rings::check(self.name(), problem, scheme(Remains::Open))
    }

    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        broken_rings::natural_parts(problem, scheme(Remains::Open))
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        broken_rings::plan(self.name(), task, control, scheme(Remains::Open))
    }
}
