//! Planners that route messages dimension after dimension.

use collsynth_bound::link_table::LinkTable;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Topology, Torus, dim_name};
use collsynth_plan::phased::{ROUTED, Walks, active_dims, check_torus, plan_walks, travelers};
use collsynth_plan::{AutoUse, Control, Outcome, PlanError, Planner, Scope, StatedPhase, Task};

/// A planner with a fixed route for every message: [`Routed::DOR`] or [`Routed::WFR`].
#[derive(Clone, Copy, Debug)]
pub struct Routed {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// The route of a message, or the dimension in which it has none.
    pub(crate) route: fn(&Router<'_>, RankId, RankId) -> Result<Vec<LinkId>, usize>,
}

impl Routed {
    fn walks(&self, problem: &Problem) -> Result<Walks, PlanError> {
        let torus = check_torus(self.name, ROUTED, problem)?;
        let topology = problem.topology();
        let router = Router { topology, torus, dims: active_dims(problem), links: LinkTable::live(topology) };
        let mut walks = Walks::default();
        for parts in travelers(problem).chunk_by(|a, b| (a.origin, a.dest) == (b.origin, b.dest)) {
            let (origin, dest) = (parts[0].origin, parts[0].dest);
            let links = (self.route)(&router, origin, dest).map_err(|dim| {
                let [from, to] = [origin, dest].map(|rank| topology.rank_label(rank));
                let dim = dim_name(dim as u8);
                let reason = format!("it has no path from rank {from} to {to} along {dim}: a link failed");
                PlanError::NotApplicable { planner: self.name, reason }
            })?;
            walks.send(&links, parts.iter().map(|part| part.id));
        }
        Ok(walks)
    }
}

impl Planner for Routed {
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
        self.walks(problem).map(|_| ())
    }

    /// The parts of a message share a route, so more of them only fill the pipeline sooner.
    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        Some(8)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let walks = self.walks(task.problem)?;
        plan_walks(self.name, task, control, vec![(StatedPhase { name: "routed".to_owned(), startups: 1 }, walks)])
    }
}

pub(crate) struct Router<'a> {
    pub topology: &'a Topology,
    pub torus: &'a Torus,
    /// The dimensions of more than one position.
    pub dims: Vec<usize>,
    pub links: LinkTable,
}

impl Router<'_> {
    /// Follows a dimension to the destination's position, in the shorter direction or the `other`; returns the last
    /// rank, or `None` if a link failed, with the links before it on the route.
    pub fn leg(&self, from: RankId, dest: RankId, dim: usize, other: bool, route: &mut Vec<LinkId>) -> Option<RankId> {
        let offset = self.offset(from, dest, dim);
        let up = self.shorter_is_up(from, dest, dim) != other;
        let hops = if up || self.has_single_cable(dim) { offset } else { self.torus.extents[dim] - offset };
        let mut at = from;
        for _ in 0..if offset == 0 { 0 } else { hops } {
            at = self.hop(at, dim, up, route)?;
        }
        Some(at)
    }

    pub fn hop(&self, from: RankId, dim: usize, up: bool, route: &mut Vec<LinkId>) -> Option<RankId> {
        let link = self.links.get(from, dim, up)?;
        route.push(link);
        Some(self.topology.link(link).to)
    }

    /// Is a destination nearer going up? If both directions are equally long: from even positions.
    pub fn shorter_is_up(&self, from: RankId, dest: RankId, dim: usize) -> bool {
        let (position, twice) = (self.torus.position(from, dim), 2 * self.offset(from, dest, dim));
        let extent = self.torus.extents[dim];
        twice < extent || (twice == extent && position.is_multiple_of(2))
    }

    /// The distance up a dimension to a destination.
    pub fn offset(&self, from: RankId, dest: RankId, dim: usize) -> u32 {
        let extent = self.torus.extents[dim];
        (self.torus.position(dest, dim) + extent - self.torus.position(from, dim)) % extent
    }

    fn has_single_cable(&self, dim: usize) -> bool {
        self.torus.extents[dim] == 2 && !self.torus.wrap[dim]
    }
}
