//! Routes of messages, dimension after dimension.

use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Topology, Torus, dim_name};
use collsynth_plan::PlanError;
use collsynth_plan::link_table::LinkTable;
use collsynth_plan::phased::{Walks, active_dims, check_torus, travelers};

/// All messages on the routes that `route` finds.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] with the reason, if a message has no route.
pub(crate) fn routed(
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
            let reason =
                format!("it has no path from rank {from} to {to} along {}: a link failed", dim_name(dim as u8));
            PlanError::NotApplicable { planner, reason }
        })?;
        walks.send(&links, parts.iter().map(|part| part.id));
    }
    Ok(walks)
}

/// Finds routes, dimension after dimension.
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

    /// One hop along a dimension, if the link is live.
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
