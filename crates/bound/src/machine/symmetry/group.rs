//! All symmetries of a machine, one by one.
//!
//! A torus is a product of its dimensions, and a ring of 4 is itself a product of two cables (its positions 0, 1, 2, 3
//! are 00, 10, 11, 01). The symmetries of a product are those of its factors that no product divides further, and swaps
//! of equal factors (Sabidussi 1960, Vizing 1963). So rings of 4 are taken apart first: 4x4 is a hypercube of four
//! dimensions, with 384 symmetries instead of 128.

use super::{Automorphism, Map, for_each_map, identity, image, orders};
use collsynth_core::topology::{LinkId, RankId, Topology, Torus};

/// The positions of a ring of 4 as two bits, and back.
const GRAY: [u32; 4] = [0, 1, 3, 2];

/// All symmetries of a torus that `keeps` accepts; of an explicit graph, the identity alone. The first is the identity.
pub struct Group<'a> {
    topology: &'a Topology,
    product: Option<Product>,
    maps: Vec<Map>,
}

/// A torus with its rings of 4 taken apart.
struct Product {
    torus: Torus,
    /// The first factor of each dimension.
    factors: Vec<usize>,
    /// The number of each rank among the factors, and back.
    number: Vec<RankId>,
    rank: Vec<RankId>,
}

impl<'a> Group<'a> {
    /// Lists the symmetries that carry failures onto failures and that `keeps` accepts, given the image of each rank;
    /// these must form a group.
    ///
    /// Examines at most `N * 2^D * D!` maps, rings of 4 counting as two dimensions. Where there are too many, fewer are
    /// taken, which still form a group: rings of 4 in one piece, then no swaps of dimensions, then the identity alone.
    pub fn new(topology: &'a Topology, keeps: impl Fn(&dyn Fn(RankId) -> RankId) -> bool) -> Self {
        Self::of(topology, true, keeps)
    }

    /// The same, of the symmetries that carry translations onto translations: rings of 4 stay in one piece. Those that
    /// `keeps` accepts need not form a group.
    pub fn affine(topology: &'a Topology, keeps: impl Fn(&dyn Fn(RankId) -> RankId) -> bool) -> Self {
        Self::of(topology, false, keeps)
    }

    fn of(topology: &'a Topology, takes_apart: bool, keeps: impl Fn(&dyn Fn(RankId) -> RankId) -> bool) -> Self {
        let mut group = Self { topology, product: None, maps: vec![Map::new()] };
        let Some(torus) = topology.as_torus() else { return group };
        let apart = |ring: bool| {
            let product = Product::new(torus, topology.rank_count(), ring);
            let orders = orders(&product.torus)?;
            // Too many maps leave one order of several.
            (!ring || orders.len() > 1 || product.torus.extents.len() == torus.extents.len())
                .then_some((product, orders))
        };
        let all = takes_apart.then(|| apart(true)).flatten();
        let Some((product, orders)) = all.or_else(|| apart(false)) else { return group };
        let dead_links = (0..topology.links().len() as u32).map(LinkId).filter(|&id| !topology.link(id).alive);
        let dead_links: Vec<LinkId> = dead_links.collect();
        let ranks = (0..topology.rank_count() as u32).map(RankId);
        let dead_ranks: Vec<RankId> = ranks.filter(|&rank| !topology.is_alive(rank)).collect();
        let mut maps = vec![identity(&product.torus)];
        for order in &orders {
            for_each_map(&product.torus, order, &mut |map| {
                let rank = |rank| product.image(map, rank);
                // Maps are bijective, so it is enough that failures map to failures.
                let good = dead_ranks.iter().all(|&dead| !topology.is_alive(rank(dead)))
                    && dead_links.iter().all(|&dead| !topology.link(product.link(topology, map, dead)).alive)
                    && keeps(&rank);
                if good && maps[0] != *map {
                    maps.push(map.clone());
                }
            });
        }
        (group.product, group.maps) = (Some(product), maps);
        group
    }

    /// The machine.
    pub fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// The number of symmetries.
    pub fn order(&self) -> usize {
        self.maps.len()
    }

    /// The image of a rank under a symmetry, counted from 0.
    ///
    /// # Panics
    ///
    /// If there is no such symmetry; likewise below.
    pub fn rank(&self, symmetry: usize, rank: RankId) -> RankId {
        self.product.as_ref().map_or(rank, |product| product.image(&self.maps[symmetry], rank))
    }

    /// The image of a link.
    pub fn link(&self, symmetry: usize, link: LinkId) -> LinkId {
        self.product.as_ref().map_or(link, |product| product.link(self.topology, &self.maps[symmetry], link))
    }

    /// The inverse of a symmetry. O(ranks + links).
    pub fn inverse(&self, symmetry: usize) -> Automorphism {
        let mut ranks: Vec<RankId> = (0..self.topology.rank_count() as u32).map(RankId).collect();
        let mut links: Vec<LinkId> = (0..self.topology.links().len() as u32).map(LinkId).collect();
        for rank in ranks.clone() {
            ranks[self.rank(symmetry, rank).index()] = rank;
        }
        for link in links.clone() {
            links[self.link(symmetry, link).index()] = link;
        }
        Automorphism { ranks, links }
    }
}

impl Product {
    fn new(torus: &Torus, ranks: usize, takes_apart: bool) -> Self {
        let is_taken = |dim: usize| takes_apart && !torus.is_twisted() && torus.extents[dim] == 4 && torus.wrap[dim];
        let (mut product, mut factors) = (Torus::new(&[]), Vec::new());
        for dim in 0..torus.extents.len() {
            factors.push(product.extents.len());
            let pieces = if is_taken(dim) { vec![(2, false); 2] } else { vec![(torus.extents[dim], torus.wrap[dim])] };
            for (extent, wrap) in pieces {
                product.extents.push(extent);
                product.wrap.push(wrap);
                product.capacity.push(torus.capacity[dim]);
            }
        }
        product.twist = torus.twist.clone();
        // Two bits of a ring stand where its position stood, so only positions change.
        let turned = |rank: u32| {
            let dims = 0..torus.extents.len();
            dims.map(|dim| {
                let position = torus.position(RankId(rank), dim);
                torus.stride(dim) * if is_taken(dim) { GRAY[position as usize] } else { position }
            })
            .sum()
        };
        let number: Vec<RankId> = (0..ranks as u32).map(|rank| RankId(turned(rank))).collect();
        let mut rank = number.clone();
        number.iter().zip(0..).for_each(|(number, of)| rank[number.index()] = RankId(of));
        Self { torus: product, factors, number, rank }
    }

    fn image(&self, map: &Map, rank: RankId) -> RankId {
        self.rank[image(&self.torus, map, self.number[rank.index()]).index()]
    }

    /// A link and its image both exist.
    fn link(&self, topology: &Topology, map: &Map, id: LinkId) -> LinkId {
        let link = topology.link(id);
        let mut images = topology.links_between(self.image(map, link.from), self.image(map, link.to));
        let first = images.next().unwrap_or(id);
        let Some(second) = images.next() else { return first };
        // Of two cables between the same ranks, a reversal swaps the directions.
        let flips = |dim: u8| map[self.factors[usize::from(dim)]].1;
        let wanted = link.direction.map(|direction| direction.positive != flips(direction.dim));
        if topology.link(first).direction.map(|direction| direction.positive) == wanted { first } else { second }
    }
}
