//! Broken rings, and routings for their data: routes between all positions of the ring.
//!
//! # The ring itself
//!
//! A ring with one dead cable is a line of `k` ranks. FoldedRing keeps to one direction, up: a chunk bound down the
//! line walks up to its end and then back, the last of the `k` logical edges of the paper's ring.
//!
//! ```text
//!   0 ---> 1 ---> 2 ---> 3        2 to 1, folded:  2 -> 3 -> 2 -> 1
//!     <---   <---   <---          2 to 1, open:    2 -> 1
//! ```
//!
//! With a unit of data between any two ranks, the links at the end of the line carry `k (k-1) / 2` folded and the links
//! in the middle `floor(k/2) ceil(k/2)` open, where the links of an intact ring carry `k^2 / 8` or `(k^2-1) / 8`.
//!
//! # Virtual rings
//!
//! In every other dimension `e`, the broken ring has neighbors on both sides. The virtual edge up from position `i`
//! goes over the neighbor above, the virtual edge down over the neighbor below:
//!
//! ```text
//!   neighbor above    (i,+1) ---> (i+1,+1)
//!                       ^             |
//!   broken ring       (i,0)       (i+1,0)
//!                       |             ^
//!   neighbor below    (i,-1) <--- (i+1,-1)   (reversed for the edge down)
//! ```
//!
//! They share no link if `e` has three positions or more, and HalfRing runs on them. A chunk that continues in the same
//! direction stays on the neighbor instead of touching the broken ring at each position, so the links between the rings
//! carry less than those along the neighbors. If a link on them failed, the sides are exchanged, or one side serves
//! both directions; if that fails too, the dimension has no virtual ring.
//!
//! # References
//!
//! Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO 2025, doi
//! 10.1145/3725843.3756057.

use std::collections::BTreeSet;

use super::scheme::Remains;
use collsynth_bound::link_table::LinkTable;
use collsynth_core::topology::{Direction, LinkId, RankId, Topology, Torus, dim_name};

/// Routes between all positions of a ring.
#[derive(Clone, Debug)]
pub(super) struct Routing {
    extent: u32,
    /// The links of its longest logical edge: 1 on a line, `k - 1` on a folded ring, 3 on a virtual one.
    pub edge: u32,
    /// `routes[from * extent + to]`: one, or two that take half of the data each.
    routes: Vec<Vec<Vec<LinkId>>>,
}

/// A ring with dead cables; a cable with one dead direction counts as dead.
#[derive(Clone, Debug)]
pub(super) struct BrokenRing {
    pub dim: usize,
    /// Its ranks by position.
    pub ranks: Vec<RankId>,
    /// The positions below its dead cables.
    pub dead: Vec<u32>,
    /// The ring itself, if it is in one piece.
    pub own: Option<Routing>,
    /// Its virtual rings, at most one for each other dimension.
    pub virtual_rings: Vec<Routing>,
}

pub(super) struct Rings<'a> {
    pub topology: &'a Topology,
    pub torus: &'a Torus,
    /// The dimensions of more than one position.
    pub dims: &'a [usize],
    pub links: &'a LinkTable,
}

/// A failed link that a routing would need.
struct Missing {
    from: RankId,
    direction: Direction,
}

impl Routing {
    pub fn routes(&self, from: u32, to: u32) -> &[Vec<LinkId>] {
        &self.routes[(from * self.extent + to) as usize]
    }

    /// Builds a routing from the routes of each pair of positions.
    fn build(
        extent: u32,
        edge: u32,
        route: impl Fn(u32, u32) -> Result<Vec<Vec<LinkId>>, Missing>,
    ) -> Result<Self, Missing> {
        let pairs = (0..extent).flat_map(|from| (0..extent).map(move |to| (from, to)));
        let routes = pairs.map(|(from, to)| if from == to { Ok(Vec::new()) } else { route(from, to) });
        Ok(Self { extent, edge, routes: routes.collect::<Result<_, _>>()? })
    }

    fn meets(&self, other: &Self) -> bool {
        let links = |routing: &Self| routing.routes.concat().concat().into_iter().collect::<BTreeSet<LinkId>>();
        !links(self).is_disjoint(&links(other))
    }
}

impl BrokenRing {
    /// The index of a position in the line that one dead cable leaves.
    pub fn place_in_line(&self, position: u32) -> u32 {
        let extent = self.ranks.len() as u32;
        (position + extent - self.dead[0] - 1) % extent
    }

    /// The routings available in acceleration phases.
    pub fn routings(&self) -> impl Iterator<Item = &Routing> {
        self.own.iter().chain(&self.virtual_rings)
    }
}

/// By ring, its acceleration phase: rings of one dimension whose routings share no link work together.
pub(super) fn groups(rings: &[BrokenRing]) -> Vec<usize> {
    let mut groups: Vec<Vec<&BrokenRing>> = Vec::new();
    let mut group_of = Vec::with_capacity(rings.len());
    for ring in rings {
        let apart = |other: &&BrokenRing| {
            other.dim == ring.dim && !other.routings().any(|routing| ring.routings().any(|mine| mine.meets(routing)))
        };
        let number = groups.iter().position(|group| group.iter().all(apart)).unwrap_or(groups.len());
        if number == groups.len() {
            groups.push(Vec::new());
        }
        groups[number].push(ring);
        group_of.push(number);
    }
    group_of
}

impl Rings<'_> {
    /// The rings with dead cables, still without virtual rings. O(links).
    pub fn broken(&self, remains: Remains) -> Vec<BrokenRing> {
        let mut broken = Vec::new();
        for &dim in self.dims {
            let (extent, stride) = (self.torus.extents[dim], self.torus.stride(dim));
            let all = (0..self.topology.rank_count() as u32).map(RankId);
            for first in all.filter(|&rank| self.torus.position(rank, dim) == 0) {
                let ranks: Vec<RankId> = (0..extent).map(|position| RankId(first.0 + position * stride)).collect();
                let cables = if self.has_single_cable(dim) { 1 } else { extent };
                let lives = |position: &u32| {
                    let above = ranks[((position + 1) % extent) as usize];
                    self.links.get(ranks[*position as usize], dim, true).is_some()
                        && self.links.get(above, dim, false).is_some()
                };
                let dead: Vec<u32> = (0..cables).filter(|position| !lives(position)).collect();
                if !dead.is_empty() {
                    let mut ring = BrokenRing { dim, ranks, dead, own: None, virtual_rings: Vec::new() };
                    if ring.dead.len() == 1 && cables > 1 {
                        ring.own = self.line(&ring, remains).ok();
                    }
                    broken.push(ring);
                }
            }
        }
        broken
    }

    /// Adds the virtual rings of a broken ring, at most one for each other dimension; returns why the others are
    /// missing.
    pub fn add_virtual(&self, ring: &mut BrokenRing) -> Vec<String> {
        let mut reasons = Vec::new();
        for &beside in self.dims.iter().filter(|&&dim| dim != ring.dim) {
            let sides = [(true, false), (false, true), (true, true), (false, false)];
            let mut missing = None;
            let built = sides.into_iter().find_map(|(up, down)| {
                let routing = self.virtual_ring(ring, beside, up, down);
                routing.map_err(|link| missing.get_or_insert(link)).ok()
            });
            if let Some(routing) = built {
                ring.virtual_rings.push(routing);
            } else if let Some(Missing { from, direction }) = missing {
                let (from, beside) = (self.topology.rank_label(from), dim_name(beside as u8));
                reasons.push(format!("; its virtual ring in {beside} needs the failed link {direction} of {from}"));
            }
        }
        reasons
    }

    pub fn label(&self, ring: &BrokenRing) -> String {
        format!("the {} ring of rank {}", dim_name(ring.dim as u8), self.topology.rank_label(ring.ranks[0]))
    }

    fn has_single_cable(&self, dim: usize) -> bool {
        self.torus.extents[dim] == 2 && !self.torus.wrap[dim]
    }

    /// The ring itself, with one dead cable.
    fn line(&self, ring: &BrokenRing, remains: Remains) -> Result<Routing, Missing> {
        let extent = ring.ranks.len() as u32;
        let edge = if remains == Remains::Folded { extent - 1 } else { 1 };
        Routing::build(extent, edge, |from, to| {
            let (place, wanted) = (ring.place_in_line(from), ring.place_in_line(to));
            let mut walk = Walk { rings: self, at: ring.ranks[from as usize], route: Vec::new() };
            if place < wanted {
                walk.along(ring.dim, true, wanted - place)?;
            } else {
                let end = if remains == Remains::Folded { extent - 1 } else { place };
                walk.along(ring.dim, true, end - place)?;
                walk.along(ring.dim, false, end - wanted)?;
            }
            Ok(vec![walk.route])
        })
    }

    /// The virtual ring beside a broken ring, given its sides for going up and down.
    fn virtual_ring(
        &self,
        ring: &BrokenRing,
        beside: usize,
        up_side: bool,
        down_side: bool,
    ) -> Result<Routing, Missing> {
        let extent = ring.ranks.len() as u32;
        let route = |from: u32, up: bool, hops: u32| {
            let side = if up { up_side } else { down_side };
            let mut walk = Walk { rings: self, at: ring.ranks[from as usize], route: Vec::new() };
            walk.along(beside, side, 1)?;
            walk.along(ring.dim, up, hops)?;
            walk.along(beside, !side, 1)?;
            Ok(walk.route)
        };
        Routing::build(extent, 3, |from, to| {
            let offset = (to + extent - from) % extent;
            let (up, down) = match self.has_single_cable(ring.dim) {
                true => (from == 0, from != 0),
                false => (2 * offset <= extent, 2 * offset >= extent),
            };
            let routings = [(up, true, offset), (down, false, extent - offset)].into_iter();
            routings.filter(|(taken, ..)| *taken).map(|(_, up, hops)| route(from, up, hops)).collect()
        })
    }
}

struct Walk<'a> {
    rings: &'a Rings<'a>,
    at: RankId,
    route: Vec<LinkId>,
}

impl Walk<'_> {
    /// Continues along a dimension; if it has a single cable, over that.
    fn along(&mut self, dim: usize, up: bool, hops: u32) -> Result<(), Missing> {
        for _ in 0..hops {
            let up = if self.rings.has_single_cable(dim) { self.rings.torus.position(self.at, dim) == 0 } else { up };
            let missing = || Missing { from: self.at, direction: Direction { dim: dim as u8, positive: up } };
            let link = self.rings.links.get(self.at, dim, up).ok_or_else(missing)?;
            self.at = self.rings.topology.link(link).to;
            self.route.push(link);
        }
        Ok(())
    }
}
