//! A checked machine and its queries.

use std::fmt;

use super::{DimRef, Direction, FailedLink, Link, LinkId, RankId, Shape, TopologyError, TopologySpec, Torus};
use super::{dim_name, names};
use crate::exact::narrow;

/// Ranks, links and failures, checked.
#[derive(Clone, PartialEq, Eq)]
pub struct Topology {
    spec: TopologySpec,
    pub(super) rank_count: u32,
    rank_alive: Vec<bool>,
    links: Vec<Link>,
    out_start: Vec<u32>,
    in_start: Vec<u32>,
    in_links: Vec<LinkId>,
}

impl Topology {
    /// Checks a specification and lists its links.
    ///
    /// # Errors
    ///
    /// A [`TopologyError`] that names what does not fit and what would: extents of 0, too many ranks, capacities of 0,
    /// failed links that do not exist (with the neighbors that do), ambiguous or repeated failures, ranks out of range,
    /// names that are none or name two ranks.
    pub fn new(mut spec: TopologySpec) -> Result<Self, TopologyError> {
        spec.normalize_shape()?;
        let rank_count = spec.rank_count()?;
        names::check(&spec.names, rank_count)?;
        let mut rank_alive = vec![true; rank_count as usize];
        for &rank in &spec.failed_ranks {
            match rank_alive.get_mut(rank.index()) {
                None => return Err(TopologyError::RankOutOfRange { rank: rank.0, ranks: rank_count }),
                Some(alive) if !*alive => return Err(TopologyError::RankFailedTwice { rank }),
                Some(alive) => *alive = false,
            }
        }
        spec.failed_ranks.sort_unstable();
        if !rank_alive.contains(&true) {
            return Err(TopologyError::NoRankLeft);
        }

        let mut links = spec.all_links()?;
        links.sort_unstable_by_key(|link| (link.from, link.to, link.direction));
        let (out_start, in_start, in_links) = adjacency(rank_count, &links);
        let mut topology = Self { spec, rank_count, rank_alive, links, out_start, in_start, in_links };
        topology.apply_failed_links()?;
        for link in &mut topology.links {
            link.alive &= topology.rank_alive[link.from.index()] && topology.rank_alive[link.to.index()];
        }
        Ok(topology)
    }

    /// An intact torus (or ring, for one extent): extents of 3 or more wrap, every capacity is 1.
    ///
    /// # Errors
    ///
    /// As [`Topology::new`].
    ///
    /// ```
    /// # use collsynth_core::topology::Topology;
    /// let torus = Topology::torus(&[4, 4, 4])?;
    /// assert_eq!((torus.rank_count(), torus.links().len()), (64, 384));
    /// # Ok::<(), collsynth_core::topology::TopologyError>(())
    /// ```
    pub fn torus(extents: &[u32]) -> Result<Self, TopologyError> {
        Self::new(TopologySpec::torus(extents))
    }

    /// The same with both links of a cable failed. Where two cables join the ranks, use [`TopologySpec`] to name one.
    ///
    /// # Errors
    ///
    /// As [`Topology::new`].
    ///
    /// ```
    /// # use collsynth_core::topology::Topology;
    /// let torus = Topology::torus(&[4, 4, 4])?.fail_cable(2, 3)?;
    /// assert_eq!(torus.live_links().count(), 382);
    /// # Ok::<(), collsynth_core::topology::TopologyError>(())
    /// ```
    pub fn fail_cable(self, from: u32, to: u32) -> Result<Self, TopologyError> {
        self.fail(from, to, true)
    }

    /// The same with the link from one rank to another failed; the opposite link stays alive.
    ///
    /// # Errors
    ///
    /// As [`Topology::new`].
    pub fn fail_link(self, from: u32, to: u32) -> Result<Self, TopologyError> {
        self.fail(from, to, false)
    }

    /// The same with a rank and all its links failed.
    ///
    /// # Errors
    ///
    /// As [`Topology::new`].
    pub fn fail_rank(self, rank: u32) -> Result<Self, TopologyError> {
        Self::new(self.spec.without_ranks(&[rank]))
    }

    /// The same with every link dead but those whose ends `keeps` accepts. The specification does not change.
    pub(crate) fn confined(&self, keeps: impl Fn(RankId, RankId) -> bool) -> Self {
        let mut confined = self.clone();
        confined.links.iter_mut().for_each(|link| link.alive &= keeps(link.from, link.to));
        confined
    }

    fn fail(mut self, from: u32, to: u32, both: bool) -> Result<Self, TopologyError> {
        self.spec.failed_links.push(FailedLink { from: RankId(from), to: RankId(to), dim: None, both });
        Self::new(self.spec)
    }

    /// What this topology was built from, in its normal form: defaults filled in, failures sorted.
    pub fn spec(&self) -> &TopologySpec {
        &self.spec
    }

    /// The torus, as built; `None` for an explicit graph.
    pub fn as_torus(&self) -> Option<&Torus> {
        match &self.spec.shape {
            Shape::Torus(torus) => Some(torus),
            Shape::Graph { .. } => None,
        }
    }

    /// The number of ranks N, failed ones included.
    pub fn rank_count(&self) -> usize {
        self.rank_count as usize
    }

    /// True if the rank exists and did not fail.
    pub fn is_alive(&self, rank: RankId) -> bool {
        self.rank_alive.get(rank.index()).copied().unwrap_or(false)
    }

    /// The ranks that did not fail, ascending.
    pub fn live_ranks(&self) -> impl Iterator<Item = RankId> + '_ {
        (0..self.rank_count).map(RankId).filter(|rank| self.rank_alive[rank.index()])
    }

    /// The number of ranks that did not fail.
    pub fn live_rank_count(&self) -> usize {
        self.rank_alive.iter().filter(|&&alive| alive).count()
    }

    /// Every directed link, failed ones included, indexed by [`LinkId`].
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The link with this id.
    ///
    /// # Panics
    ///
    /// If the id is not of this topology.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// The ids of the live links, ascending.
    pub fn live_links(&self) -> impl Iterator<Item = LinkId> + '_ {
        (0..self.links.len()).filter(|&i| self.links[i].alive).map(|i| LinkId(narrow(i)))
    }

    /// The links that leave a rank, failed ones included, ascending.
    ///
    /// # Panics
    ///
    /// If the rank is out of range.
    pub fn links_from(&self, rank: RankId) -> impl Iterator<Item = LinkId> + '_ {
        (self.out_start[rank.index()]..self.out_start[rank.index() + 1]).map(LinkId)
    }

    /// The links that enter a rank, failed ones included, ascending.
    ///
    /// # Panics
    ///
    /// If the rank is out of range.
    pub fn links_into(&self, rank: RankId) -> impl Iterator<Item = LinkId> + '_ {
        let range = self.in_start[rank.index()] as usize..self.in_start[rank.index() + 1] as usize;
        self.in_links[range].iter().copied()
    }

    /// The links (failed ones included) from one rank to another, ascending: none, one, or two where a doubled cable
    /// joins them. Empty if a rank is out of range. O(links that leave `from`).
    pub fn links_between(&self, from: RankId, to: RankId) -> impl Iterator<Item = LinkId> + '_ {
        let known = Some(from).filter(|from| from.0 < self.rank_count);
        known.into_iter().flat_map(|from| self.links_from(from)).filter(move |&id| self.link(id).to == to)
    }

    /// The other link of the same cable, if it was built with one.
    pub fn opposite(&self, id: LinkId) -> Option<LinkId> {
        let link = self.link(id);
        let wanted = link.direction.map(Direction::opposite);
        self.links_between(link.to, link.from).find(|&back| self.link(back).direction == wanted)
    }

    /// The strongly connected components of the live ranks, each ascending, in the order of their first ranks. One
    /// component: the network is connected.
    ///
    /// O(ranks + links), by Kosaraju and Sharir: starting from ranks in descending order of the time a forward search
    /// leaves them, a component is what a backward search reaches.
    pub fn components(&self) -> Vec<Vec<RankId>> {
        let mut left = Vec::with_capacity(self.rank_count());
        let mut seen = vec![false; self.rank_count()];
        for start in self.live_ranks() {
            self.search(start, &mut seen, &mut left, |rank| self.live_neighbors(self.links_from(rank), |link| link.to));
        }
        let mut groups = Vec::new();
        seen.fill(false);
        for &start in left.iter().rev() {
            let mut group = Vec::new();
            self.search(start, &mut seen, &mut group, |rank| {
                self.live_neighbors(self.links_into(rank), |link| link.from)
            });
            group.sort_unstable();
            groups.push(group);
        }
        groups.retain(|group: &Vec<RankId>| !group.is_empty());
        groups.sort_unstable();
        groups
    }

    /// Depth-first search over unseen ranks, in postorder.
    fn search<I: Iterator<Item = RankId>>(
        &self,
        start: RankId,
        seen: &mut [bool],
        left: &mut Vec<RankId>,
        neighbors: impl Fn(RankId) -> I,
    ) {
        if std::mem::replace(&mut seen[start.index()], true) {
            return;
        }
        let mut path = vec![(start, neighbors(start))];
        while let Some((rank, ahead)) = path.last_mut() {
            match ahead.find(|next| !seen[next.index()]) {
                Some(next) => {
                    seen[next.index()] = true;
                    path.push((next, neighbors(next)));
                }
                None => {
                    left.push(*rank);
                    path.pop();
                }
            }
        }
    }

    fn live_neighbors(
        &self,
        links: impl Iterator<Item = LinkId>,
        end: impl Fn(&Link) -> RankId,
    ) -> impl Iterator<Item = RankId> {
        links.map(|id| self.link(id)).filter(|link| link.alive).map(end)
    }

    /// Marks the failed links dead and normalizes their list.
    fn apply_failed_links(&mut self) -> Result<(), TopologyError> {
        let mut stated = std::mem::take(&mut self.spec.failed_links);
        for failed in &mut stated {
            let id = self.find_failed(failed)?;
            failed.dim =
                self.link(id).direction.map(|direction| match self.links_between(failed.from, failed.to).count() {
                    1 => DimRef::Dim(direction.dim),
                    _ => DimRef::Direction(direction),
                });
            let opposite = self.opposite(id).filter(|_| failed.both);
            failed.both = opposite.is_some();
            if failed.both && failed.to < failed.from {
                (failed.from, failed.to) = (failed.to, failed.from);
                if let Some(DimRef::Direction(direction)) = &mut failed.dim {
                    *direction = direction.opposite();
                }
            }
            for dead in std::iter::once(id).chain(opposite) {
                let link = &mut self.links[dead.index()];
                if !link.alive {
                    return Err(TopologyError::LinkFailedTwice { link: self.link_label(dead) });
                }
                link.alive = false;
            }
        }
        stated.sort_unstable_by_key(|failed| (failed.from, failed.to, failed.dim, failed.both));
        self.spec.failed_links = stated;
        Ok(())
    }

    /// The link that a failure names.
    fn find_failed(&self, failed: &FailedLink) -> Result<LinkId, TopologyError> {
        for rank in [failed.from, failed.to] {
            if rank.0 >= self.rank_count {
                return Err(TopologyError::RankOutOfRange { rank: rank.0, ranks: self.rank_count });
            }
        }
        let joining: Vec<LinkId> = self.links_between(failed.from, failed.to).collect();
        if joining.is_empty() {
            return Err(TopologyError::NotNeighbors {
                from: self.rank_label(failed.from),
                to: self.rank_label(failed.to),
                neighbors: self.neighbor_list(failed.from),
            });
        }
        let fits = |&&id: &&LinkId| match (failed.dim, self.link(id).direction) {
            (None, _) => true,
            (Some(wanted), Some(direction)) => wanted.matches(direction),
            (Some(_), None) => false,
        };
        let fitting: Vec<LinkId> = joining.iter().filter(fits).copied().collect();
        match fitting[..] {
            [id] => Ok(id),
            [] => Err(TopologyError::WrongDimension {
                from: self.rank_label(failed.from),
                to: self.rank_label(failed.to),
                stated: failed.dim.map(|dim| dim.to_string()).unwrap_or_default(),
                actual: self.link(joining[0]).direction.map(|direction| match failed.dim {
                    Some(DimRef::Direction(_)) => direction.to_string(),
                    _ => dim_name(direction.dim),
                }),
            }),
            _ => Err(TopologyError::AmbiguousCable {
                from: self.rank_label(failed.from),
                to: self.rank_label(failed.to),
                choices: fitting.iter().filter_map(|&id| self.link(id).direction).map(|d| d.to_string()).collect(),
            }),
        }
    }

    /// "3 (3,0,0) over x+, ..." for every link from a rank, failed ones included.
    fn neighbor_list(&self, rank: RankId) -> String {
        let name = |id| {
            let link = self.link(id);
            let over = link.direction.map(|direction| format!(" over {direction}")).unwrap_or_default();
            format!("{}{over}", self.rank_label(link.to))
        };
        let names: Vec<String> = self.links_from(rank).map(name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// The name of a rank; `None` where ranks have none, or if the rank is out of range.
    pub fn rank_name(&self, rank: RankId) -> Option<&str> {
        self.spec().names.get(rank.index()).map(String::as_str)
    }

    /// The rank of this name. O(ranks).
    pub fn rank_named(&self, name: &str) -> Option<RankId> {
        self.spec().names.iter().position(|other| other == name).map(|rank| RankId(narrow(rank)))
    }
}

/// What it was built from; its links follow from that.
impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Topology").field(&self.spec).finish()
    }
}

/// Where the links from and into each rank begin; `links` is sorted by `from`.
fn adjacency(rank_count: u32, links: &[Link]) -> (Vec<u32>, Vec<u32>, Vec<LinkId>) {
    let ranks = rank_count as usize;
    let (mut out_start, mut in_start) = (vec![0; ranks + 1], vec![0; ranks + 1]);
    for link in links {
        out_start[link.from.index() + 1] += 1;
        in_start[link.to.index() + 1] += 1;
    }
    for rank in 0..ranks {
        out_start[rank + 1] += out_start[rank];
        in_start[rank + 1] += in_start[rank];
    }
    let mut in_links: Vec<LinkId> = (0..narrow(links.len())).map(LinkId).collect();
    in_links.sort_by_key(|id| links[id.index()].to);
    (out_start, in_start, in_links)
}
