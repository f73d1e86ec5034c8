//! All-reduce where links differ from their opposites: pairs of trees against the best packing of them.

use collsynth::collective::Kind;
use collsynth::topology::Topology;

use crate::support::plans::{graph, plan, torus};

fn torus_without(extents: &[u32], links: &[(u32, u32)], cables: &[(u32, u32)], ranks: &[u32]) -> Topology {
    links.iter().fold(torus(extents, cables, ranks), |topology, &(from, to)| topology.fail_link(from, to).unwrap())
}

/// What the ends of a schedule cost, in units of width.
const ENDS: f64 = 12.0;

/// Packed trees are as wide as the best packing, and some units wider at their ends.
fn check(topology: &Topology, parts: u32, packing: f64) {
    let plan = plan("packed_trees", topology, Kind::AllReduce, parts).unwrap();
    let (width, least) = (plan.schedule.total_width() as f64, packing * f64::from(parts));
    assert!((least - 1e-6..=least + ENDS).contains(&width), "{width}, packed {least}");
}

/// The packings are the values of a linear program of flows from free roots (Frank 1978), as HiGHS found them.
#[test]
fn pairs_of_trees_come_close_to_their_best_packing() {
    for (topology, packing) in [
        (torus_without(&[4, 4], &[(0, 1), (5, 6)], &[], &[]), 1.0 / 2.0),
        (torus_without(&[4, 4], &[(0, 1), (10, 9)], &[(2, 3)], &[7]), 14.0 / 25.0),
        (torus_without(&[3, 3, 3], &[(24, 21), (17, 16)], &[], &[]), 13.0 / 40.0),
        (torus_without(&[3, 4, 2], &[(0, 1), (12, 13), (5, 8)], &[(3, 4)], &[]), 2.0 / 5.0),
        (torus_without(&[5, 5], &[(17, 12)], &[(0, 1), (17, 18)], &[]), 48.0 / 95.0),
    ] {
        check(&topology, 720, packing);
    }
}

#[test]
fn links_may_lead_one_way_or_be_wider_there() {
    let ring = |ranks: u32, there: u32, back: u32| {
        let links = (0..ranks).flat_map(|rank| {
            let next = (rank + 1) % ranks;
            [(rank, next, there), (next, rank, back)]
        });
        graph(ranks, &links.filter(|&(.., capacity)| capacity > 0).collect::<Vec<_>>())
    };
    let chords = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (2, 4), (3, 1)].map(|(from, to)| (from, to, 1));
    for (topology, packing) in [(ring(4, 1, 0), 3.0 / 2.0), (ring(6, 2, 1), 5.0 / 9.0), (graph(5, &chords), 1.0)] {
        check(&topology, 360, packing);
    }
}

/// In few parts too there is a schedule, and the same one for the same seed.
#[test]
fn few_parts_will_do() {
    let topology = torus_without(&[3, 3], &[(0, 1), (4, 7)], &[], &[]);
    for parts in [1, 2, 3, 5, 8] {
        let found = [0, 1].map(|_| plan("packed_trees", &topology, Kind::AllReduce, parts).unwrap().schedule);
        assert_eq!(found[0], found[1]);
    }
}

/// Among thousands of links, an opposite that is not used costs less than what searches for pairs would leave.
#[test]
fn large_machines_are_planned_by_their_cables() {
    let plan = plan("packed_trees", &torus_without(&[8, 8, 8], &[(0, 1)], &[], &[]), Kind::AllReduce, 768).unwrap();
    assert!(plan.schedule.total_width() <= 257, "{}", plan.schedule.total_width());
}
