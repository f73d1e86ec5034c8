//! Roots of several ranks, which swap sums.
//!
//! Between collecting a chunk and spreading it, a root and its neighbors can be one: each collects the sums near it,
//! they swap what they have with one partner after another, and each spreads the total. On rings of even length every
//! swap takes a step for the two that collecting and spreading would:
//!
//! ```text
//!   one root        0 --> 1 --> 2 --> 3      2 steps each way for a ring of four
//!   two             0 --> 1 <-> 2 <-- 3      1 step, a swap, 1 step
//!   a ring of four  0 <-> 1     2 <-> 3      2 swaps: 0 with 1, then 1 with 2 and 3 with 0
//! ```
//!
//! A center of two ranks moves no chunk more often than a root does; larger ones do. Members take part as in recursive
//! doubling (Thakur, Rabenseifner and Gropp 2005), between neighbors only; ranks `m` and `m ^ bit` of a center swap.

use collsynth_core::topology::{Direction, LinkId, RankId, Topology};

/// A direction and whether it is the second doubling along its dimension.
type Doubling = (u8, bool);

/// The doublings of a machine, by which centers grow.
pub(super) struct Centers {
    dims: Vec<u8>,
    closed: Vec<u8>,
}

impl Centers {
    /// Without dimensions of even length, centers are single ranks.
    pub fn new(topology: &Topology) -> Self {
        let Some(torus) = topology.as_torus() else { return Self { dims: Vec::new(), closed: Vec::new() } };
        let dims = || 0..torus.extents.len() as u8;
        let extent = |dim: u8| torus.extents[usize::from(dim)];
        Self {
            dims: dims().filter(|&dim| extent(dim).is_multiple_of(2)).collect(),
            closed: dims().filter(|&dim| extent(dim) == 4 && torus.wrap[usize::from(dim)]).collect(),
        }
    }

    /// The most doublings.
    pub fn most(&self) -> usize {
        self.dims.len() + self.closed.len()
    }

    /// The doublings of a chunk in turn, so that all dimensions are used alike: each dimension once, then rings of four
    /// again.
    fn doublings(&self, turn: usize, count: usize) -> Vec<Doubling> {
        let turned = |dims: &[u8]| -> Vec<u8> {
            let turn = turn % dims.len().max(1);
            dims[turn..].iter().chain(&dims[..turn]).copied().collect()
        };
        let first = turned(&self.dims).into_iter().map(|dim| (dim, false));
        first.chain(turned(&self.closed).into_iter().map(|dim| (dim, true))).take(count).collect()
    }

    /// The centers of `2^count` live ranks with this one among them, whose partners have live cables. Which one comes
    /// first depends on the turn.
    pub fn around(&self, topology: &Topology, root: u32, turn: usize, count: usize) -> impl Iterator<Item = Vec<u32>> {
        let (sides, side) = (1_usize << count, turn / self.dims.len().max(1));
        (0..self.dims.len().max(1)).flat_map(move |other| {
            let doublings = self.doublings(turn + root as usize + other, count);
            (0..sides).filter_map(move |number| grow(topology, root, &doublings, (side + number) % sides))
        })
    }
}

/// The center that grows from a root by doublings, each to the side that the bits of `side` say.
fn grow(topology: &Topology, root: u32, doublings: &[Doubling], side: usize) -> Option<Vec<u32>> {
    let mut members = vec![root];
    for (number, &(dim, again)) in doublings.iter().enumerate() {
        let mut new = Vec::with_capacity(members.len());
        for (member, &rank) in members.iter().enumerate() {
            // The second time along a ring, away from the partner of the first.
            let earlier = doublings.iter().position(|&doubling| doubling == (dim, false)).filter(|_| again);
            let positive = match earlier {
                Some(first) => ((side >> first) & 1 == 1) != (member >> first & 1 == 0),
                None => (side >> number) & 1 == 1,
            };
            let out = Direction { dim, positive };
            let link = topology.links_from(RankId(rank)).find(|&id| topology.link(id).direction == Some(out))?;
            new.push(topology.link(link).to.0);
        }
        members.extend(new);
    }
    let all_swap = (0..doublings.len()).all(|stage| {
        (0..members.len()).all(|member| link_between(topology, members[member], members[member ^ 1 << stage]).is_some())
    });
    let distinct = members.iter().collect::<std::collections::HashSet<_>>().len() == members.len();
    (all_swap && distinct).then_some(members)
}

/// The live link from one member of a center to its partner.
pub(super) fn link_between(topology: &Topology, from: u32, to: u32) -> Option<LinkId> {
    topology.links_between(RankId(from), RankId(to)).find(|&id| topology.link(id).alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centers_are_cubes_whose_partners_are_neighbors() {
        let topology = Topology::torus(&[4, 4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let centers = Centers::new(&topology);
        assert_eq!(centers.most(), 6);
        for (root, turn) in (0..64).zip([0, 1, 2, 5, 17].into_iter().cycle()) {
            for count in 0..=6 {
                let Some(members) = centers.around(&topology, root, turn, count).next() else {
                    assert!(count == 6, "all rings are one too many: one is broken");
                    continue;
                };
                assert_eq!(members.len(), 1 << count);
                assert!(members.contains(&root));
                for stage in 0..count {
                    for (member, &rank) in members.iter().enumerate() {
                        let partner = members[member ^ 1 << stage];
                        assert!(partner != rank && link_between(&topology, rank, partner).is_some());
                    }
                }
            }
        }
    }
}
