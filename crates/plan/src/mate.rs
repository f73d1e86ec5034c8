//! MATE and MATEe: after each phase, the whole torus helps the broken ring.
//!
//! # Idea
//!
//! Everything goes as in [`DimRotation`](super::DimRotation), but a ring with a dead cable stays behind, and after
//! each of the `D` normal phases there is an *acceleration phase* in which all other links are free to help it. Its
//! neighbours in each other dimension form a *virtual ring* for it, two hops longer; its data is shared out over the
//! `D-1` virtual rings and what is left of itself, so that all end at the same time. MATEe (`e`: enhanced) lets the
//! broken ring work in the normal phases too, on as much of its data as it can move meanwhile.
//!
//! ```text
//!   normal 1  acceleration 1  normal 2  acceleration 2
//!   x: class 0                x: class 1                sound rings
//!   y: class 1                y: class 0
//!   (folded)  x': class 0     (folded)  x': class 1     the broken ring x': MATEe, in the brackets too
//! ```
//!
//! # When they apply
//!
//! All-to-all (also with a demand matrix) on a torus of two dimensions or more, those of 3 and more positions
//! wrapped, with any failed cables such that each broken ring has a way: itself, if it has one dead cable, or a
//! virtual ring that is whole. Extents and capacities may differ. MATEe needs a broken ring with one dead cable: else
//! no ring could work in the normal phases.
//!
//! Several broken rings have their acceleration phase together; the allocation shares out the links that two of them
//! want. With a phase for each ([`MateE::EACH`]) none is shared, as in the paper; rings of one
//! dimension whose ways have no link in common are together even then.
//!
//! # Volume and steps
//!
//! With `T0` and `r` as for [`FoldedRing`](super::FoldedRing), equal extents of three positions or more and one dead
//! cable, the loads of the phases add up to `T0 (1 + 1 / (D-1+r))` for MATE and `T0 D / (D-1+r)` for MATEe; with two
//! dead cables on one ring, MATE takes `T0 (1 + 1 / (D-1))`; MATEe with two acceleration phases, `T0 (1 + 2 (1-r) /
//! (D-1+r))`. With open rings, `r = 1/2`. Exact where the shares come to whole chunks: on 4x4x4 in 21 parts. The
//! volume is above that by the filling of the pipelines, a few chunks in each phase.
//!
//! # Complexity
//!
//! A linear program for each normal phase, of a variable for each way of each broken ring and a row for each link
//! they use ([`MateE::allocations`]); then that of scheduling the hops, O(h log h).
//!
//! # References
//!
//! Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO 2025,
//! doi 10.1145/3725843.3756057.

use super::broken_rings::{self, Acceleration, Remains, Scheme};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;

/// Broken rings wait for the acceleration phases.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, Mate, MateE, Parts, Phase, Planner, synthesize};
/// use collsynth_core::topology::{Topology, TopologySpec};
///
/// let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]))?;
/// let loads = |planner: &dyn Planner, parts| {
///     let goal = Goal { planner: Some(planner), parts: Parts::Fixed(parts), ..Goal::default() };
///     let plan = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited());
///     plan.map(|plan| Phase::total_load(plan.account.phases()))
/// };
/// // T0 = 8 and r = 1/3: 8 (1 + 1 / (4/3)), and 8 * 2 / (4/3).
/// assert_eq!((loads(&Mate::FOLDED, 2)?, loads(&MateE::SHARED, 6)?), (14.into(), 12.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Mate {
    remains: Remains,
}

/// Broken rings work in the normal phases too.
#[derive(Clone, Copy, Debug)]
pub struct MateE {
    remains: Remains,
    acceleration: Acceleration,
}

impl Mate {
    /// `mate`: with FoldedRing on the broken rings.
    pub const FOLDED: Self = Self { remains: Remains::Folded };
    /// `mate_open`: with the shortest way along the broken rings instead.
    pub const OPEN: Self = Self { remains: Remains::Open };

    fn scheme(self) -> Scheme {
        Scheme { remains: self.remains, normal: false, acceleration: Acceleration::Shared }
    }
}

impl MateE {
    /// `mate_e`: one acceleration phase after each normal one, and FoldedRing on the broken rings.
    pub const SHARED: Self = Self { remains: Remains::Folded, acceleration: Acceleration::Shared };
    /// `mate_e2`: an acceleration phase for each broken ring.
    pub const EACH: Self = Self { remains: Remains::Folded, acceleration: Acceleration::Each };
    /// `mate_e_open`: with the shortest way along the broken rings instead of FoldedRing.
    pub const OPEN: Self = Self { remains: Remains::Open, acceleration: Acceleration::Shared };

    /// The offline bandwidth allocation: the linear programs that planning solves, one for each normal phase with the
    /// acceleration phases after it, in their order. Loads are in messages.
    ///
    /// O(hops of all messages), as they depend on what is where in each phase.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] if no cable failed, or a broken ring has no way.
    ///
    /// ```
    /// use collsynth_core::collective::{Collective, Kind};
    /// use collsynth_plan::MateE;
    /// use collsynth_core::problem::Problem;
    /// use collsynth_core::topology::{Topology, TopologySpec};
    ///
    /// let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]))?;
    /// let problem = Problem::new(torus, Collective { kind: Kind::AllToAll, parts: 1 })?;
    /// let programs = MateE::SHARED.allocations(&problem)?;
    /// // Two normal phases; the ring in the normal phase, the ring and one virtual ring in the acceleration phase.
    /// assert_eq!(programs.len(), 2);
    /// assert_eq!(programs[0].choices[0].ways.len(), 3);
    /// // T0 D / (D-1+r) = 8 * 2 / (4/3) = 12 messages for both phases.
    /// assert!((programs[0].solve(&collsynth_lp::Limit::NONE)?.total() - 6.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allocations(self, problem: &Problem) -> Result<Vec<collsynth_lp::Allocation>, PlanError> {
        broken_rings::allocations(self.name(), problem, self.scheme())
    }

    fn scheme(self) -> Scheme {
        Scheme { remains: self.remains, normal: true, acceleration: self.acceleration }
    }
}

impl Planner for Mate {
    fn name(&self) -> &'static str {
        match self.remains {
            Remains::Folded => "mate",
            Remains::Open => "mate_open",
        }
    }

    fn summary(&self) -> &'static str {
        match self.remains {
            Remains::Folded => {
                "baseline: dim_rotation; after each phase the whole torus moves what broken rings left; tori"
            }
            Remains::Open => "baseline: mate with the shortest way along each broken ring instead of folding it",
        }
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        broken_rings::check(self.name(), problem, self.scheme())
    }

    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        broken_rings::natural_parts(problem, self.scheme())
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        broken_rings::plan(self.name(), task, control, self.scheme())
    }
}

impl Planner for MateE {
    fn name(&self) -> &'static str {
        match (self.remains, self.acceleration) {
            (Remains::Open, _) => "mate_e_open",
            (Remains::Folded, Acceleration::Each) => "mate_e2",
            (Remains::Folded, _) => "mate_e",
        }
    }

    fn summary(&self) -> &'static str {
        match (self.remains, self.acceleration) {
            (Remains::Open, _) => "baseline: mate_e with the shortest way along each broken ring instead of folding it",
            (Remains::Folded, Acceleration::Each) => "baseline: mate_e with an acceleration phase for each broken ring",
            (Remains::Folded, _) => "baseline: mate, broken rings at work in the normal phases too",
        }
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        broken_rings::check(self.name(), problem, self.scheme())
    }

    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        broken_rings::natural_parts(problem, self.scheme())
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        broken_rings::plan(self.name(), task, control, self.scheme())
    }
}
