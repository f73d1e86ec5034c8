//! Maps of the ranks and collectives: which of them carry one collective onto another.

use collsynth_core::collective::{Groups, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// Does a map of the ranks keep a problem?
pub fn keeps_demand(problem: &Problem, image: &dyn Fn(RankId) -> RankId) -> bool {
    let kind = &problem.collective().kind;
    carries(kind, kind, image)
}

/// Does a map of the ranks carry one collective onto another: groups onto groups, roots onto roots, and what ranks owe
/// each other? The order of a group's members does not matter: it only numbers chunks.
pub fn carries(kind: &Kind, onto: &Kind, image: &dyn Fn(RankId) -> RankId) -> bool {
    if kind.name() != onto.name() {
        return false;
    }
    match ((kind.groups(), onto.groups()), (kind.demand(), onto.demand())) {
        ((Some(groups), Some(others)), _) => carries_groups((groups, &kind.roots()), (others, &onto.roots()), image),
        ((None, None), (Some(demand), Some(other))) => {
            let ranks = || (0..demand.ranks()).map(RankId);
            let is_same =
                |origin, dest| demand.chunks(origin, dest).len() == other.chunks(image(origin), image(dest)).len();
            demand.ranks() == other.ranks() && ranks().all(|origin| ranks().all(|dest| is_same(origin, dest)))
        }
        ((None, None), _) => kind.root().map(image) == onto.root(),
        _ => false,
    }
}

/// Does a map carry groups onto groups, and roots onto roots?
fn carries_groups(
    (groups, roots): (&Groups, &[RankId]),
    (others, onto): (&Groups, &[RankId]),
    image: &dyn Fn(RankId) -> RankId,
) -> bool {
    let carries = |members: &Vec<RankId>| {
        let to = others.place(image(members[0])).map(|(group, _)| group);
        let same = |&rank: &RankId| others.place(image(rank)).map(|(group, _)| group) == to;
        to.is_some_and(|to| others.members()[to as usize].len() == members.len()) && members.iter().all(same)
    };
    groups.may_relay() == others.may_relay()
        && groups.members().len() == others.members().len()
        && groups.members().iter().all(carries)
        && roots.len() == onto.len()
        && roots.iter().all(|&root| onto.contains(&image(root)))
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::Demand;

    use super::*;

    fn groups(members: &[&[u32]]) -> Groups {
        Groups::new(members.iter().map(|ranks| ranks.iter().map(|&rank| RankId(rank)).collect()).collect()).unwrap()
    }

    #[test]
    fn roots_groups_and_demands_are_carried_onto_those_of_another() {
        // One further around a ring of 4.
        let turn = |rank: RankId| RankId((rank.0 + 1) % 4);
        let same = |rank| rank;
        let [zero, one] = [0, 1].map(|root| Kind::Broadcast(RankId(root)));
        assert!(carries(&zero, &one, &turn) && !carries(&zero, &one, &same) && !carries(&zero, &zero, &turn));
        assert!(carries(&Kind::AllGather, &Kind::AllGather, &turn) && !carries(&zero, &Kind::AllGather, &same));

        let [even, odd] = [groups(&[&[0, 1], &[2, 3]]), groups(&[&[2, 1], &[0, 3]])];
        let within = |groups: &Groups| Kind::AllGather.in_groups(groups.clone());
        assert!(carries(&within(&even), &within(&odd), &turn) && !carries(&within(&even), &within(&even), &turn));
        assert!(!carries(&within(&even), &within(&odd.clone().with_relays(false)), &turn));
        assert!(!carries(&within(&even), &Kind::AllGather, &same));
        // A group that is left out is nobody's image; roots are members at a place: 0 and 2, then 1 and 3 (or 2 and 0).
        assert!(!carries(&within(&groups(&[&[0, 1]])), &within(&even), &same));
        let from = |groups: &Groups, place| Kind::Broadcast(RankId(place)).in_groups(groups.clone());
        assert!(carries(&from(&even, 0), &from(&groups(&[&[1, 2], &[3, 0]]), 0), &turn));
        assert!(!carries(&from(&even, 0), &from(&odd, 0), &turn));

        let demand = |counts: &[u32]| Kind::AllToAllV(Demand::new(4, counts).unwrap());
        let first = demand(&[0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let turned = demand(&[0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        assert!(carries(&first, &turned, &turn) && !carries(&first, &first, &turn));
    }
}
