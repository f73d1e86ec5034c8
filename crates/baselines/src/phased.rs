//! FoldedRing, OpenRing, MATE and MATEe: all-to-all on tori some of whose rings have dead cables.
//!
//! # Idea
//!
//! Everything goes as in HalfRing with DimRotation ([`Rings::DIM_ROTATION`]), except on rings with a dead cable.
//! *FoldedRing* keeps to one direction there, and a message that has to pass the dead cable walks back over the other
//! cables to its destination. *OpenRing* uses the ring as the line it is.
//!
//! ```text
//!   0 ---> 1 ---> 2 ---> 3          folded, 3 to 0 is a logical edge of three hops
//!   0 <--- 1 <--- 2 <--- 3
//! ```
//!
//! With *MATE*, broken rings wait, and after each of the `D` normal phases there is an *acceleration phase* in which
//! all other links are free to help them. The neighbors of a broken ring in each other dimension form a *virtual ring*,
//! two hops longer; its data is divided among the `D-1` virtual rings and the rest of the ring itself, so that all end
//! together. With *MATEe* (enhanced) broken rings also work in the normal phases, on as much of their data as they can
//! move meanwhile.
//!
//! ```text
//!   normal 1  acceleration 1  normal 2  acceleration 2
//!   x: class 0                x: class 1                intact rings
//!   y: class 1                y: class 0
//!   (folded)  x': class 0     (folded)  x': class 1     the broken ring x': MATEe, in the parentheses too
//! ```
//!
//! Several broken rings share their acceleration phase, and the allocation divides the links that two of them want.
//! With a phase for each (`mate_e2`) none is shared, as in the paper, though rings of one dimension whose routes are
//! disjoint still work together.
//!
//! # Applies
//!
//! All_to_all and all_to_allv on a torus with failed cables, no failed ranks, whose dimensions of 3 and more all wrap.
//! Extents and capacities may differ. FoldedRing and OpenRing allow one dead cable per ring: with two it is in pieces.
//! MATE and MATEe need two dimensions or more, and for each broken ring itself in one piece or an intact virtual ring.
//! MATEe needs a broken ring with one dead cable: otherwise no ring could work in the normal phases.
//!
//! # Steps and volume
//!
//! With `T0 = N k / 8` (even `k`) or `N (k^2-1) / (8k)` (odd) for the intact torus of equal extents of 3 or more, `r =
//! k / (4 (k-1))` or `(k+1) / (4k)` for folded rings and `r = 1/2` for open ones, the loads of the phases add up to:
//!
//! | planner | one dead cable | two, on one ring | two acceleration phases |
//! |---|---|---|---|
//! | `folded_ring`, `open_ring` | `T0 / r` | | |
//! | `mate`, `mate_open` | `T0 (1 + 1 / (D-1+r))` | `T0 (1 + 1 / (D-1))` | |
//! | `mate_e`, `mate_e_open`, `mate_e2` | `T0 D / (D-1+r)` | | `T0 (1 + 2 (1-r) / (D-1+r))` |
//!
//! Folded, `T0 / r = N (k-1) / 2`. The paper calls FoldedRing bandwidth-optimal, but OpenRing takes less. Exact if the
//! shares are whole chunks: MATE on 4x4x4 in 21 parts. The volume exceeds the loads by filling the pipelines, a few
//! chunks per phase, which vanishes as parts grow. Folded chunks pass ranks that have them already: the verifier warns
//! of it.
//!
//! # Complexity
//!
//! For MATE and MATEe a linear program for each normal phase, with a variable for each routing of each broken ring and
//! a row for each link they use ([`Phased::allocations`]); then that of scheduling the hops, O(h log h).
//!
//! # Reference
//!
//! Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO 2025, doi
//! 10.1145/3725843.3756057.
//!
//! [`Rings::DIM_ROTATION`]: collsynth_plan::Rings::DIM_ROTATION

use super::broken_rings::{self, Acceleration, Remains, Scheme};
use collsynth_core::problem::Problem;
use collsynth_plan::phased::ROUTED;
use collsynth_plan::{AutoUse, Control, Outcome, PlanError, Planner, Scope, Task};

/// A phased planner on tori with dead cables: HalfRing and DimRotation on the intact rings, and a scheme for the
/// others.
///
/// ```
/// use collsynth_baselines::Phased;
/// use collsynth_core::collective::Kind;
/// use collsynth_core::topology::{Topology, TopologySpec};
/// use collsynth_plan::{Control, Goal, Parts, Phase, synthesize};
///
/// let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]))?;
/// let loads = |planner: Phased, parts| {
///     let goal = Goal { planner: Some(&planner), parts: Parts::Fixed(parts), ..Goal::default() };
///     let plan = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited());
///     plan.map(|plan| Phase::total_load(plan.account.phases()))
/// };
/// // N (k-1) / 2 messages.
/// assert_eq!(loads(Phased::FOLDED_RING, 2)?, 24.into());
/// // T0 = 8 and r = 1/3: 8 (1 + 1 / (4/3)), and 8 * 2 / (4/3).
/// assert_eq!((loads(Phased::MATE, 2)?, loads(Phased::MATE_E, 6)?), (14.into(), 12.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Phased {
    name: &'static str,
    summary: &'static str,
    scheme: Scheme,
}

/// A row of the table; see [`Scheme`].
const fn row(
    name: &'static str,
    remains: Remains,
    normal: bool,
    acceleration: Acceleration,
    summary: &'static str,
) -> Phased {
    Phased { name, summary, scheme: Scheme { remains, normal, acceleration } }
}

#[rustfmt::skip]
impl Phased {
    /// `folded_ring`: FoldedRing on broken rings.
    pub const FOLDED_RING: Self = row("folded_ring", Remains::Folded, true, Acceleration::None,
        "dim_rotation, rings with a dead cable there and back; tori with one dead cable per ring");
    /// `open_ring`: the shortest path along broken rings instead.
    pub const OPEN_RING: Self = row("open_ring", Remains::Open, true, Acceleration::None,
        "folded_ring with the shortest path along each broken ring instead of folding it");
    /// `mate`: broken rings wait for the acceleration phases, and are folded in them.
    pub const MATE: Self = row("mate", Remains::Folded, false, Acceleration::Shared,
        "dim_rotation; after each phase the whole torus moves what broken rings left; tori");
    /// `mate_open`: the same with the shortest path along broken rings.
    pub const MATE_OPEN: Self = row("mate_open", Remains::Open, false, Acceleration::Shared,
        "mate with the shortest path along each broken ring instead of folding it");
    /// `mate_e`: broken rings work in the normal phases too.
    pub const MATE_E: Self = row("mate_e", Remains::Folded, true, Acceleration::Shared,
        "mate, broken rings at work in the normal phases too");
    /// `mate_e2`: the same with an acceleration phase for each broken ring.
    pub const MATE_E2: Self = row("mate_e2", Remains::Folded, true, Acceleration::Each,
        "mate_e with an acceleration phase for each broken ring");
    /// `mate_e_open`: `mate_e` with the shortest path along broken rings.
    pub const MATE_E_OPEN: Self = row("mate_e_open", Remains::Open, true, Acceleration::Shared,
        "mate_e with the shortest path along each broken ring instead of folding it");
}

impl Phased {
    /// The offline bandwidth allocation: the linear programs that planning solves, in order, one for each normal phase
    /// with the acceleration phases after it. Loads are in messages.
    ///
    /// O(hops of all messages), since they depend on the positions of chunks in each phase.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] if no cable failed, or a broken ring has no routing.
    ///
    /// ```
    /// use collsynth_baselines::Phased;
    /// use collsynth_core::collective::{Collective, Kind};
    /// use collsynth_core::problem::Problem;
    /// use collsynth_core::topology::{Topology, TopologySpec};
    ///
    /// let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]))?;
    /// let problem = Problem::new(torus, Collective { kind: Kind::AllToAll, parts: 1 })?;
    /// let programs = Phased::MATE_E.allocations(&problem)?;
    /// // Two normal phases; the ring in the normal phase, the ring and one virtual ring in the acceleration phase.
    /// assert_eq!(programs.len(), 2);
    /// assert_eq!(programs[0].choices[0].ways.len(), 3);
    /// // T0 D / (D-1+r) = 8 * 2 / (4/3) = 12 messages for both phases.
    /// assert!((programs[0].solve(&collsynth_lp::Limit::NONE)?.total() - 6.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allocations(&self, problem: &Problem) -> Result<Vec<collsynth_lp::Allocation>, PlanError> {
        broken_rings::allocations(self.name, problem, self.scheme)
    }
}

impl Planner for Phased {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn is_baseline(&self) -> bool {
        true
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn scope(&self) -> Scope {
        ROUTED
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        broken_rings::check(self.name, problem, self.scheme)
    }

    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        broken_rings::natural_parts(problem, self.scheme)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        broken_rings::plan(self.name, task, control, self.scheme)
    }
}
