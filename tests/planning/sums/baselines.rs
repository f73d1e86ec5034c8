//! The baselines of broadcast, reduce, barrier, all-gather and all-reduce against their closed forms, on verified
//! schedules.

use collsynth::collective::Kind;
use collsynth::plan::Goal;
use collsynth::topology::{GraphLink, RankId, Shape, Topology, TopologySpec, Torus};

use crate::support::plans::{self, goal, intact, plan_for, torus};

/// Links of this capacity between all ranks.
fn complete(ranks: u32, capacity: u32) -> Topology {
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (RankId(from), RankId(to))));
    let links = pairs.filter(|(from, to)| from != to).map(|(from, to)| GraphLink { from, to, capacity }).collect();
    Topology::new(TopologySpec::new(Shape::Graph { ranks, links })).unwrap()
}

/// Steps and total width of a schedule that verifies without a warning.
fn figures(planner: &str, topology: &Topology, kind: Kind, parts: u32) -> (u32, u32) {
    plans::figures(&plans::plan(planner, topology, kind, parts).unwrap())
}

#[test]
fn where_all_are_neighbors_a_binary_tree_is_as_deep_as_its_name_says() {
    for ranks in 2_u32..17 {
        let depth = ranks.ilog2();
        for root in [0, ranks / 2, ranks - 1].map(RankId) {
            for parts in [1, 5] {
                let least = if depth == 1 { (1, parts) } else { (parts + depth - 1, parts + depth - 1) };
                let complete = complete(ranks, 1);
                assert_eq!(figures("binary_tree", &complete, Kind::Broadcast(root), parts), least, "{ranks} ranks");
                assert_eq!(figures("binary_tree", &complete, Kind::Reduce(root), parts), least, "{ranks} ranks");
            }
        }
    }
    assert_eq!(figures("binary_tree", &complete(7, 3), Kind::Broadcast(RankId(0)), 12), (5, 5));
}

#[test]
fn on_a_line_a_binary_tree_is_the_line() {
    for ranks in 3..9 {
        let line = intact(Torus { wrap: vec![false], ..Torus::new(&[ranks]) });
        let expected = (10 + ranks - 2, 10 + ranks - 2);
        assert_eq!(figures("binary_tree", &line, Kind::Broadcast(RankId(0)), 10), expected);
        assert_eq!(figures("binary_tree", &line, Kind::Reduce(RankId(0)), 10), expected);
    }
}

#[test]
fn rings_are_walked_once_or_twice() {
    let machines = [
        torus(&[3], &[], &[]),
        torus(&[8], &[], &[]),
        torus(&[2, 2], &[], &[]),
        torus(&[4, 4], &[(0, 1), (1, 2)], &[]),
        torus(&[3, 3], &[], &[4]),
        torus(&[4, 4, 4], &[(2, 3)], &[]),
    ];
    for topology in &machines {
        let once = topology.live_rank_count() as u32 - 1;
        assert_eq!(figures("two_wave", topology, Kind::Barrier, 1), (2 * once, 2 * once));
        for parts in [1, 3] {
            for kind in [Kind::AllGather, Kind::AllReduceGathered] {
                assert_eq!(figures("ring_gather", topology, kind, parts), (once, once * parts));
            }
        }
    }
}

#[test]
fn a_composed_all_reduce_is_two_gathers() {
    let cases = [
        (torus(&[4, 4], &[], &[]), 64, (8, 30)),
        (torus(&[4, 4, 4], &[], &[]), 128, (12, 42)),
        (torus(&[3, 3], &[], &[]), 36, (4, 16)),
        // The rank with five links decides, twice: 2 * 63 / 5 shards.
        (torus(&[4, 4, 4], &[(2, 3)], &[]), 320, (12, 126)),
    ];
    for (topology, parts, expected) in cases {
        assert_eq!(figures("composed", &topology, Kind::AllReduce, parts), expected, "{parts} parts");
    }
}

#[test]
fn shards_of_a_composed_all_reduce_may_differ_by_a_part() {
    for (extents, failed_ranks) in [(&[4, 4][..], &[][..]), (&[3, 3], &[2]), (&[5], &[])] {
        let topology = torus(extents, &[], failed_ranks);
        let ranks = topology.live_rank_count() as u32;
        for parts in [1, 2, ranks - 1, ranks + 1, 2 * ranks + 3] {
            let (_, width) = figures("composed", &topology, Kind::AllReduce, parts);
            let (_, rounded_up) = figures("composed", &topology, Kind::AllReduce, parts.next_multiple_of(ranks));
            assert!(width <= rounded_up, "{extents:?} in {parts} parts: {width} > {rounded_up}");
        }
    }
}

#[test]
fn a_composed_all_reduce_keeps_to_the_steps_asked_for() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    let plan = |steps| plan_for(&topology, &Kind::AllReduce, &Goal { steps: Some(steps), ..goal("composed", 16) });
    for steps in [8, 9, 10] {
        assert_eq!(plans::figures(&plan(steps).unwrap()).0, steps);
    }
    let error = plan(7).unwrap_err();
    assert!(error.to_string().contains("3 steps for the reduce_scatter: it takes 4"), "{error}");
}
