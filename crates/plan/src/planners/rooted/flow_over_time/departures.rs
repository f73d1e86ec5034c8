//! The flow that leaves at one time and waits nowhere.
//!
//! On shortest paths without waits, all that leaves at time `t` crosses the links `k` hops away in step `t + k`, and no
//! other departure does: each departure is a flow of its own through the network in space, where a link is as wide as
//! the step in which it is crossed. So departures are filled one after another, at each the ranks that can wait no
//! longer first, then the next farther ones while links out of the root have room.

use std::cmp::Reverse;

use super::residual::Residual;
use crate::model::network::Network;

/// What leaves at one time.
pub(super) struct Departure {
    /// Links, the steps in which they are crossed, and the number of chunks that do.
    pub crossings: Vec<(usize, usize, u32)>,
    /// Ranks, the times at which chunks reach them, and their number.
    pub arrivals: Vec<(u32, usize, u32)>,
}

/// The departures at each time, of at most `demand[rank]` to every rank, through steps of these widths.
pub(super) fn departures(network: &Network, root: u32, demand: &[u32], widths: &[u32]) -> Vec<Departure> {
    let (steps, sink) = (widths.len(), network.rank_count() as u32);
    let hops = network.distances_from(root);
    let hop = |link: usize| usize::from(hops[network.from[link] as usize]);
    let links: Vec<usize> = (0..network.link_count())
        .filter(|&link| usize::from(hops[network.to[link] as usize]) == hop(link) + 1)
        .collect();
    let mut ranks: Vec<u32> = (0..sink).filter(|&rank| demand[rank as usize] > 0).collect();
    ranks.sort_by_key(|&rank| Reverse(hops[rank as usize]));
    let arcs = links.iter().map(|&link| (network.from[link], network.to[link]));
    let arcs: Vec<(u32, u32)> = arcs.chain(ranks.iter().map(|&rank| (rank, sink))).collect();
    let mut flow = Residual::new(sink as usize + 1, &arcs, arcs.iter().map(|_| 0));
    let mut left: Vec<u32> = ranks.iter().map(|&rank| demand[rank as usize]).collect();
    let leave = |start: usize| {
        let room = |link: usize| match widths.get(start + hop(link)) {
            Some(width) => width.saturating_mul(network.capacity[link]),
            None => 0,
        };
        for (arc, &link) in links.iter().enumerate() {
            (flow.room[2 * arc], flow.room[2 * arc + 1]) = (room(link), 0);
        }
        flow.room[2 * links.len()..].fill(0);
        let mut spare = u64::from(widths[start]) * u64::from(network.capacity_out_of(root));
        let mut from = 0;
        for far in ranks.chunk_by(|&a, &b| hops[a as usize] == hops[b as usize]) {
            let (places, in_time) = (from..from + far.len(), usize::from(hops[far[0] as usize]) <= steps - start);
            from = places.end;
            if spare == 0 || !in_time || left[places.clone()].iter().all(|&left| left == 0) {
                continue;
            }
            for place in places {
                flow.room[2 * (links.len() + place)] = left[place];
            }
            spare -= flow.fill(root, sink);
        }
        let crossings = links.iter().enumerate().map(|(arc, &link)| (link, start + hop(link), flow.room[2 * arc + 1]));
        let crossings = crossings.filter(|&(.., amount)| amount > 0).collect();
        let mut arrivals = Vec::new();
        for (place, &rank) in ranks.iter().enumerate() {
            let amount = flow.room[2 * (links.len() + place) + 1];
            left[place] -= amount;
            if amount > 0 {
                arrivals.push((rank, start + usize::from(hops[rank as usize]), amount));
            }
        }
        Departure { crossings, arrivals }
    };
    (0..steps).map(leave).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::departures;
    use crate::model::network::Network;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{FailedLink, RankId, Topology, TopologySpec};

    fn network(topology: Topology) -> Network {
        Network::new(&Problem::new(topology, Collective::new(Kind::Scatter(RankId(0)))).unwrap())
    }

    #[test]
    fn nothing_is_left_on_an_intact_torus() {
        let network = network(Topology::torus(&[8, 8]).unwrap());
        let demand: Vec<u32> = (0..64).map(|rank| u32::from(rank > 0)).collect();
        // What the root's four links need if every chunk leaves as late as it may.
        let widths = [1, 1, 2, 3, 3, 3, 2, 1];
        let arrivals = departures(&network, 0, &demand, &widths).into_iter().flat_map(|departure| departure.arrivals);
        assert_eq!(arrivals.map(|(.., amount)| amount).sum::<u32>(), 63);
    }

    proptest! {
        #[test]
        fn links_carry_what_they_have_room_for_and_deliver_what_enters(
            extents in prop::collection::vec(2_u32..5, 1..4),
            failed in prop::collection::vec(0_usize..40, 0..4),
            widths in prop::collection::vec(1_u32..4, 1..8),
            most in 1_u32..5,
        ) {
            let intact = Topology::torus(&extents).unwrap();
            let failed: std::collections::BTreeSet<_> = failed
                .into_iter()
                .map(|link| &intact.links()[link % intact.links().len()])
                .map(|link| (link.from.0, link.to.0))
                .collect();
            let link = |(from, to)| FailedLink { both: false, ..FailedLink::cable(RankId(from), RankId(to)) };
            let failed_links = failed.into_iter().map(link);
            let spec = TopologySpec { failed_links: failed_links.collect(), ..TopologySpec::torus(&extents) };
            let network = network(Topology::new(spec).unwrap());
            let ranks = network.rank_count();
            let demand: Vec<u32> = (0..ranks as u32).map(|rank| if rank == 0 { 0 } else { rank % most }).collect();
            let mut carried = vec![0; widths.len() * network.link_count()];
            // What is at a rank at a time, by rank.
            let mut held = vec![vec![0_i64; ranks]; widths.len() + 1];
            let mut delivered = vec![0; ranks];
            for departure in departures(&network, 0, &demand, &widths) {
                for (link, step, amount) in departure.crossings {
                    carried[step * network.link_count() + link] += amount;
                    held[step][network.from[link] as usize] -= i64::from(amount);
                    held[step + 1][network.to[link] as usize] += i64::from(amount);
                }
                for (rank, time, amount) in departure.arrivals {
                    held[time][rank as usize] -= i64::from(amount);
                    delivered[rank as usize] += amount;
                }
            }
            for (place, carried) in carried.into_iter().enumerate() {
                let (step, link) = (place / network.link_count(), place % network.link_count());
                prop_assert!(carried <= widths[step] * network.capacity[link]);
            }
            for (delivered, demand) in delivered.iter().zip(&demand) {
                prop_assert!(delivered <= demand);
            }
            for held in held {
                prop_assert!(held[1..].iter().all(|&held| held == 0));
            }
        }
    }
}
