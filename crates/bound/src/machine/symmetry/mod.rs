//! Symmetries of a torus with failures: translations, reflections and swaps of dimensions that keep the failures.
//!
//! ```text
//!   one dead cable on a ring of 6:   o-o-o-o-o-o        of 12 maps (6 translations, each with its reflection),
//!                                    `---- x ---'       the identity and one reflection keep the cable
//! ```
//!
//! A map sends dimension `d` to a dimension of the same extent, wrap and capacity, and position `p` there to `p +
//! shift` or `shift - p`. On a twisted torus, positions are of the torus unrolled, extents may differ, and a map must
//! carry positions of one rank onto positions of one rank. The maps that carry dead links onto dead links and failed
//! ranks onto failed ranks form a group; a few of them generate it.

mod classes;
mod group;
mod kept;
mod loose;

use std::collections::{BTreeSet, HashSet};

use crate::machine::link_table::LinkTable;
use collsynth_core::topology::{Direction, LinkId, RankId, Topology, Torus};

pub use classes::{Canonical, Class, ClassError, Unit, Units, cables, fail, links, ranks, switch};
pub use group::Group;
pub use kept::{carries, keeps_demand};
pub use loose::LooseUnits;

/// The most maps of a torus to examine: beyond, swaps of dimensions are left out; if that is not enough, no symmetry is
/// looked for.
const MOST_MAPS: usize = 1 << 21;

/// A map of a topology onto itself that keeps its links, their capacities and its failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automorphism {
    /// The image of each rank.
    pub ranks: Vec<RankId>,
    /// The image of each link.
    pub links: Vec<LinkId>,
}

/// A group of symmetries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetries {
    /// The size of the group.
    pub count: usize,
    /// Symmetries that generate the group; none for the identity alone.
    pub generators: Vec<Automorphism>,
}

/// The image of one dimension: the dimension it maps to, whether it is reversed, and the image of position 0.
type Part = (usize, bool, u32);
type Map = Vec<Part>;

/// The symmetries of a topology that `keeps` accepts, given the image of each rank; these must form a group (that keeps
/// a root or a demand, say). On an explicit graph: the identity alone.
///
/// Examines at most `N * 2^D * D!` maps, each until it maps a failure to something live.
pub fn symmetries(topology: &Topology, keeps: impl Fn(&dyn Fn(RankId) -> RankId) -> bool) -> Symmetries {
    let none = Symmetries { count: 1, generators: Vec::new() };
    let Some(torus) = topology.as_torus() else { return none };
    let Some(orders) = orders(torus) else { return none };
    let broken = Broken::new(topology, torus);
    let mut generators: Vec<Map> = Vec::new();
    let mut known = HashSet::from([identity(torus)]);
    for order in &orders {
        for_each_map(torus, order, &mut |map| {
            if known.contains(map) || !broken.keeps_failures(map) {
                return;
            }
            if keeps(&|rank| image(torus, map, rank)) {
                generators.push(map.clone());
                known = closure(torus, &generators);
            }
        });
    }
    let generators = generators.iter().map(|map| broken.automorphism(map)).collect();
    Symmetries { count: known.len(), generators }
}

/// The orders of dimensions to examine; `None` if there are too many maps even without swaps.
fn orders(torus: &Torus) -> Option<Vec<Vec<usize>>> {
    let dims = torus.extents.len();
    let straight = torus.extents.iter().try_fold(1_usize, |product, &extent| {
        product.checked_mul(2 * extent as usize).filter(|&product| product <= MOST_MAPS)
    })?;
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for dim in 0..dims {
        let like = |other: &usize| {
            let extent = |dim: usize| if torus.is_twisted() && torus.wrap[dim] { 0 } else { torus.extents[dim] };
            let of = |dim: usize| (extent(dim), torus.wrap[dim], torus.capacity[dim]);
            of(dim) == of(*other)
        };
        orders = orders
            .iter()
            .flat_map(|order| {
                let free = (0..dims).filter(like).filter(|other| !order.contains(other));
                free.map(|other| [&order[..], &[other]].concat())
            })
            .collect();
        if orders.len().saturating_mul(straight) > MOST_MAPS {
            return Some(vec![(0..dims).collect()]);
        }
    }
    Some(orders)
}

fn identity(torus: &Torus) -> Map {
    (0..torus.extents.len()).map(|dim| (dim, false, 0)).collect()
}

/// Visits every combination of reversals and shifts of the dimensions, in the order given.
fn for_each_map(torus: &Torus, order: &[usize], visit: &mut impl FnMut(&Map)) {
    fn extend(torus: &Torus, order: &[usize], map: &mut Map, visit: &mut impl FnMut(&Map)) {
        let dim = map.len();
        let Some(&to) = order.get(dim) else {
            return if keeps_turns(torus, map) {
                visit(map)
            };
        };
        let extent = torus.extents[to];
        let mut with = |flip, shift| {
            map.push((to, flip, shift));
            extend(torus, order, map, visit);
            map.pop();
        };
        if torus.wrap[dim] {
            for shift in 0..extent {
                with(false, shift);
                with(true, shift);
            }
        } else {
            with(false, 0);
            if extent > 1 {
                with(true, extent - 1);
            }
        }
    }
    extend(torus, order, &mut Map::new(), visit);
}

/// First one map, then the other.
fn compose(torus: &Torus, first: &Map, then: &Map) -> Map {
    let part = |&(middle, flip_1, shift_1): &Part| {
        let (to, flip_2, _) = then[middle];
        (to, flip_1 != flip_2, position(torus, then[middle], shift_1))
    };
    if torus.is_twisted() {
        return compose_unrolled(torus, first, then);
    }
    first.iter().map(part).collect()
}

fn compose_unrolled(torus: &Torus, first: &Map, then: &Map) -> Map {
    // Where position 0 ends up.
    let origin = torus.unrolled(image(torus, then, image(torus, first, RankId(0))));
    let part = |&(middle, flip_1, _): &Part| {
        let (to, flip_2, _) = then[middle];
        (to, flip_1 != flip_2, origin[to] as u32)
    };
    first.iter().map(part).collect()
}

/// Does a map carry a turn around each dimension onto positions of one rank?
fn keeps_turns(torus: &Torus, map: &Map) -> bool {
    let turn = |dim: usize| {
        let mut turn = vec![0; map.len()];
        let sign = |positive: bool| if positive { 1 } else { -1 };
        for (along, &(to, flip, _)) in map.iter().enumerate() {
            let shift = i64::from(torus.twist[dim][along]);
            turn[to] = sign(!flip) * if along == dim { i64::from(torus.extents[dim]) } else { -shift };
        }
        turn
    };
    !torus.is_twisted()
        || (0..map.len()).filter(|&dim| torus.wrap[dim]).all(|dim| torus.rank_at(&turn(dim)) == RankId(0))
}

fn closure(torus: &Torus, generators: &[Map]) -> HashSet<Map> {
    let mut known = HashSet::from([identity(torus)]);
    let mut fresh = vec![identity(torus)];
    while let Some(map) = fresh.pop() {
        for generator in generators {
            let next = compose(torus, &map, generator);
            if known.insert(next.clone()) {
                fresh.push(next);
            }
        }
    }
    known
}

fn position(torus: &Torus, (to, flip, shift): Part, position: u32) -> u32 {
    let extent = torus.extents[to];
    (shift + if flip { extent - position } else { position }) % extent
}

fn image(torus: &Torus, map: &Map, rank: RankId) -> RankId {
    if torus.is_twisted() {
        let mut position = vec![0; map.len()];
        for (along, &(to, flip, shift)) in torus.unrolled(rank).into_iter().zip(map) {
            position[to] = i64::from(shift) + if flip { -along } else { along };
        }
        return torus.rank_at(&position);
    }
    let along = |(dim, &part): (usize, &Part)| position(torus, part, torus.position(rank, dim)) * torus.stride(part.0);
    RankId(map.iter().enumerate().map(along).sum())
}

/// A torus and its failures.
struct Broken<'a> {
    topology: &'a Topology,
    torus: &'a Torus,
    links: LinkTable,
    dead_links: Vec<LinkId>,
    dead_ranks: BTreeSet<RankId>,
}

impl<'a> Broken<'a> {
    fn new(topology: &'a Topology, torus: &'a Torus) -> Self {
        let ranks = (0..topology.rank_count() as u32).map(RankId);
        let dead_links = all_links(topology).filter(|&id| !topology.link(id).alive).collect();
        let dead_ranks = ranks.filter(|&rank| !topology.is_alive(rank)).collect();
        Self { topology, torus, links: LinkTable::all(topology), dead_links, dead_ranks }
    }

    fn image(&self, map: &Map, id: LinkId) -> Option<LinkId> {
        let link = self.topology.link(id);
        let Direction { dim, positive } = link.direction?;
        let (to, flip, _) = map[usize::from(dim)];
        self.links.get(image(self.torus, map, link.from), to, positive != flip)
    }

    /// Maps are bijective, so it is enough that failures map to failures.
    fn keeps_failures(&self, map: &Map) -> bool {
        let dead = |&id: &LinkId| self.image(map, id).is_some_and(|image| !self.topology.link(image).alive);
        self.dead_ranks.iter().all(|&rank| self.dead_ranks.contains(&image(self.torus, map, rank)))
            && self.dead_links.iter().all(dead)
    }

    fn automorphism(&self, map: &Map) -> Automorphism {
        let ranks = (0..self.topology.rank_count() as u32).map(|rank| image(self.torus, map, RankId(rank)));
        // A link and its image both exist.
        let links = all_links(self.topology).map(|id| self.image(map, id).unwrap_or(id));
        Automorphism { ranks: ranks.collect(), links: links.collect() }
    }
}

fn all_links(topology: &Topology) -> impl Iterator<Item = LinkId> {
    (0..topology.links().len() as u32).map(LinkId)
}

#[cfg(test)]
mod tests {
    use super::symmetries;
    use collsynth_core::topology::{RankId, Shape, Topology, TopologySpec, Torus};

    type Cables = &'static [(u32, u32)];

    fn without(torus: Torus, cables: &[(u32, u32)]) -> Topology {
        Topology::new(TopologySpec::new(Shape::Torus(torus)).without_cables(cables)).unwrap()
    }

    fn count(topology: &Topology) -> usize {
        let found = symmetries(topology, |_| true);
        for map in &found.generators {
            let mut images = map.ranks.clone();
            images.sort_unstable();
            assert!(images.iter().enumerate().all(|(index, rank)| rank.index() == index));
            for (link, &image) in topology.links().iter().zip(&map.links) {
                let image = topology.link(image);
                assert_eq!((image.from, image.to), (map.ranks[link.from.index()], map.ranks[link.to.index()]));
                assert_eq!((image.capacity, image.alive), (link.capacity, link.alive));
            }
        }
        found.count
    }

    #[test]
    fn intact_tori_have_all_maps_and_damaged_ones_those_that_keep_the_failures() {
        let mesh = |extents: &[u32]| Torus { wrap: vec![false; extents.len()], ..Torus::new(extents) };
        let cases: &[(Torus, Cables, usize)] = &[
            (Torus::new(&[5]), &[], 10),
            (Torus::new(&[6]), &[(2, 3)], 2),
            (Torus::new(&[4, 4]), &[], 16 * 4 * 2),
            (Torus::new(&[4, 4]), &[(0, 1)], 4),
            (Torus::new(&[8, 4]), &[], 32 * 4),
            (Torus::new(&[4, 4, 4]), &[(2, 3)], 16),
            (Torus::new(&[4, 4]), &[(0, 1), (10, 11)], 8),
            (Torus::new(&[4, 4]), &[(0, 1), (6, 10), (3, 7)], 1),
            (mesh(&[3, 3]), &[], 8),
            (mesh(&[2, 3]), &[], 4),
            (Torus { capacity: vec![1, 2], ..Torus::new(&[3, 3]) }, &[], 9 * 4),
            (Torus { wrap: vec![true], ..Torus::new(&[2]) }, &[], 4),
            // The lattice of 4x8 is symmetric in its dimensions, though the extents are not.
            (Torus::twisted(&[4, 8]).unwrap(), &[], 32 * 4 * 2),
            (Torus::twisted(&[4, 8]).unwrap(), &[(0, 1)], 4),
            (Torus::twisted(&[3, 6]).unwrap(), &[], 18 * 4 * 2),
            (Torus::twisted(&[4, 4, 8]).unwrap(), &[], 128 * 8 * 6),
        ];
        for (torus, cables, expected) in cases {
            assert_eq!(count(&without(torus.clone(), cables)), *expected, "{torus:?} without {cables:?}");
        }
    }

    #[test]
    fn maps_that_must_be_kept_out_are() {
        let torus = Topology::torus(&[4, 4]).unwrap();
        assert_eq!(symmetries(&torus, |image| image(RankId(5)) == RankId(5)).count, 8);
    }
}
