//! The links of a torus by rank and direction.

use collsynth_core::topology::{LinkId, RankId, Topology};

/// The link in every direction of every rank.
pub struct LinkTable {
    directions: usize,
    /// `links[rank * directions + 2 * dimension + (1 if up)]`.
    links: Vec<Option<LinkId>>,
}

impl LinkTable {
    /// The live links of a torus; none of an explicit graph. O(links).
    pub fn live(topology: &Topology) -> Self {
        Self::of(topology, topology.live_links())
    }

    /// All links of a torus, failed ones too; none of an explicit graph. O(links).
    pub fn all(topology: &Topology) -> Self {
        Self::of(topology, (0..topology.links().len() as u32).map(LinkId))
    }

    fn of(topology: &Topology, links: impl Iterator<Item = LinkId>) -> Self {
        let directions = 2 * topology.as_torus().map_or(0, |torus| torus.extents.len());
        let mut table = Self { directions, links: vec![None; directions * topology.rank_count()] };
        for id in links {
            let link = topology.link(id);
            if let Some(direction) = link.direction {
                let index = table.index(link.from, direction.dim.into(), direction.positive);
                table.links[index] = Some(id);
            }
        }
        table
    }

    /// The link that leaves a rank up or down a dimension, if the table has one.
    pub fn get(&self, rank: RankId, dim: usize, up: bool) -> Option<LinkId> {
        self.links[self.index(rank, dim, up)]
    }

    fn index(&self, rank: RankId, dim: usize, up: bool) -> usize {
        rank.index() * self.directions + 2 * dim + usize::from(up)
    }
}
