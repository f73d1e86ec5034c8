//! DOR: dimension-ordered routing, as routers with fixed tables do it.
//!
//! # Idea
//!
//! Every message goes along `x` to the destination's position, then along `y`, then along `z`, in the shorter
//! direction; if both are equal, up from even positions of the source and down from odd ones. All parts of a message
//! take one route. The routes alone fix the load of each link (its *static load*); here they are also scheduled,
//! store-and-forward.
//!
//! ```text
//!   . . d        s to d: along x to d's column,
//!   . . |        then along y
//!   s - +
//! ```
//!
//! # Applies
//!
//! All_to_all and all_to_allv on a torus whose dimensions of 3 and more all wrap, without failed ranks, where no route
//! needs a failed link: for all_to_all, an intact torus. [`Routed::WFR`] routes around dead cables.
//!
//! # Steps and volume
//!
//! The static load of the fullest link is what HalfRing with DimRotation takes for the longest dimension: `N k / 8` if
//! 4 divides `k`, `N (k^2-1) / (8k)` if `k` is odd; on other extents what goes half way around does not come out even.
//! There is one phase; the volume exceeds its load only by filling the pipeline.
//!
//! # Complexity
//!
//! That of scheduling the hops, O(h log h).
//!
//! # Reference
//!
//! Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Transactions on
//! Computers 1987. Zu et al., "Resiliency at Scale: Managing Google's TPUv4 Machine Learning Supercomputer", NSDI 2024.

use super::router::{Routed, Router};
use collsynth_core::topology::{LinkId, RankId};

impl Routed {
    /// Dimension-ordered routing.
    ///
    /// ```
    /// use collsynth_core::collective::Kind;
    /// use collsynth_baselines::Routed;
    /// use collsynth_plan::{Control, Goal, Phase, synthesize};
    /// use collsynth_core::topology::Topology;
    ///
    /// let goal = Goal { planner: Some(&Routed::DOR), ..Goal::default() };
    /// let plan = synthesize(&Topology::torus(&[4, 4, 4])?, &Kind::AllToAll, &goal, &Control::unlimited())?;
    /// assert_eq!(Phase::total_load(plan.account.phases()), 32.into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const DOR: Self = Self {
        name: "dor",
        summary: "every message along x, then y, then z, each in the shorter direction; intact tori",
        route: in_order,
    };
}

/// The route of a message, or the dimension in which a link of it failed.
fn in_order(router: &Router<'_>, origin: RankId, dest: RankId) -> Result<Vec<LinkId>, usize> {
    let (mut at, mut route) = (origin, Vec::new());
    for &dim in &router.dims {
        at = router.leg(at, dest, dim, false, &mut route).ok_or(dim)?;
    }
    Ok(route)
}
