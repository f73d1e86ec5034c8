//! A machine as a person or a file states it, unchecked.

use super::{DimRef, Direction, Link, MAX_RANKS, RankId, TopologyError, dim_name};

/// What a [`super::Topology`] is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologySpec {
    /// The machine as built.
    pub shape: Shape,
    /// Cables and single links that failed.
    pub failed_links: Vec<FailedLink>,
    /// Ranks that failed; the others keep their numbers.
    pub failed_ranks: Vec<RankId>,
    /// A name for every rank, failed ones included, each once; or none. At most 253 ASCII letters, digits and
    /// `. - _ : / @`, of which the first is a letter or digit, and one a letter.
    pub names: Vec<String>,
}

/// A machine as built, before anything failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A torus, mesh, ring or line.
    Torus(Torus),
    /// Any directed graph.
    Graph {
        /// The number of ranks.
        ranks: u32,
        /// Its links; at most one from a rank to another.
        links: Vec<GraphLink>,
    },
}

/// Extents of a torus, whether each dimension wraps, and what its links carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Positions per dimension, the one that runs fastest in the rank numbers first; each at least 1.
    pub extents: Vec<u32>,
    /// Per dimension: does the last position join the first? Empty: for extents of 3 or more.
    pub wrap: Vec<bool>,
    /// Per dimension: chunks a link carries in a step of width 1. Empty: 1 each.
    pub capacity: Vec<u32>,
}

/// One directed link of an explicit graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLink {
    /// The rank that sends on it.
    pub from: RankId,
    /// The rank that receives from it.
    pub to: RankId,
    /// How many chunks it carries in a step of width 1.
    pub capacity: u32,
}

/// A failed cable or link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedLink {
    /// One end (the sender, if one direction failed).
    pub from: RankId,
    /// The other end.
    pub to: RankId,
    /// The dimension; with a direction (of the link from `from` to `to`) where two cables join the same ranks.
    pub dim: Option<DimRef>,
    /// True: the cable, so both links. False: only the link from `from` to `to`.
    pub both: bool,
}

impl FailedLink {
    /// The only cable between these ranks, both directions.
    pub fn cable(from: RankId, to: RankId) -> Self {
        Self { from, to, dim: None, both: true }
    }
}

impl TopologySpec {
    /// This machine without failures.
    pub fn new(shape: Shape) -> Self {
        Self { shape, failed_links: Vec::new(), failed_ranks: Vec::new(), names: Vec::new() }
    }

    /// An intact torus; the extent that runs fastest in the rank numbers comes first.
    ///
    /// ```
    /// # use collsynth_core::topology::{Topology, TopologySpec};
    /// let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]).without_ranks(&[5]))?;
    /// assert_eq!((torus.rank_count(), torus.live_ranks().count(), torus.live_links().count()), (16, 15, 54));
    /// # Ok::<(), collsynth_core::topology::TopologyError>(())
    /// ```
    pub fn torus(extents: &[u32]) -> Self {
        Self::new(Shape::Torus(Torus::new(extents)))
    }

    /// The same machine with these cables failed as well, each given by the two ranks it joins.
    pub fn without_cables(mut self, cables: &[(u32, u32)]) -> Self {
        self.failed_links.extend(cables.iter().map(|&(from, to)| FailedLink::cable(RankId(from), RankId(to))));
        self
    }

    /// The same machine with these ranks failed as well.
    pub fn without_ranks(mut self, ranks: &[u32]) -> Self {
        self.failed_ranks.extend(ranks.iter().copied().map(RankId));
        self
    }

    /// The same machine with these names for its ranks.
    ///
    /// ```
    /// # use collsynth_core::topology::{RankId, Topology, TopologySpec};
    /// let named = TopologySpec::torus(&[3]).with_names(["node4", "node5", "node7"]);
    /// assert_eq!(Topology::new(named)?.parse_rank("node7")?, RankId(2));
    /// # Ok::<(), collsynth_core::topology::TopologyError>(())
    /// ```
    pub fn with_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Fills in the defaults of a torus or sorts the links of a graph, and refuses what makes no machine.
    pub(super) fn normalize_shape(&mut self) -> Result<(), TopologyError> {
        match &mut self.shape {
            Shape::Torus(torus) => torus.normalize(),
            Shape::Graph { ranks, links } => {
                links.sort_unstable_by_key(|link| (link.from, link.to));
                for (i, link) in links.iter().enumerate() {
                    if let Some(rank) = [link.from, link.to].into_iter().find(|rank| rank.0 >= *ranks) {
                        return Err(TopologyError::RankOutOfRange { rank: rank.0, ranks: *ranks });
                    }
                    if link.from == link.to {
                        return Err(TopologyError::SelfLink { rank: link.from });
                    }
                    if link.capacity == 0 {
                        return Err(TopologyError::ZeroCapacity { what: format!("link {} -> {}", link.from, link.to) });
                    }
                    if i > 0 && (links[i - 1].from, links[i - 1].to) == (link.from, link.to) {
                        return Err(TopologyError::DuplicateLink { from: link.from, to: link.to });
                    }
                }
                Ok(())
            }
        }
    }

    /// The number of ranks, failed ones included.
    ///
    /// # Errors
    ///
    /// If there is none, or more than [`MAX_RANKS`].
    pub fn rank_count(&self) -> Result<u32, TopologyError> {
        let ranks = match &self.shape {
            // Every factor is below 2^32, so a product capped right above the limit never overflows.
            Shape::Torus(torus) => {
                torus.extents.iter().fold(1, |product, &extent| (product * u64::from(extent)).min(MAX_RANKS + 1))
            }
            Shape::Graph { ranks, .. } => u64::from(*ranks),
        };
        match ranks {
            0 => Err(TopologyError::NoRankLeft),
            ranks if ranks > MAX_RANKS => Err(TopologyError::TooManyRanks),
            ranks => Ok(ranks as u32),
        }
    }

    /// Every link of the shape, in no particular order, all alive.
    pub(super) fn all_links(&self) -> Result<Vec<Link>, TopologyError> {
        Ok(match &self.shape {
            Shape::Torus(torus) => torus.links(self.rank_count()?),
            Shape::Graph { links, .. } => links
                .iter()
                .map(|&GraphLink { from, to, capacity }| Link { from, to, capacity, direction: None, alive: true })
                .collect(),
        })
    }
}

impl Torus {
    /// A torus with the default wrap, every capacity 1.
    pub fn new(extents: &[u32]) -> Self {
        Self { extents: extents.to_vec(), wrap: Vec::new(), capacity: Vec::new() }
    }

    /// The wrap of each dimension unless stated: extents of 3 or more.
    pub fn default_wrap(&self) -> Vec<bool> {
        self.extents.iter().map(|&extent| extent >= 3).collect()
    }

    /// The difference of the rank numbers of two neighbors along a dimension: the product of the extents before it.
    pub fn stride(&self, dim: usize) -> u32 {
        self.extents[..dim].iter().product()
    }

    /// The position of a rank along a dimension.
    pub fn position(&self, rank: RankId, dim: usize) -> u32 {
        rank.0 / self.stride(dim) % self.extents[dim]
    }

    fn normalize(&mut self) -> Result<(), TopologyError> {
        let dims = self.extents.len();
        if dims == 0 || dims > usize::from(u8::MAX) {
            return Err(TopologyError::NoDimension);
        }
        if let Some(dim) = self.extents.iter().position(|&extent| extent == 0) {
            return Err(TopologyError::ZeroExtent { dim: dim_name(dim as u8) });
        }
        if self.wrap.is_empty() {
            self.wrap = self.default_wrap();
        }
        if self.capacity.is_empty() {
            self.capacity = vec![1; dims];
        }
        for (what, length) in [("wrap", self.wrap.len()), ("capacity", self.capacity.len())] {
            if length != dims {
                return Err(TopologyError::WrongLength { what, length, dims });
            }
        }
        if let Some(dim) = self.capacity.iter().position(|&capacity| capacity == 0) {
            return Err(TopologyError::ZeroCapacity { what: format!("dimension {}", dim_name(dim as u8)) });
        }
        // An extent of 1 has no link to close.
        for (wrap, &extent) in self.wrap.iter_mut().zip(&self.extents) {
            *wrap &= extent >= 2;
        }
        Ok(())
    }

    fn links(&self, rank_count: u32) -> Vec<Link> {
        let mut links = Vec::new();
        for rank in (0..rank_count).map(RankId) {
            for (dim, &extent) in self.extents.iter().enumerate() {
                let (position, stride) = (self.position(rank, dim), self.stride(dim));
                for positive in [false, true] {
                    let edge = if positive { position + 1 == extent } else { position == 0 };
                    if edge && !self.wrap[dim] {
                        continue;
                    }
                    let next = if positive { (position + 1) % extent } else { (position + extent - 1) % extent };
                    links.push(Link {
                        from: rank,
                        to: RankId(rank.0 - position * stride + next * stride),
                        capacity: self.capacity[dim],
                        direction: Some(Direction { dim: dim as u8, positive }),
                        alive: true,
                    });
                }
            }
        }
        links
    }
}
