//! DOR: dimension-ordered routing, as routers with fixed tables do it.
//!
//! # Idea
//!
//! Every message goes along `x` to the destination's position, then along `y`, then along `z`: each time in the shorter
//! direction; where both are equally long, up from even positions of the source and down from odd ones. All parts of a
//! message take one route. The routes alone say what each link carries (its *static load*); here they are also
//! scheduled, store-and-forward.
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
//! needs a failed link: for all_to_all, an intact torus. [`Wfr`](super::Wfr) routes around dead cables.
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

use super::router::{Router, routed};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId};
use collsynth_plan::phased::{StatedPhase, plan_walks};
use collsynth_plan::{AutoUse, Control, Outcome, PlanError, Planner, Task};

/// Dimension-ordered routing.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_baselines::Dor;
/// use collsynth_plan::{Control, Goal, Phase, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let goal = Goal { planner: Some(&Dor), ..Goal::default() };
/// let plan = synthesize(&Topology::torus(&[4, 4, 4])?, &Kind::AllToAll, &goal, &Control::unlimited())?;
/// assert_eq!(Phase::total_load(plan.account.phases()), 32.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dor;

impl Planner for Dor {
    fn name(&self) -> &'static str {
        "dor"
    }

    fn summary(&self) -> &'static str {
        "baseline: every message along x, then y, then z, each in the shorter direction; intact tori"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        routed(self.name(), problem, in_order).map(|_| ())
    }

    /// The parts of a message share a route, so more of them only fill the pipeline sooner.
    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        Some(8)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let walks = routed(self.name(), task.problem, in_order)?;
        plan_walks(self.name(), task, control, vec![(StatedPhase { name: "routed".to_owned(), startups: 1 }, walks)])
    }
}

/// The route of a message, or the dimension in which a link of it failed.
fn in_order(router: &Router<'_>, origin: RankId, dest: RankId) -> Result<Vec<LinkId>, usize> {
    let (mut at, mut route) = (origin, Vec::new());
    for &dim in &router.dims {
        at = router.leg(at, dest, dim, false, &mut route).ok_or(dim)?;
    }
    Ok(route)
}
