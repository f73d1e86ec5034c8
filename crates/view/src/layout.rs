//! Where ranks and links are drawn.
//!
//! ```text
//!   one dimension     a circle, or a line if it does not wrap
//!   two, three        a lattice
//!   four              slices: a lattice of lattices in the plane;  more: dimensions d, d+3, ... share an axis
//!   other graphs      forces: links pull, ranks push (Fruchterman and Reingold, 1991), always the same
//! ```
//!
//! The unit is the distance of neighbors. A link of a torus to a rank that is not drawn beside its own (the last
//! position of a dimension to the first, one slice to the next) is drawn as two *stubs*.

use std::f64::consts::TAU;

use collsynth_core::topology::{LinkId, RankId, Topology, Torus};

/// The most pairs of ranks for which forces are computed.
const MOST_FORCES: usize = 40_000_000;

/// The gap between slices.
const GAP: f64 = 1.2;

/// A point; the third coordinate comes towards the reader.
pub type Point = [f64; 3];

/// The places of a machine's ranks and links.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Where each rank is, around the origin.
    pub ranks: Vec<Point>,
    /// Where a stub points from its sender, for each direction of links: `x-`, `x+`, `y-`, ...
    pub stubs: Vec<Point>,
    /// Is everything in one plane?
    pub is_flat: bool,
}

impl Layout {
    /// Lays out a machine. O(N) for a torus, O(N^2) for other graphs.
    pub fn new(topology: &Topology) -> Self {
        let mut layout = match topology.as_torus() {
            Some(torus) => of_torus(torus, topology.rank_count()),
            None => Self { ranks: forced(topology), stubs: Vec::new(), is_flat: true },
        };
        centre(&mut layout.ranks);
        layout
    }

    /// Where the stub of a link points from its sender; `None` if the link is drawn from rank to rank.
    pub fn stub(&self, topology: &Topology, link: LinkId) -> Option<Point> {
        let link = topology.link(link);
        let direction = link.direction?;
        let (from, to) = (self.ranks[link.from.index()], self.ranks[link.to.index()]);
        let stub = *self.stubs.get(2 * usize::from(direction.dim) + usize::from(direction.positive))?;
        // Beside it means one unit away, in the direction of the link.
        let beside = (0..3).all(|axis| (to[axis] - from[axis] - stub[axis]).abs() < 1e-6);
        (!beside && stub != [0.0; 3]).then_some(stub)
    }
}

fn of_torus(torus: &Torus, rank_count: usize) -> Layout {
    let long: Vec<usize> = (0..torus.extents.len()).filter(|&dim| torus.extents[dim] > 1).collect();
    if let [dim] = *long
        && torus.wrap[dim]
        && torus.extents[dim] > 2
    {
        let count = f64::from(torus.extents[dim]);
        let radius = 0.5 / (TAU / 2.0 / count).sin();
        let place = |rank: usize| {
            let turn = TAU * (0.25 - f64::from(torus.position(RankId(rank as u32), dim)) / count);
            [radius * turn.cos(), radius * turn.sin(), 0.0]
        };
        let ranks = (0..rank_count).map(place).collect();
        return Layout { ranks, stubs: vec![[0.0; 3]; 2 * torus.extents.len()], is_flat: true };
    }
    let axes = if long.len() <= 2 || long.len() == 4 { 2 } else { 3 };
    let mut steps = vec![[0.0; 3]; torus.extents.len()];
    let mut stubs = vec![[0.0; 3]; 2 * torus.extents.len()];
    let mut size = [0.0; 3];
    for (index, &dim) in long.iter().enumerate() {
        let (axis, level) = (index % axes, index / axes);
        // The first dimension of an axis is its unit; the next counts slices of it.
        let stride = if level == 0 { 1.0 } else { size[axis] + GAP };
        steps[dim][axis] = stride;
        size[axis] += stride * (f64::from(torus.extents[dim]) - 1.0);
        // The stubs of slices go aslant, beside those of the lattice.
        let mut stub = [0.0; 3];
        stub[axis] = 1.0;
        if level > 0 {
            let slant = 0.5 * level as f64;
            stub[(axis + 1) % axes] = if axis == 0 { slant } else { -slant };
        }
        stubs[2 * dim] = stub.map(|along| -along);
        stubs[2 * dim + 1] = stub;
    }
    let place = |rank: usize| {
        let mut point = [0.0; 3];
        for (dim, step) in steps.iter().enumerate() {
            let position = f64::from(torus.position(RankId(rank as u32), dim));
            for axis in 0..3 {
                point[axis] += position * step[axis];
            }
        }
        point
    };
    Layout { ranks: (0..rank_count).map(place).collect(), stubs, is_flat: axes == 2 }
}

/// Ranks that push each other apart and links that pull, cooled down from a circle.
fn forced(topology: &Topology) -> Vec<Point> {
    let count = topology.rank_count();
    let radius = (count as f64).sqrt() / 1.5;
    let place = |rank: usize| {
        let turn = TAU * rank as f64 / count as f64;
        [radius * turn.cos(), radius * turn.sin(), 0.0]
    };
    let mut places: Vec<Point> = (0..count).map(place).collect();
    let rounds = (MOST_FORCES / (count * count).max(1)).min(300);
    for round in 0..rounds {
        let mut moves = vec![[0.0; 2]; count];
        let mut push = |at: usize, [x, y]: [f64; 2], force: f64| {
            moves[at][0] += x * force;
            moves[at][1] += y * force;
        };
        let apart = |one: usize, other: usize| {
            let way = [places[one][0] - places[other][0], places[one][1] - places[other][1]];
            (way, way[0].hypot(way[1]).max(0.01))
        };
        for one in 0..count {
            for other in 0..one {
                let (way, distance) = apart(one, other);
                push(one, way, 1.0 / (distance * distance));
                push(other, way, -1.0 / (distance * distance));
            }
        }
        for link in topology.links() {
            let (one, other) = (link.from.index(), link.to.index());
            let (way, distance) = apart(one, other);
            push(one, way, -distance / 2.0);
            push(other, way, distance / 2.0);
        }
        let heat = radius * 0.2 * (1.0 - round as f64 / rounds as f64);
        for (place, [x, y]) in places.iter_mut().zip(moves) {
            let length = x.hypot(y).max(1e-9);
            let step = length.min(heat) / length;
            *place = [place[0] + x * step, place[1] + y * step, 0.0];
        }
    }
    places
}

fn centre(places: &mut [Point]) {
    for axis in 0..3 {
        let least = places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
        let most = places.iter().map(|place| place[axis]).fold(f64::NEG_INFINITY, f64::max);
        for place in &mut *places {
            place[axis] -= (least + most) / 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::topology::{GraphLink, Shape, TopologySpec};

    use super::*;

    fn distance(one: Point, other: Point) -> f64 {
        (0..3).map(|axis| (one[axis] - other[axis]).powi(2)).sum::<f64>().sqrt()
    }

    /// No two ranks are drawn at one place; links that are no stubs join neighbors.
    fn check(topology: &Topology) -> Layout {
        let layout = Layout::new(topology);
        for (one, &place) in layout.ranks.iter().enumerate() {
            assert!(layout.ranks[..one].iter().all(|&other| distance(place, other) > 0.3), "{one}");
        }
        layout
    }

    #[test]
    fn every_torus_is_drawn_with_its_neighbors_side_by_side() {
        for extents in [&[1][..], &[2], &[5], &[3, 4], &[4, 1, 4], &[2, 3, 4], &[3, 3, 2, 2], &[2, 3, 2, 2, 3], &[2; 7]]
        {
            let topology = Topology::torus(extents).unwrap();
            let layout = check(&topology);
            for id in topology.live_links() {
                let link = topology.link(id);
                let apart = distance(layout.ranks[link.from.index()], layout.ranks[link.to.index()]);
                assert_eq!(layout.stub(&topology, id).is_none(), (apart - 1.0).abs() < 1e-6, "{extents:?} {link:?}");
            }
        }
        assert!(Layout::new(&Topology::torus(&[3, 3, 3, 3]).unwrap()).is_flat);
        assert!(!Layout::new(&Topology::torus(&[3, 3, 3]).unwrap()).is_flat);
    }

    #[test]
    fn of_two_cables_between_the_same_ranks_one_is_a_stub() {
        let torus = Torus { wrap: vec![true, true], ..Torus::new(&[2, 3]) };
        let topology = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
        let layout = check(&topology);
        let between: Vec<LinkId> = topology.links_between(RankId(0), RankId(1)).collect();
        assert_eq!(between.iter().filter(|&&id| layout.stub(&topology, id).is_some()).count(), 1);
    }

    #[test]
    fn graphs_are_laid_out_apart_and_always_alike() {
        let link = |from, to| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 };
        let links = (0..9).flat_map(|rank| [link(rank, (rank + 1) % 10), link((rank + 4) % 10, rank)]).collect();
        let topology = Topology::new(TopologySpec::new(Shape::Graph { ranks: 10, links })).unwrap();
        assert_eq!(check(&topology), check(&topology));
    }
}
