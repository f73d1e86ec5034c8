//! Translation: on an intact symmetric torus, every rank can use the trees of rank 0, shifted to its position.

use crate::planners::template::link_towards;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{Direction, LinkId, RankId, Topology};

/// The map from the pairs of rank 0 to the pairs of all ranks.
pub(super) struct Translation {
    /// The class of each link: its direction, which translation keeps.
    pub column: Vec<u32>,
    pub capacity: Vec<u32>,
    pub pairs: usize,
}

impl Translation {
    /// `None` unless the torus is intact and symmetric and its number of ranks divides the parts.
    pub fn new(problem: &Problem) -> Option<Self> {
        let topology = problem.topology();
        let torus = topology.as_torus().filter(|torus| torus.is_symmetric())?;
        let ranks = topology.rank_count();
        let pairs = problem.parts() as usize;
        if topology.links().iter().any(|link| !link.alive)
            || topology.live_rank_count() < ranks
            || !pairs.is_multiple_of(ranks)
        {
            return None;
        }
        let class = |direction: Direction| {
            let dim = usize::from(direction.dim);
            let single = torus.extents[dim] == 2 && !torus.wrap[dim];
            2 * u32::from(direction.dim) + u32::from(direction.positive && !single)
        };
        let column = topology.links().iter().map(|link| link.direction.map(class)).collect::<Option<_>>()?;
        let capacity = torus.capacity.iter().flat_map(|&capacity| [capacity; 2]).collect();
        Some(Self { column, capacity, pairs: pairs / ranks })
    }

    /// The translations to all ranks of a link that a pair of rank 0 uses, each with the chunk that uses it there.
    pub fn images<'a>(
        &'a self,
        topology: &'a Topology,
        pair: u32,
        link: LinkId,
    ) -> impl Iterator<Item = (LinkId, u32)> + 'a {
        let link = topology.link(link);
        let ranks = topology.rank_count() as u32;
        let torus_and_direction = topology.as_torus().zip(link.direction);
        (0..ranks).filter_map(move |rank| {
            let (torus, direction) = torus_and_direction?;
            let from = torus.translated(RankId(rank), link.from);
            Some((link_towards(topology, from, direction), rank * self.pairs as u32 + pair))
        })
    }
}
