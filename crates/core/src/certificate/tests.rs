use super::{
    Bounds, CertificateError, Evidence, JointBound, Rational, StepsBound, VolumeBound, Window, check_joint,
    check_steps, check_volume, stepped_value, value,
};
use crate::collective::{Collective, Demand, Kind};
use crate::problem::Problem;
use crate::topology::{Direction, GraphLink, RankId, Shape, Topology, TopologySpec, Torus};

fn ratio(numerator: i128, denominator: i128) -> Rational {
    Rational::new(numerator, denominator)
}

fn torus(extents: &[u32], dead: &[(u32, u32)]) -> Topology {
    Topology::new(TopologySpec::torus(extents).without_cables(dead)).unwrap()
}

fn graph(ranks: u32, links: &[(u32, u32, u32)]) -> Topology {
    let link = |&(from, to, capacity): &_| GraphLink { from: RankId(from), to: RankId(to), capacity };
    Topology::new(TopologySpec::new(Shape::Graph { ranks, links: links.iter().map(link).collect() })).unwrap()
}

fn problem(topology: Topology, kind: Kind) -> Problem {
    Problem::new(topology, Collective::new(kind)).unwrap()
}

/// Weight 1 on every link of the first dimension that crosses between positions `i` and `i + 1`, or `j` and `j + 1`.
fn arc_cut(topology: &Topology, i: u32, j: u32) -> Evidence {
    let shape = topology.as_torus().unwrap();
    let weights = topology.links().iter().filter_map(|link| {
        let Direction { dim, positive } = link.direction.unwrap();
        let low = shape.position(if positive { link.from } else { link.to }, 0);
        (dim == 0 && [i, j].contains(&low)).then_some((link.from, link.to, 1))
    });
    Evidence::metric(weights.collect())
}

fn hop_metric(topology: &Topology) -> Evidence {
    Evidence::metric(topology.links().iter().map(|link| (link.from, link.to, 1)).collect())
}

fn weights(list: &[(u32, u32, u32)]) -> Evidence {
    Evidence::metric(list.iter().map(|&(from, to, weight)| (RankId(from), RankId(to), weight)).collect())
}

fn set(ranks: &[u32]) -> Evidence {
    Evidence::Cut { ranks: ranks.iter().copied().map(RankId).collect() }
}

fn singletons(ranks: u32) -> Evidence {
    Evidence::Partition { blocks: (0..ranks).map(|rank| vec![RankId(rank)]).collect() }
}

#[test]
fn arc_cuts_prove_the_known_volumes() {
    for (extents, dead, expected) in [
        (&[4, 4][..], &[(0, 1)][..], ratio(64, 7)),
        (&[4, 4, 4], &[(0, 1)], ratio(1024, 31)),
        (&[8, 8, 8], &[(0, 1)], ratio(65536, 127)),
        (&[5, 5, 5], &[(0, 1)], ratio(3750, 49)),
        (&[8, 4, 4], &[(0, 1)], ratio(4096, 31)),
        (&[4, 4, 4], &[], ratio(32, 1)),
    ] {
        let topology = torus(extents, dead);
        let evidence = arc_cut(&topology, 0, extents[0] / 2);
        assert_eq!(value(&problem(topology, Kind::AllToAll), &evidence), Ok(expected), "{extents:?}");
    }
}

#[test]
fn parts_and_capacities_scale_as_they_should() {
    let topology = torus(&[4, 4], &[(0, 1)]);
    let evidence = arc_cut(&topology, 0, 2);
    let in_parts = problem(topology, Kind::AllToAll).with_parts(7).unwrap();
    assert_eq!(value(&in_parts, &evidence), Ok(ratio(64, 7)));

    let wide = Torus { capacity: vec![2], ..Torus::new(&[4]) };
    let topology = Topology::new(TopologySpec::new(Shape::Torus(wide))).unwrap();
    assert_eq!(value(&problem(topology.clone(), Kind::AllToAll), &hop_metric(&topology)), Ok(ratio(1, 1)));
    assert_eq!(value(&problem(topology, Kind::AllGather), &set(&[1])), Ok(ratio(3, 4)));
}

#[test]
fn weighted_distances_take_the_cheapest_path() {
    // Clockwise 0 -> 1 costs 5; counterclockwise around a ring of 3 costs 0.
    let ring = problem(torus(&[3], &[]), Kind::AllToAll);
    assert_eq!(value(&ring, &weights(&[(0, 1, 5)])), Ok(ratio(0, 1)));
    // Weights of 5 clockwise and 2 counterclockwise: one hop clockwise (5) costs more than two hops back (4).
    let both = weights(&[(0, 1, 5), (1, 2, 5), (2, 0, 5), (1, 0, 2), (2, 1, 2), (0, 2, 2)]);
    assert_eq!(value(&ring, &both), Ok(ratio(3 * 4 + 3 * 2, 21)));
}

#[test]
fn a_doubled_cable_carries_the_weight_twice() {
    let doubled = Torus { wrap: vec![true], ..Torus::new(&[2]) };
    let topology = Topology::new(TopologySpec::new(Shape::Torus(doubled))).unwrap();
    let all = problem(topology, Kind::AllToAll);
    assert_eq!(value(&all, &weights(&[(0, 1, 1)])), Ok(ratio(1, 2)));
}

#[test]
fn scatter_and_gather_count_the_root_alone() {
    let topology = torus(&[4, 4], &[(5, 6)]);
    let hops: i128 = 8 + 12 + 12; // ring distances 0 1 2 1 in both dimensions
    let links = topology.live_links().count() as i128;
    for kind in [Kind::Scatter(RankId(0)), Kind::Gather(RankId(0))] {
        assert_eq!(value(&problem(topology.clone(), kind), &hop_metric(&topology)), Ok(ratio(hops, links)));
    }
    // Only the links at the root: its 15 messages leave over 4 links, and none of them comes in.
    let leaving = weights(&[(0, 1, 1), (0, 3, 1), (0, 4, 1), (0, 12, 1)]);
    assert_eq!(value(&problem(topology.clone(), Kind::Scatter(RankId(0))), &leaving), Ok(ratio(15, 4)));
    assert_eq!(value(&problem(topology, Kind::Gather(RankId(0))), &leaving), Ok(ratio(0, 4)));
}

#[test]
fn all_to_allv_counts_what_is_demanded() {
    let demand = Demand::new(3, &[9, 2, 0, 0, 9, 3, 0, 0, 9]).unwrap();
    let collective = Collective { kind: Kind::AllToAllV(demand), parts: 5 };
    let ring = Problem::new(torus(&[3], &[]), collective).unwrap();
    assert_eq!(value(&ring, &weights(&[(0, 1, 1), (0, 2, 1)])), Ok(ratio(2, 2 * 5)));
    let topology = ring.topology().clone();
    assert_eq!(value(&ring, &hop_metric(&topology)), Ok(ratio(5, 6 * 5)));
}

#[test]
fn failed_ranks_neither_send_nor_count() {
    let line = torus(&[4], &[]).fail_rank(3).unwrap();
    let all = problem(line.clone(), Kind::AllToAll);
    assert_eq!(value(&all, &hop_metric(&line)), Ok(ratio(8, 4)));
    assert_eq!(value(&problem(line.clone(), Kind::AllGather), &set(&[0])), Ok(ratio(2, 1)));
    let refused = value(&problem(line, Kind::AllGather), &set(&[0, 3]));
    assert!(matches!(refused, Err(CertificateError::DeadRank { .. })), "{refused:?}");
}

#[test]
fn cuts_prove_what_must_cross_them() {
    let topology = torus(&[4, 4, 4], &[(2, 3)]);
    let of = |kind, evidence: &Evidence| value(&problem(topology.clone(), kind), evidence);
    for kind in [Kind::AllGather, Kind::AllReduceGathered, Kind::ReduceScatter] {
        assert_eq!(of(kind, &set(&[2])), Ok(ratio(63, 5)));
    }
    assert_eq!(of(Kind::Broadcast(RankId(0)), &set(&[2, 3])), Ok(ratio(1, 10)));
    assert_eq!(of(Kind::Reduce(RankId(0)), &set(&[2])), Ok(ratio(1, 5)));
    assert_eq!(of(Kind::AllReduce, &set(&[2])), Ok(ratio(1, 5)));
    // Nothing needs to cross: the root is inside, the set is empty or everything.
    assert_eq!(of(Kind::Broadcast(RankId(2)), &set(&[2])), Ok(ratio(0, 1)));
    assert_eq!(of(Kind::AllGather, &set(&[])), Ok(ratio(0, 1)));
    assert_eq!(of(Kind::AllReduce, &set(&(0..64).collect::<Vec<_>>())), Ok(ratio(0, 1)));
    assert!(matches!(of(Kind::AllGather, &set(&[2, 2])), Err(CertificateError::RepeatedRank { .. })));
    assert!(matches!(of(Kind::AllGather, &set(&[64])), Err(CertificateError::DeadRank { .. })));
}

#[test]
fn single_links_count_in_their_direction() {
    let topology = graph(2, &[(0, 1, 1), (1, 0, 3)]);
    assert_eq!(value(&problem(topology.clone(), Kind::AllGather), &set(&[1])), Ok(ratio(1, 1)));
    assert_eq!(value(&problem(topology.clone(), Kind::ReduceScatter), &set(&[1])), Ok(ratio(1, 3)));
    assert_eq!(value(&problem(topology.clone(), Kind::AllReduce), &set(&[1])), Ok(ratio(1, 1)));
    assert_eq!(value(&problem(topology, Kind::AllReduce), &singletons(2)), Ok(ratio(1, 2)));
}

#[test]
fn partitions_prove_the_all_reduce_volume() {
    let all_reduce = problem(torus(&[4, 4, 4], &[(2, 3)]), Kind::AllReduce);
    assert_eq!(value(&all_reduce, &singletons(64)), Ok(ratio(63, 191)));

    let ring = problem(torus(&[4], &[]), Kind::AllReduce);
    let blocks = |lists: &[&[u32]]| {
        let blocks = lists.iter().map(|list| list.iter().copied().map(RankId).collect()).collect();
        value(&ring, &Evidence::Partition { blocks })
    };
    assert_eq!(blocks(&[&[0, 1], &[2, 3]]), Ok(ratio(2, 4)));
    assert!(matches!(blocks(&[&[0, 1, 2, 3]]), Err(CertificateError::TooFewBlocks { blocks: 1 })));
    assert!(matches!(blocks(&[&[0, 1, 2, 3], &[]]), Err(CertificateError::TooFewBlocks { blocks: 1 })));
    assert!(matches!(blocks(&[&[0, 1], &[1, 2, 3]]), Err(CertificateError::RepeatedRank { .. })));
    assert!(matches!(blocks(&[&[0, 1], &[2]]), Err(CertificateError::UncoveredRank { .. })));
    assert!(matches!(blocks(&[&[0, 1], &[2, 3, 4]]), Err(CertificateError::DeadRank { .. })));
}

#[test]
fn evidence_of_the_wrong_kind_is_refused_with_the_right_one() {
    let of = |kind, evidence: &Evidence| value(&problem(torus(&[4], &[]), kind), evidence).unwrap_err().to_string();
    let metric = weights(&[(0, 1, 1)]);
    assert_eq!(of(Kind::AllReduce, &metric), "a metric proves nothing for all_reduce: use a partition, or a cut");
    assert_eq!(of(Kind::AllToAll, &set(&[0])), "a cut proves nothing for all_to_all: use a metric");
    assert_eq!(
        of(Kind::Reduce(RankId(0)), &singletons(4)),
        "a partition proves nothing for reduce: use a metric, or a cut"
    );
    assert_eq!(
        of(Kind::Barrier, &set(&[0])),
        "a cut proves nothing for barrier: use a bound on its steps; its volume has no certificate"
    );
}

#[test]
fn weights_must_name_links_once() {
    let topology = torus(&[4], &[(0, 1)]);
    let all = problem(topology, Kind::AllToAll);
    assert!(matches!(value(&all, &weights(&[(0, 2, 1)])), Err(CertificateError::UnknownLink { .. })));
    assert!(matches!(value(&all, &weights(&[(9, 2, 1)])), Err(CertificateError::UnknownLink { .. })));
    assert!(matches!(value(&all, &weights(&[(1, 2, 1), (1, 2, 0)])), Err(CertificateError::RepeatedLink { .. })));
    // A weight on a dead link is allowed and ignored.
    assert_eq!(value(&all, &weights(&[(0, 1, 7)])), Err(CertificateError::NoWeight));
    assert_eq!(value(&all, &weights(&[(0, 1, 7), (1, 2, 1)])), Ok(ratio(3, 1)));
}

#[test]
fn a_broken_machine_has_no_bound() {
    let halves = torus(&[4], &[(0, 1), (2, 3)]);
    let (all, gather) = (problem(halves.clone(), Kind::AllToAll), problem(halves.clone(), Kind::AllGather));
    assert!(matches!(value(&all, &weights(&[(1, 2, 1)])), Err(CertificateError::Unreachable { .. })));
    assert!(matches!(value(&gather, &set(&[1, 2])), Err(CertificateError::NoCapacity { .. })));
    let bound = StepsBound { at_least: 1, from: RankId(0), to: RankId(1) };
    assert!(matches!(check_steps(&all, &bound), Err(CertificateError::Unreachable { .. })));
}

#[test]
fn claims_beyond_the_evidence_are_refused() {
    let topology = torus(&[4, 4], &[(0, 1)]);
    let evidence = arc_cut(&topology, 0, 2);
    let all = problem(topology, Kind::AllToAll);
    let claim = |at_least| check_volume(&all, &VolumeBound { at_least, evidence: evidence.clone() });
    assert_eq!((claim(ratio(64, 7)), claim(ratio(9, 1))), (Ok(()), Ok(())));
    assert_eq!(
        claim(ratio(65, 7)).unwrap_err().to_string(),
        "a volume of 65/7 is claimed, but the evidence proves only 64/7"
    );

    let steps = |at_least, from, to| check_steps(&all, &StepsBound { at_least, from: RankId(from), to: RankId(to) });
    assert_eq!((steps(4, 0, 10), steps(3, 0, 1), steps(2, 0, 10)), (Ok(()), Ok(()), Ok(())));
    assert_eq!(
        steps(4, 0, 1).unwrap_err().to_string(),
        "4 steps are claimed, but the distance from rank 0 (0,0) to rank 1 (1,0) is 3"
    );
    assert!(matches!(steps(0, 3, 3), Err(CertificateError::NoNeed { .. })));
    assert!(matches!(steps(1, 0, 16), Err(CertificateError::NoNeed { .. })));
    let rooted = problem(torus(&[4], &[]), Kind::Scatter(RankId(0)));
    let wrong_way = StepsBound { at_least: 1, from: RankId(1), to: RankId(0) };
    assert!(matches!(check_steps(&rooted, &wrong_way), Err(CertificateError::NoNeed { .. })));
}

/// `[from, to, first, last, weight]`.
fn over_time(width: u32, rank: Option<u32>, windows: &[[u32; 5]]) -> Evidence {
    let window = |&[from, to, first, last, weight]: &[u32; 5]| {
        let (from, to) = (RankId(from), RankId(to));
        Window { from, to, first, last, weight }
    };
    Evidence::MetricOverTime { width, rank: rank.map(RankId), weights: windows.iter().map(window).collect() }
}

#[test]
fn the_first_chunk_must_cover_its_whole_path() {
    // From 0 to 2 on a line: the k-th chunk is there after k + 1 units. The last link is useless in the first.
    let line = torus(&[3], &[(0, 2)]);
    let mut counts = [0; 9];
    counts[2] = 4;
    let pair = Kind::AllToAllV(Demand::new(3, &counts).unwrap());
    let of = |kind: &Kind, parts, evidence: &Evidence| {
        value(&problem(line.clone(), kind.clone()).with_parts(parts).unwrap(), evidence)
    };
    assert_eq!(of(&pair, 1, &over_time(4, None, &[[1, 2, 2, 4, 1]])), Ok(ratio(5, 1)));
    assert_eq!(of(&pair, 2, &over_time(4, None, &[[1, 2, 2, 4, 1]])), Ok(ratio(5, 2)));
    // Five units are enough; lengths in the first unit only give room.
    assert_eq!(of(&pair, 1, &over_time(5, None, &[[1, 2, 2, 5, 1]])), Ok(ratio(0, 1)));
    assert_eq!(of(&pair, 1, &over_time(4, None, &[[1, 2, 1, 4, 1]])), Ok(ratio(0, 1)));
    // Overlapping windows add up.
    assert_eq!(
        of(&pair, 1, &over_time(4, None, &[[1, 2, 2, 3, 7], [1, 2, 4, 4, 3], [1, 2, 4, 4, 4]])),
        Ok(ratio(5, 1))
    );
    // Both directions through time: what reaches a rank, and what leaves it.
    let (late, early) = (over_time(4, Some(2), &[[1, 2, 2, 4, 1]]), over_time(4, Some(2), &[[2, 1, 1, 3, 1]]));
    assert_eq!(of(&Kind::Broadcast(RankId(0)), 4, &late), Ok(ratio(5, 4)));
    assert_eq!(of(&Kind::Reduce(RankId(0)), 4, &early), Ok(ratio(5, 4)));
    assert_eq!(of(&Kind::Broadcast(RankId(0)), 3, &late), Ok(ratio(0, 3)));
    // Shards of ranks 0 and 1 come to 2, two of them: the first could be there after one unit.
    assert_eq!(of(&Kind::AllGather, 2, &over_time(3, Some(2), &[[1, 2, 1, 3, 1]])), Ok(ratio(2, 1)));
    assert_eq!(of(&Kind::ReduceScatter, 2, &over_time(3, Some(2), &[[2, 1, 1, 3, 1]])), Ok(ratio(2, 1)));
    // In an all-reduce only the farther of the two matters: they may arrive in one sum.
    assert_eq!(of(&Kind::AllReduce, 4, &late), Ok(ratio(5, 4)));
    assert_eq!(of(&Kind::AllReduce, 3, &late), Ok(ratio(0, 3)));
    assert_eq!(of(&Kind::AllReduce, 3, &over_time(3, Some(2), &[[1, 2, 1, 3, 1]])), Ok(ratio(0, 3)));
    assert_eq!(of(&Kind::AllReduce, 9, &over_time(1, Some(2), &[])), Ok(ratio(2, 9)));
    // No path ends within one unit.
    assert_eq!(of(&Kind::Scatter(RankId(0)), 1, &over_time(1, None, &[])), Ok(ratio(2, 1)));
    assert_eq!(of(&Kind::Gather(RankId(0)), 1, &over_time(1, None, &[])), Ok(ratio(2, 1)));
}

#[test]
fn units_in_which_nothing_changes_are_skipped() {
    let ring = problem(torus(&[8], &[]), Kind::Scatter(RankId(0)));
    let all = u32::MAX - 1;
    let windows: Vec<[u32; 5]> = (0..8).map(|rank| [rank, (rank + 1) % 8, 5, all, 1]).collect();
    assert_eq!(value(&ring, &over_time(all, None, &windows)), Ok(ratio(0, 1)));
}

#[test]
fn metrics_over_time_fit_the_machine_and_the_collective() {
    let of = |kind, evidence: &Evidence| value(&problem(torus(&[4], &[]), kind), evidence).unwrap_err().to_string();
    let broadcast = Kind::Broadcast(RankId(0));
    assert_eq!(of(broadcast.clone(), &over_time(3, None, &[])), "for broadcast, a metric over time names one rank");
    assert_eq!(of(Kind::AllToAll, &over_time(3, Some(1), &[])), "for all_to_all, a metric over time names no rank");
    assert!(of(Kind::Barrier, &over_time(3, Some(1), &[])).starts_with("a metric over time proves nothing"));
    assert_eq!(of(Kind::AllReduce, &over_time(3, None, &[])), "for all_reduce, a metric over time names one rank");
    assert!(of(broadcast.clone(), &over_time(3, Some(4), &[])).contains("out of range or failed"));
    let window = |window| of(broadcast.clone(), &over_time(3, Some(2), &[window]));
    assert!(window([0, 2, 1, 3, 1]).contains("no such link"));
    for units in [[0, 1], [3, 2], [1, 4]] {
        assert!(window([0, 1, units[0], units[1], 1]).contains("they are 1 to 3"), "{units:?}");
    }
    let heavy = over_time(u32::MAX, Some(2), &[[0, 1, 1, u32::MAX, u32::MAX]]);
    assert!(of(broadcast, &heavy).contains("below 2^63"));
    let halves = problem(torus(&[4], &[(0, 1), (2, 3)]), Kind::Broadcast(RankId(0)));
    let cut_off = value(&halves, &over_time(9, Some(1), &[]));
    assert!(matches!(cut_off, Err(CertificateError::Unreachable { .. })), "{cut_off:?}");
}

/// Over 0 -> 1, then 1 -> 2 and 1 -> 3: in two steps, what goes to 2 and 3 crosses the first link in the first step.
#[test]
fn few_steps_cost_volume() {
    let fork = graph(4, &[(0, 1, 1), (1, 2, 1), (1, 3, 1), (2, 0, 1), (3, 0, 1)]);
    let mut counts = [0; 16];
    (counts[2], counts[3]) = (10, 10);
    let demand = Kind::AllToAllV(Demand::new(4, &counts).unwrap());
    let of = |kind: &Kind, steps, windows: &[[u32; 5]]| {
        let Evidence::MetricOverTime { weights, .. } = over_time(steps, None, windows) else { unreachable!() };
        let problem = problem(fork.clone(), kind.clone());
        let proven = stepped_value(&problem, steps, None, &weights);
        let claim =
            |at_least| check_joint(&problem, &JointBound { steps, at_least, rank: None, weights: weights.clone() });
        if let Ok(value) = proven {
            assert_eq!(claim(value), Ok(()));
            assert!(matches!(claim(value + 1), Err(CertificateError::TooMuchVolume { .. })));
        }
        proven
    };
    let fork = [[0, 1, 1, 1, 2], [1, 2, 2, 2, 1], [1, 3, 2, 2, 1]];
    assert_eq!(of(&demand, 2, &fork), Ok(ratio(30, 1)));
    // In three steps nothing need cross the first link in the first of them; in one, there is no path.
    assert_eq!(of(&demand, 3, &fork), Ok(ratio(0, 1)));
    assert!(matches!(of(&demand, 1, &fork[..1]), Err(CertificateError::OutOfReach { steps: 1, .. })));
    assert!(matches!(of(&demand, 1, &fork), Err(CertificateError::WrongWindow { units: 1, .. })));
    assert_eq!(of(&demand, 2, &[]), Err(CertificateError::NoWeight));
    assert_eq!(of(&Kind::AllToAll, 9, &[[0, 1, 1, 9, 1]]), Ok(ratio(7, 1)));
    // From a root, and to it, over two links that have the same length all the time.
    assert_eq!(of(&Kind::Scatter(RankId(0)), 2, &fork), Ok(ratio(6, 2)));
    assert_eq!(of(&Kind::Gather(RankId(0)), 2, &[[2, 0, 1, 2, 1], [3, 0, 1, 2, 1]]), Ok(ratio(3, 2)));
    let refused = of(&Kind::AllReduce, 2, &fork).unwrap_err().to_string();
    assert_eq!(refused, "for all_reduce, a joint bound names one rank");
    assert!(
        of(&Kind::Barrier, 2, &fork).unwrap_err().to_string().starts_with("a joint bound proves nothing for barrier")
    );
}

/// On a ring of four, what ranks 0 and 2 need of each other leaves in the first of two steps and arrives in the second.
#[test]
fn chunks_that_are_copied_or_added_up_count_at_one_rank() {
    let ring = |kind| Problem::new(torus(&[4], &[]), Collective { kind, parts: 6 }).unwrap();
    let windows = |windows: &[[u32; 5]]| {
        let Evidence::MetricOverTime { weights, .. } = over_time(3, None, windows) else { unreachable!() };
        weights
    };
    let to_two = windows(&[[0, 1, 1, 1, 1], [0, 3, 1, 1, 1], [1, 2, 2, 2, 1], [3, 2, 2, 2, 1]]);
    let of = |kind, steps, rank: u32| stepped_value(&ring(kind), steps, Some(RankId(rank)), &to_two);
    assert_eq!(of(Kind::AllReduce, 2, 2), Ok(ratio(1, 1)));
    assert_eq!(of(Kind::Broadcast(RankId(0)), 2, 2), Ok(ratio(1, 1)));
    assert_eq!(of(Kind::Reduce(RankId(2)), 2, 0), Ok(ratio(1, 1)));
    // The shard of rank 0 covers both links of its path; those of ranks 1 and 3 set out before what leads into rank 2 counts.
    assert_eq!(of(Kind::AllGather, 2, 2), Ok(ratio(1, 1)));
    assert_eq!(of(Kind::AllReduce, 3, 2), Ok(ratio(0, 1)));
    // From rank 1, the neighbors of 0 and 2 are reached in one step.
    assert_eq!(of(Kind::Broadcast(RankId(1)), 2, 2), Ok(ratio(0, 1)));
    assert!(matches!(of(Kind::AllReduce, 1, 2), Err(CertificateError::WrongWindow { .. })));
    assert!(matches!(of(Kind::AllReduce, 2, 9), Err(CertificateError::DeadRank { .. })));
    let out_of_reach = stepped_value(&ring(Kind::AllReduce), 1, Some(RankId(2)), &to_two[..1]);
    assert!(matches!(out_of_reach, Err(CertificateError::OutOfReach { steps: 1, .. })), "{out_of_reach:?}");
    let unnamed = stepped_value(&ring(Kind::AllToAll), 2, Some(RankId(2)), &to_two).unwrap_err().to_string();
    assert_eq!(unnamed, "for all_to_all, a joint bound names no rank");
}

/// Fractions near the largest that a file can state, and all small ones.
#[test]
fn volumes_are_rounded_up_to_whole_widths() {
    let width = |volume, parts| {
        let volume = Some(VolumeBound { at_least: volume, evidence: set(&[0]) });
        Bounds { volume, ..Bounds::default() }.least_width(parts)
    };
    for (over, under, parts) in (0..40).flat_map(|over| (1..12).flat_map(move |u| (1..9).map(move |p| (over, u, p)))) {
        let exact = (ratio(over, under) * i128::from(parts)).ceil().to_integer();
        assert_eq!(i128::from(width(ratio(over, under), parts)), exact, "{over}/{under}, {parts} parts");
    }
    let most = i128::MAX;
    assert_eq!([1, 2, 3, u32::MAX - 1].map(|parts| width(ratio(most, most - 1), parts)), [2, 3, 4, u32::MAX]);
    assert_eq!([1, 2, 3, u32::MAX].map(|parts| width(ratio(most - 1, most), parts)), [1, 2, 3, u32::MAX]);
    assert_eq!(
        (width(ratio(1, most), u32::MAX), width(ratio(most, 1), 1), width(ratio(most, 3), 7)),
        (1, u32::MAX, u32::MAX)
    );
}

#[test]
fn joint_bounds_cover_their_number_of_steps_and_fewer() {
    let joint = |steps, volume| JointBound { steps, at_least: ratio(volume, 2), rank: None, weights: Vec::new() };
    let bounds = Bounds { joint: vec![joint(4, 7), joint(6, 5)], ..Bounds::default() };
    let widths = |parts| [3, 4, 5, 6, 7].map(|steps| bounds.least_width_in(steps, parts));
    assert_eq!((widths(1), widths(4)), ([4, 4, 3, 3, 0], [14, 14, 10, 10, 0]));
}

#[test]
fn steps_alone_bound_the_width_too() {
    let steps = Some(StepsBound { at_least: 5, from: RankId(0), to: RankId(1) });
    let bounds = Bounds { steps, ..Bounds::default() };
    assert_eq!((bounds.least_steps(), bounds.least_width(1), bounds.least_width(9)), (5, 5, 5));
    assert_eq!(Bounds::default().least_steps(), 0);
}

/// A step of width 1 carries two chunks over a link of capacity 2.
#[test]
fn wide_links_have_more_room_in_a_step() {
    let pair = problem(graph(2, &[(0, 1, 2), (1, 0, 2)]), Kind::AllToAll);
    let window = Window { from: RankId(0), to: RankId(1), first: 1, last: 1, weight: 1 };
    assert_eq!(stepped_value(&pair, 1, None, &[window]), Ok(ratio(1, 2)));
}
