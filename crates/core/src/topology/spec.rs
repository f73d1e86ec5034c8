//! A machine as a person or a file states it, unchecked.

use super::{DimRef, Direction, Link, MAX_RANKS, RankId, TopologyError, dim_name};
use crate::exact::{dimension, narrow};

/// What a [`Topology`](super::Topology) is built from.
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
    /// `twist[d][e]`: how far up dimension `e` the wrap of dimension `d` leads, going from its last position to the
    /// first. Empty: no wrap shifts anything.
    pub twist: Vec<Vec<u32>>,
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
            ranks => Ok(narrow(ranks)),
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
        Self { extents: extents.to_vec(), wrap: Vec::new(), capacity: Vec::new(), twist: Vec::new() }
    }

    /// A torus whose extents are some `k` and `2k`, twisted: the wrap of each short dimension shifts every long one by
    /// `k` (Camara et al., "Twisted torus topologies for enhanced interconnection networks", IEEE TPDS 2010; Jouppi et
    /// al., ISCA 2023). `None` if the extents are others, or `k` is 1.
    ///
    /// ```
    /// # use collsynth_core::topology::{RankId, Torus};
    /// // From (3,1) along x+ to (0,5).
    /// let next = Torus::twisted(&[4, 8]).and_then(|torus| torus.neighbor(RankId(7), 0, true));
    /// assert_eq!(next, Some(RankId(20)));
    /// assert_eq!(Torus::twisted(&[4, 4]), None);
    /// ```
    pub fn twisted(extents: &[u32]) -> Option<Self> {
        let (&short, &long) = (extents.iter().min()?, extents.iter().max()?);
        let doubled =
            short >= 2 && short.checked_mul(2) == Some(long) && extents.iter().all(|k| [short, long].contains(k));
        let row = |&from: &u32| extents.iter().map(|&to| if from == short && to == long { short } else { 0 }).collect();
        doubled.then(|| Self {
            wrap: vec![true; extents.len()],
            twist: extents.iter().map(row).collect(),
            ..Self::new(extents)
        })
    }

    /// True if some wrap shifts another dimension.
    pub fn is_twisted(&self) -> bool {
        self.twist.iter().flatten().any(|&shift| shift > 0)
    }

    /// The rank at a position of the torus unrolled: leaving it at one end of a dimension leads in at the other,
    /// shifted by the twist.
    pub fn rank_at(&self, position: &[i64]) -> RankId {
        let mut position = position.to_vec();
        let mut rank = 0;
        // No twist shifts a dimension that is twisted itself.
        let (first, then): (Vec<usize>, Vec<usize>) = (0..position.len()).partition(|&dim| self.shifts(dim).is_some());
        for dim in first.into_iter().chain(then) {
            let extent = i64::from(self.extents[dim]);
            let turns = position[dim].div_euclid(extent);
            position[dim] -= turns * extent;
            for (shifted, &shift) in position.iter_mut().zip(self.shifts(dim).unwrap_or_default()) {
                *shifted += turns * i64::from(shift);
            }
            rank += narrow(position[dim]) * self.stride(dim);
        }
        RankId(rank)
    }

    /// How far the wrap of a dimension shifts each dimension, if any.
    fn shifts(&self, dim: usize) -> Option<&[u32]> {
        self.twist.get(dim).map(|row| &row[..]).filter(|row| row.iter().any(|&shift| shift > 0))
    }

    /// The coordinates of a rank, for sums of them; see [`Torus::rank_at`].
    pub fn unrolled(&self, rank: RankId) -> Vec<i64> {
        (0..self.extents.len()).map(|dim| i64::from(self.position(rank, dim))).collect()
    }

    /// Does the intact torus look the same from every rank? Each dimension wraps, or has at most 2 positions.
    pub fn is_symmetric(&self) -> bool {
        self.extents.iter().zip(&self.wrap).all(|(&extent, &wrap)| wrap || extent <= 2)
    }

    /// The rank at an offset from another, on a torus that [looks the same](Torus::is_symmetric) from every rank. An
    /// offset is the number of the rank there as seen from rank 0.
    pub fn translated(&self, rank: RankId, offset: RankId) -> RankId {
        if self.is_twisted() {
            let sums = self.unrolled(rank).into_iter().zip(self.unrolled(offset)).map(|(rank, offset)| rank + offset);
            return self.rank_at(&sums.collect::<Vec<_>>());
        }
        let moved =
            |dim| (self.position(rank, dim) + self.position(offset, dim)) % self.extents[dim] * self.stride(dim);
        RankId((0..self.extents.len()).map(moved).sum())
    }

    /// The offset from one rank to another; see [`Torus::translated`].
    pub fn offset(&self, from: RankId, to: RankId) -> RankId {
        if self.is_twisted() {
            let apart = self.unrolled(to).into_iter().zip(self.unrolled(from)).map(|(to, from)| to - from);
            return self.rank_at(&apart.collect::<Vec<_>>());
        }
        let apart = |dim| self.position(to, dim) + self.extents[dim] - self.position(from, dim);
        RankId((0..self.extents.len()).map(|dim| apart(dim) % self.extents[dim] * self.stride(dim)).sum())
    }

    /// The rank that a link up or down a dimension leads to, as built; `None` at the end of a dimension that does not
    /// wrap, or has one position.
    pub fn neighbor(&self, rank: RankId, dim: usize, positive: bool) -> Option<RankId> {
        let (extent, position, stride) = (self.extents[dim], self.position(rank, dim), self.stride(dim));
        let edge = if positive { position + 1 == extent } else { position == 0 };
        if edge && !self.wrap[dim] {
            return None;
        }
        if edge && self.is_twisted() {
            let mut unrolled = self.unrolled(rank);
            unrolled[dim] += if positive { 1 } else { -1 };
            return Some(self.rank_at(&unrolled));
        }
        let next = if positive { (position + 1) % extent } else { (position + extent - 1) % extent };
        Some(RankId(rank.0 - position * stride + next * stride))
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
            return Err(TopologyError::ZeroExtent { dim: dim_name(dimension(dim)) });
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
            return Err(TopologyError::ZeroCapacity { what: format!("dimension {}", dim_name(dimension(dim))) });
        }
        // An extent of 1 has no link to close.
        for (wrap, &extent) in self.wrap.iter_mut().zip(&self.extents) {
            *wrap &= extent >= 2;
        }
        self.check_twist()
    }

    fn check_twist(&mut self) -> Result<(), TopologyError> {
        let dims = self.extents.len();
        for length in std::iter::once(self.twist.len()).chain(self.twist.iter().map(Vec::len)) {
            if length != dims && !self.twist.is_empty() {
                return Err(TopologyError::WrongLength { what: "twist", length, dims });
            }
        }
        let pairs = (0..self.twist.len()).flat_map(|dim| (0..dims).map(move |shifted| (dim, shifted)));
        for (dim, shifted) in pairs.filter(|&(dim, shifted)| self.twist[dim][shifted] > 0) {
            let reason = if dim == shifted {
                "a wrap shifts other dimensions"
            } else if !self.wrap[dim] || !self.wrap[shifted] {
                "both must wrap"
            } else if self.twist[dim][shifted] >= self.extents[shifted] {
                "a shift is below the extent of the dimension it shifts"
            } else if self.shifts(shifted).is_some() {
                "its own wrap shifts another one"
            } else {
                continue;
            };
            let [dim, shifted] = [dim, shifted].map(|dim| dim_name(dimension(dim)));
            return Err(TopologyError::Twist { dim, shifted, reason });
        }
        if !self.is_twisted() {
            self.twist.clear();
        }
        Ok(())
    }

    fn links(&self, rank_count: u32) -> Vec<Link> {
        let mut links = Vec::new();
        for rank in (0..rank_count).map(RankId) {
            for dim in 0..self.extents.len() {
                for positive in [false, true] {
                    let to = self.neighbor(rank, dim, positive);
                    links.extend(to.map(|to| Link {
                        from: rank,
                        to,
                        capacity: self.capacity[dim],
                        direction: Some(Direction { dim: dimension(dim), positive }),
                        alive: true,
                    }));
                }
            }
        }
        links
    }
}
