//! The machine of a group: its members, and the links that join them.

use collsynth_core::collective::Groups;
use collsynth_core::exact::narrow;
use collsynth_core::topology::{DimRef, FailedLink, GraphLink, RankId, Shape, Topology, TopologySpec, Torus};

/// The members of a group, numbered by their places, and the live links that join them; `None` if two join the same
/// ranks.
pub(super) fn graph_of(machine: &Topology, groups: &Groups, members: &[RankId]) -> Option<Topology> {
    let place = |rank: RankId| groups.place(rank).map(|(_, place)| RankId(place));
    let mut links = Vec::new();
    for &rank in members {
        let within = machine.links_from(rank).map(|id| machine.link(id));
        for link in within.filter(|link| link.alive && groups.join(link.from, link.to)) {
            links.push(GraphLink { from: place(link.from)?, to: place(link.to)?, capacity: link.capacity });
        }
    }
    let spec = TopologySpec::new(Shape::Graph { ranks: narrow(members.len()), links });
    // Two links from a rank to another make no graph.
    Topology::new(TopologySpec { failed_ranks: failed_among(machine, members), ..spec }).ok()
}

/// A block of a torus as a torus of its own, without the links that the block has not; `None` of other ranks. Messages
/// then follow a pattern, and only those that miss a link depart from it.
pub(super) fn block_of(machine: &Topology, members: &[RankId]) -> Option<Topology> {
    let whole = machine.as_torus().filter(|torus| torus.twist.is_empty())?;
    let (&first, dims) = (members.first()?, 0..whole.extents.len());
    let offset = |rank, dim: usize| whole.position(rank, dim).checked_sub(whole.position(first, dim));
    let last = members.last()?;
    let extents: Vec<u32> =
        dims.clone().map(|dim| offset(*last, dim).map(|offset| offset + 1)).collect::<Option<_>>()?;
    let is_whole = |dim: usize| extents[dim] == whole.extents[dim];
    let wraps = |dim: usize| if is_whole(dim) { whole.wrap[dim] } else { extents[dim] > 2 };
    let block =
        Torus { wrap: dims.clone().map(wraps).collect(), capacity: whole.capacity.clone(), ..Torus::new(&extents) };
    let is_member = |(&rank, place): (&RankId, u32)| {
        dims.clone().all(|dim| offset(rank, dim) == Some(block.position(RankId(place), dim)))
    };
    if extents.iter().map(|&extent| u64::from(extent)).product::<u64>() != members.len() as u64
        || !members.iter().zip(0..).all(is_member)
    {
        return None;
    }
    let mut spec = TopologySpec::new(Shape::Torus(block));
    let shape = Topology::new(spec.clone()).ok()?;
    for link in shape.links() {
        let (from, to) = (members[link.from.index()], members[link.to.index()]);
        let is_there = machine.links_between(from, to).map(|id| machine.link(id));
        if !is_there.into_iter().any(|other| other.alive && other.direction == link.direction) {
            let dim = link.direction.map(DimRef::Direction);
            spec.failed_links.push(FailedLink { from: link.from, to: link.to, dim, both: false });
        }
    }
    spec.failed_ranks = failed_among(machine, members);
    Topology::new(spec).ok()
}

/// The places of the members that failed.
fn failed_among(machine: &Topology, members: &[RankId]) -> Vec<RankId> {
    (0..).zip(members).filter(|&(_, &rank)| !machine.is_alive(rank)).map(|(place, _)| RankId(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(ranks: &[u32]) -> Vec<RankId> {
        ranks.iter().copied().map(RankId).collect()
    }

    #[test]
    fn a_block_is_a_torus_without_the_links_that_lead_out_of_it() {
        // A column of 4x3 wraps; half of a row does not; of a row of 4, three ranks make a line.
        let whole = Topology::torus(&[4, 3]).unwrap().fail_cable(0, 4).unwrap().fail_rank(2).unwrap();
        let live = |members: &[u32]| {
            let block = block_of(&whole, &ranks(members)).unwrap();
            let joined = |id| (members[block.link(id).from.index()], members[block.link(id).to.index()]);
            let mut live: Vec<(u32, u32)> = block.live_links().map(joined).collect();
            live.sort_unstable();
            (block.as_torus().unwrap().extents.clone(), live)
        };
        assert_eq!(live(&[0, 4, 8]), (vec![1, 3], vec![(0, 8), (4, 8), (8, 0), (8, 4)]));
        assert_eq!(live(&[4, 5]), (vec![2, 1], vec![(4, 5), (5, 4)]));
        assert_eq!(live(&[4, 5, 6]), (vec![3, 1], vec![(4, 5), (5, 4), (5, 6), (6, 5)]));
        // A failed rank keeps its place.
        assert_eq!(live(&[1, 2, 3]), (vec![3, 1], vec![]));
        let all: Vec<u32> = (0..12).collect();
        assert_eq!(live(&all).1.len(), whole.live_links().count());
    }

    #[test]
    fn other_ranks_make_no_block() {
        let whole = Topology::torus(&[4, 3]).unwrap();
        for members in [&[0, 2][..], &[0, 1, 5, 4], &[0, 1, 4], &[3, 0], &[5, 4]] {
            assert_eq!(block_of(&whole, &ranks(members)), None, "{members:?}");
        }
        let doubled = Topology::new(TopologySpec::new(Shape::Torus(Torus { wrap: vec![true], ..Torus::new(&[2]) })));
        let block = block_of(&doubled.unwrap(), &ranks(&[0, 1])).unwrap();
        assert_eq!(block.live_links().count(), 4);
    }
}
