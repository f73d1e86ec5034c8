//! DOR: dimension-ordered routing, as routers with fixed tables do it.
//!
//! # Idea
//!
//! Every message goes along `x` to the destination's position, then along `y`, then along `z`: each time the shorter
//! way round, and where both are as long, up from even positions of the source and down from odd ones. All parts of a
//! message take one route. The routes alone say what each link carries (its *static load*); here they are also
//! scheduled, store-and-forward.
//!
//! ```text
//!   . . d        s to d: along x to d's column,
//!   . . |        then along y
//!   s - +
//! ```
//!
//! # When it applies
//!
//! All-to-all (also with a demand matrix) on a torus whose dimensions of 3 and more all wrap, without failed ranks,
//! where no route needs a link that failed: for all-to-all, where none failed. [`Wfr`](super::Wfr) leads round dead
//! cables.
//!
//! # Volume and steps
//!
//! The static load of the fullest link is what HalfRing with DimRotation takes for the longest dimension: `N k / 8`
//! if 4 divides `k`, `N (k^2-1) / (8k)` if `k` is odd; on other extents what goes half round does not come out even.
//! There is one phase; the volume is above its load by the filling of the pipeline only.
//!
//! # Complexity
//!
//! That of scheduling the hops, O(h log h).
//!
//! # References
//!
//! Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Transactions on
//! Computers 1987. Zu et al., "Resiliency at Scale: Managing Google's TPUv4 Machine Learning Supercomputer", NSDI 2024.

use super::link_table::LinkTable;
use super::phased::{StatedPhase, Walks, active_dims, check_torus, plan_walks, travelers};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Topology, Torus, dim_name};

/// Dimension-ordered routing.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Dor, Goal, Phase, synthesize};
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
        "baseline: every message along x, then y, then z, each time the shorter way; sound tori"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        routed(self.name(), problem, |router, origin, dest| router.in_order(origin, dest)).map(|_| ())
    }

    /// What a message's parts share is their route: more of them only fill the pipeline sooner.
    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        Some(8)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let walks = routed(self.name(), task.problem, |router, origin, dest| router.in_order(origin, dest))?;
        plan_walks(self.name(), task, control, vec![(StatedPhase { name: "routed".to_owned(), startups: 1 }, walks)])
    }
}

/// All messages on their routes.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] with the reason, if a message has no route.
pub(super) fn routed(
    planner: &'static str,
    problem: &Problem,
    route: impl Fn(&Router<'_>, RankId, RankId) -> Result<Vec<LinkId>, usize>,
) -> Result<Walks, PlanError> {
    let torus = check_torus(planner, problem)?;
    let topology = problem.topology();
    let router = Router { topology, torus, dims: active_dims(problem), links: LinkTable::live(topology) };
    let mut walks = Walks::default();
    for parts in travelers(problem).chunk_by(|a, b| (a.origin, a.dest) == (b.origin, b.dest)) {
        let (origin, dest) = (parts[0].origin, parts[0].dest);
        let links = route(&router, origin, dest).map_err(|dim| {
            let [from, to] = [origin, dest].map(|rank| topology.rank_label(rank));
            let reason = format!("it has no way from rank {from} to {to} along {}: a link failed", dim_name(dim as u8));
            PlanError::NotApplicable { planner, reason }
        })?;
        walks.send(&links, parts.iter().map(|part| part.id));
    }
    Ok(walks)
}

/// Finds routes, dimension after dimension.
pub(super) struct Router<'a> {
    pub topology: &'a Topology,
    pub torus: &'a Torus,
    /// The dimensions along which there is somewhere to go.
    pub dims: Vec<usize>,
    pub links: LinkTable,
}

impl Router<'_> {
    /// The route of DOR; else the dimension in which a link of it failed.
    pub fn in_order(&self, origin: RankId, dest: RankId) -> Result<Vec<LinkId>, usize> {
        let (mut at, mut route) = (origin, Vec::new());
        for &dim in &self.dims {
            at = self.leg(at, dest, dim, false, &mut route).ok_or(dim)?;
        }
        Ok(route)
    }

    /// Goes along a dimension to the destination's position, the shorter way or the other way round; the rank where it
    /// ends, or `None` if a link on the way failed. The route then has the links up to there.
    pub fn leg(&self, from: RankId, dest: RankId, dim: usize, other: bool, route: &mut Vec<LinkId>) -> Option<RankId> {
        let offset = self.offset(from, dest, dim);
        let up = self.shorter_way_is_up(from, dest, dim) != other;
        let hops = if up || self.has_single_cable(dim) { offset } else { self.torus.extents[dim] - offset };
        let mut at = from;
        for _ in 0..if offset == 0 { 0 } else { hops } {
            at = self.hop(at, dim, up, route)?;
        }
        Some(at)
    }

    /// One hop along a dimension, if the link is live.
    pub fn hop(&self, from: RankId, dim: usize, up: bool, route: &mut Vec<LinkId>) -> Option<RankId> {
        let link = self.links.get(from, dim, up)?;
        route.push(link);
        Some(self.topology.link(link).to)
    }

    /// Is it up that a destination is nearer? Where both ways are as long, up from even positions.
    pub fn shorter_way_is_up(&self, from: RankId, dest: RankId, dim: usize) -> bool {
        let (position, twice) = (self.torus.position(from, dim), 2 * self.offset(from, dest, dim));
        let extent = self.torus.extents[dim];
        twice < extent || (twice == extent && position.is_multiple_of(2))
    }

    /// How far up a dimension a destination is.
    pub fn offset(&self, from: RankId, dest: RankId, dim: usize) -> u32 {
        let extent = self.torus.extents[dim];
        (self.torus.position(dest, dim) + extent - self.torus.position(from, dim)) % extent
    }

    fn has_single_cable(&self, dim: usize) -> bool {
        self.torus.extents[dim] == 2 && !self.torus.wrap[dim]
    }
}
