//! Lower bounds against closed forms, against brute force over all cuts, and in words.

use collsynth::bound::{self, Claim, FlowLimit};
use collsynth::certificate::{Evidence, Rational, check_steps, check_volume};
use collsynth::collective::{Collective, Demand, Kind};
use collsynth::problem::Problem;
use collsynth::topology::{FailedLink, RankId, Shape, Topology, TopologySpec, Torus};

use crate::support::plans::{graph, problem, ratio};

type Extents = &'static [u32];
type Cable = (u32, u32);

fn cable(from: u32, to: u32) -> FailedLink {
    FailedLink::cable(RankId(from), RankId(to))
}

fn one_way(from: u32, to: u32) -> FailedLink {
    FailedLink { both: false, ..cable(from, to) }
}

fn torus_without(extents: &[u32], failed_links: &[FailedLink]) -> Topology {
    Topology::new(TopologySpec { failed_links: failed_links.to_vec(), ..TopologySpec::torus(extents) }).unwrap()
}

fn volume(topology: Topology, kind: Kind) -> Rational {
    bound::find(&problem(topology, kind)).unwrap().volume.unwrap().at_least
}

fn steps(topology: Topology, kind: Kind) -> u32 {
    bound::find(&problem(topology, kind)).unwrap().steps.unwrap().at_least
}

#[test]
fn an_intact_torus_is_bounded_by_its_bisection_and_its_diameter() {
    let tori: &[&[u32]] = &[
        &[3],
        &[4],
        &[5],
        &[6],
        &[7],
        &[8],
        &[9],
        &[1, 4],
        &[3, 3],
        &[4, 4],
        &[5, 5],
        &[6, 6],
        &[7, 3],
        &[8, 8],
        &[6, 4],
        &[3, 3, 3],
        &[4, 4, 4],
        &[5, 5, 5],
        &[3, 4, 5],
        &[8, 4, 4],
        &[3, 3, 3, 3],
        &[8, 8, 8],
    ];
    for &extents in tori {
        let ranks: u32 = extents.iter().product();
        let bisection = |&extent: &u32| {
            let (n, k) = (i128::from(ranks), i128::from(extent));
            if k % 2 == 0 { ratio(n * k, 8) } else { ratio(n * (k * k - 1), 8 * k) }
        };
        let topology = Topology::torus(extents).unwrap();
        let expected = extents.iter().map(bisection).max().unwrap();
        assert_eq!(volume(topology.clone(), Kind::AllToAll), expected, "{extents:?}");
        assert_eq!(steps(topology, Kind::AllToAll), extents.iter().map(|k| k / 2).sum::<u32>(), "{extents:?}");
    }
}

#[test]
fn one_dead_cable_on_the_tori_of_the_table() {
    let table: &[(Extents, Cable, (i128, i128))] = &[
        (&[4, 4], (0, 1), (64, 7)),
        (&[5, 5], (0, 1), (150, 9)),
        (&[8, 8], (0, 1), (1024, 15)),
        (&[4, 4, 4], (2, 3), (1024, 31)),
        (&[5, 5, 5], (2, 3), (3750, 49)),
        (&[8, 8, 8], (2, 3), (65536, 127)),
        (&[8, 4, 4], (0, 8), (128, 1)),
        (&[8, 4, 4], (0, 1), (4096, 31)),
    ];
    for &(extents, (from, to), (numerator, denominator)) in table {
        let topology = torus_without(extents, &[cable(from, to)]);
        assert_eq!(volume(topology, Kind::AllToAll), ratio(numerator, denominator), "{extents:?} without {from}-{to}");
    }
    let two_on_a_ring = torus_without(&[4, 4, 4], &[cable(0, 1), cable(2, 3)]);
    assert_eq!(volume(two_on_a_ring, Kind::AllToAll), ratio(1024, 30));
}

/// `a (k-a) (N/k)^2 / (2N/k - F_i - F_j)` over all dimensions and pairs of positions; `F_i` dead cables behind i.
#[test]
fn a_few_dead_cables_are_bounded_by_the_arc_cut_formula() {
    let cases: &[(Extents, &[Cable])] = &[
        (&[5], &[(1, 2)]),
        (&[6], &[(0, 5)]),
        (&[4, 4], &[(0, 1), (6, 10)]),
        (&[5, 5], &[(0, 1), (5, 6), (12, 17)]),
        (&[4, 4, 4], &[(2, 3), (21, 22), (40, 56)]),
        (&[6, 4], &[(0, 1), (8, 14)]),
        (&[3, 4, 5], &[(0, 2), (3, 15)]),
        (&[8, 8], &[(0, 1), (11, 12), (40, 48), (30, 38)]),
    ];
    for &(extents, dead) in cases {
        let topology = torus_without(extents, &dead.iter().map(|&(from, to)| cable(from, to)).collect::<Vec<_>>());
        let torus = topology.as_torus().unwrap();
        let n = i128::from(extents.iter().product::<u32>());
        let mut best = ratio(0, 1);
        for (dim, &extent) in extents.iter().enumerate() {
            let mut dead_behind = vec![0; extent as usize];
            for &(from, to) in dead {
                let (a, b) = (torus.position(RankId(from), dim), torus.position(RankId(to), dim));
                if a != b {
                    dead_behind[if a.abs_diff(b) == 1 { a.min(b) } else { a.max(b) } as usize] += 1;
                }
            }
            let k = i128::from(extent);
            for i in 0..extent as usize {
                for j in i + 1..extent as usize {
                    let a = (j - i) as i128;
                    let links = 2 * n / k - dead_behind[i] - dead_behind[j];
                    best = best.max(ratio(a * (k - a) * (n / k) * (n / k), links));
                }
            }
        }
        assert_eq!(volume(topology, Kind::AllToAll), best, "{extents:?} without {dead:?}");
    }
}

/// Values of the multi-commodity-flow linear program, found by a solver, where no slab and no ball reaches them.
#[test]
fn many_dead_cables_are_bounded_by_sets_and_metrics_of_any_form() {
    let table: &[(Extents, &[Cable], (i128, i128))] = &[
        (&[5, 5], &[(0, 1), (24, 20), (8, 13), (7, 12), (23, 3), (3, 8), (19, 24), (5, 10)], (77, 3)),
        (&[5, 5], &[(9, 5), (2, 3), (5, 6), (23, 3), (8, 9), (16, 21)], (77, 4)),
        (&[6, 4], &[(3, 4), (22, 4), (16, 17), (19, 20), (9, 10)], (28, 1)),
        (&[7, 3], &[(12, 19), (18, 19), (5, 12), (19, 5), (2, 9)], (22, 1)),
        // Beyond every cut.
        (&[3, 3], &[(6, 0), (5, 8), (6, 7), (1, 4), (1, 2)], (46, 9)),
        (&[6, 4], &[(12, 18), (1, 7), (6, 12)], (147, 8)),
        (&[6, 4], &[(5, 11), (20, 2), (16, 22), (23, 5)], (147, 8)),
    ];
    for &(extents, dead, (numerator, denominator)) in table {
        let topology = torus_without(extents, &dead.iter().map(|&(from, to)| cable(from, to)).collect::<Vec<_>>());
        assert_eq!(volume(topology, Kind::AllToAll), ratio(numerator, denominator), "{extents:?} without {dead:?}");
    }
}

#[test]
fn extents_of_one_and_two_meshes_and_capacities() {
    let spec = |torus: Torus| Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
    assert_eq!(volume(spec(Torus::new(&[2])), Kind::AllToAll), ratio(1, 1));
    assert_eq!(volume(spec(Torus { wrap: vec![true], ..Torus::new(&[2]) }), Kind::AllToAll), ratio(1, 2));
    assert_eq!(volume(spec(Torus::new(&[2, 2])), Kind::AllToAll), ratio(2, 1));
    assert_eq!(volume(spec(Torus::new(&[2, 2, 2])), Kind::AllToAll), ratio(4, 1));
    // The line of two through the middle of 2x3x4: 12 * 12 messages over 12 cables; the ring of four is as hard.
    assert_eq!(volume(spec(Torus::new(&[2, 3, 4])), Kind::AllToAll), ratio(12, 1));
    // A mesh is cut by half-lines: 6 * 3 messages over 3 cables.
    assert_eq!(volume(spec(Torus { wrap: vec![false; 2], ..Torus::new(&[3, 3]) }), Kind::AllToAll), ratio(6, 1));
    assert_eq!(steps(spec(Torus { wrap: vec![false; 2], ..Torus::new(&[3, 3]) }), Kind::AllToAll), 4);
    // Capacity 2 along x leaves y the bottleneck; along both it halves the volume.
    assert_eq!(volume(spec(Torus { capacity: vec![2, 1], ..Torus::new(&[4, 4]) }), Kind::AllToAll), ratio(8, 1));
    assert_eq!(volume(spec(Torus { capacity: vec![2, 2], ..Torus::new(&[4, 4]) }), Kind::AllToAll), ratio(4, 1));

    let alone = bound::find(&problem(Topology::torus(&[1]).unwrap(), Kind::AllToAll)).unwrap();
    assert_eq!((alone.steps, alone.volume), (None, None));
}

#[test]
fn single_directions_and_ranks_can_fail() {
    // Ring of four without 0 -> 1: the 2 * 2 messages from 3 and 0 to 1 and 2 all go over 3 -> 2.
    let ring = torus_without(&[4], &[one_way(0, 1)]);
    assert_eq!(volume(ring.clone(), Kind::AllToAll), ratio(4, 1));
    assert_eq!(steps(ring.clone(), Kind::AllToAll), 3);
    assert_eq!(volume(ring.clone(), Kind::AllGather), ratio(3, 1));
    assert_eq!(volume(ring.clone(), Kind::Reduce(RankId(1))), ratio(1, 1));

    // Ring of five without rank 0 is a line of four.
    let line = Topology::new(TopologySpec::torus(&[5]).without_ranks(&[0])).unwrap();
    assert_eq!(volume(line.clone(), Kind::AllToAll), ratio(4, 1));
    assert_eq!(volume(line.clone(), Kind::AllGather), ratio(3, 1));
    assert_eq!(volume(line.clone(), Kind::AllReduce), ratio(1, 1));
    let bound = bound::find(&problem(line, Kind::AllToAll)).unwrap().steps.unwrap();
    assert_eq!((bound.at_least, bound.from, bound.to), (3, RankId(1), RankId(4)));
}

#[test]
fn the_other_collectives_on_a_torus_with_a_dead_cable() {
    let whole = || Topology::torus(&[4, 4, 4]).unwrap();
    let broken = || torus_without(&[4, 4, 4], &[cable(2, 3)]);
    let root = RankId(2);
    for kind in [Kind::AllGather, Kind::ReduceScatter, Kind::AllReduceGathered, Kind::Scatter(root), Kind::Gather(root)]
    {
        assert_eq!(volume(whole(), kind.clone()), ratio(63, 6), "{kind:?}");
        assert_eq!(volume(broken(), kind.clone()), ratio(63, 5), "{kind:?}");
    }
    for kind in [Kind::Broadcast(root), Kind::Reduce(root)] {
        assert_eq!(volume(whole(), kind.clone()), ratio(1, 6), "{kind:?}");
        assert_eq!(volume(broken(), kind.clone()), ratio(1, 5), "{kind:?}");
    }
    assert_eq!(volume(whole(), Kind::AllReduce), ratio(21, 64));
    assert_eq!(volume(broken(), Kind::AllReduce), ratio(63, 191));

    let barrier = bound::find(&problem(broken(), Kind::Barrier)).unwrap();
    assert_eq!((barrier.steps.map(|bound| bound.at_least), barrier.volume), (Some(6), None));
}

#[test]
fn a_rank_with_few_links_is_the_bottleneck() {
    let failed = [cable(0, 1), cable(0, 3), cable(0, 4)];
    assert_eq!(volume(torus_without(&[4, 4], &failed), Kind::AllToAll), ratio(15, 1));
    assert_eq!(volume(torus_without(&[4, 4], &failed), Kind::AllReduce), ratio(1, 1));
}

#[test]
fn a_demand_matrix_counts_chunks_and_its_parts_make_a_message() {
    let mut counts = vec![0; 16];
    (counts[2], counts[3], counts[4]) = (6, 2, 5);
    let kind = Kind::AllToAllV(Demand::new(4, &counts).unwrap());
    let topology = Topology::torus(&[4]).unwrap();
    // The 8 chunks of rank 0 over its two links and the 5 of rank 1 in either direction, all three in balance.
    assert_eq!(volume(topology.clone(), kind.clone()), ratio(13, 3));
    let halves = Problem::new(topology, Collective { kind, parts: 2 }).unwrap();
    let bounds = bound::find(&halves).unwrap();
    assert_eq!(bounds.volume.unwrap().at_least, ratio(13, 6));
    assert_eq!(bounds.steps.unwrap().at_least, 2);
}

/// The least total width there is a certificate for, metrics over time included.
fn least_width(topology: &Topology, kind: Kind, parts: u32) -> u32 {
    let problem = problem(topology.clone(), kind).with_parts(parts).unwrap();
    let mut bounds = bound::find(&problem).unwrap();
    let limit = FlowLimit::of_size(0);
    if let Some(Claim::Volume(found)) = bound::over_time(&problem, &bounds, &limit).map(|finding| finding.claim) {
        assert!(bounds.volume.is_none_or(|known| known.at_least < found.at_least));
        check_volume(&problem, &found).unwrap();
        bounds.volume = Some(found);
    }
    bounds.least_width(parts)
}

/// The least units for `chunks` chunks over link-disjoint paths of `hops` hops: one delivers `w - hops + 1` in `w`
/// units.
fn quickest(hops: &[u32], chunks: u32) -> u32 {
    (1_u32..).find(|&width| hops.iter().map(|&h| (width + 1).saturating_sub(h)).sum::<u32>() >= chunks).unwrap()
}

/// Both directions of a ring, and the three paths to a neighbor or to the opposite corner of a small torus.
#[test]
fn traffic_between_two_ranks_is_bounded_by_the_quickest_flow() {
    for ranks in 3..10_u32 {
        let ring = torus_without(&[ranks], &[]);
        for away in 1..=ranks / 2 {
            for chunks in [1, 2, 5, 12, 40] {
                let expected = quickest(&[away, ranks - away], chunks);
                let mut counts = vec![0; (ranks * ranks) as usize];
                counts[away as usize] = chunks;
                let pair = Kind::AllToAllV(Demand::new(ranks, &counts).unwrap());
                assert_eq!(least_width(&ring, pair, 1), expected, "{chunks} chunks, {away} of {ranks}");
            }
        }
        // A broadcast, like a reduce, is as slow as its farthest rank.
        for kind in [Kind::Broadcast(RankId(0)), Kind::Reduce(RankId(1))] {
            let (half, parts) = (ranks / 2, 12);
            assert_eq!(least_width(&ring, kind, parts), quickest(&[half, ranks - half], parts), "{ranks}");
        }
    }
    // 4x4, from (0,0) to (2,2): four paths of 4 hops, one over each link of either end.
    let torus = torus_without(&[4, 4], &[]);
    for parts in [1, 4, 12, 100] {
        assert_eq!(
            least_width(&torus, Kind::Broadcast(RankId(0)), parts),
            quickest(&[4, 4, 4, 4], parts).max(parts.div_ceil(4) + 3)
        );
    }
}

/// Every part must come from the farthest rank over the rank's live links: `P / c`, plus the hops less one to fill the
/// pipeline. On a line, sums that meet in the middle and return reach it.
#[test]
fn an_all_reduce_waits_until_its_pipeline_is_filled() {
    for ranks in 2..9_u32 {
        let line = Torus { wrap: vec![false], ..Torus::new(&[ranks]) };
        let line = Topology::new(TopologySpec::new(Shape::Torus(line))).unwrap();
        for parts in [1, 2, 7, 30] {
            assert_eq!(least_width(&line, Kind::AllReduce, parts), parts + ranks - 2, "{parts} parts, {ranks} ranks");
        }
    }
    // Rank 21 of 4x4x4 keeps some of its cables; the rank that is farthest away was 6 hops away, without the last but
    // one 7.
    let cables = [(21, 22), (21, 20), (21, 25), (21, 17), (21, 37)];
    for (dead, hops) in [(3, 6), (4, 6), (5, 7)] {
        let topology = torus_without(&[4, 4, 4], &cables[..dead].iter().map(|&(a, b)| cable(a, b)).collect::<Vec<_>>());
        let kept = 6 - dead as u32;
        assert_eq!(least_width(&topology, Kind::AllReduce, 40), 40_u32.div_ceil(kept) + hops - 1, "{dead} dead cables");
    }
    // Without failures, the partition into single ranks is as good as it gets.
    assert_eq!(least_width(&torus_without(&[4, 4], &[]), Kind::AllReduce, 32), 15);
}

/// Where one link leads to a far part of the machine, a scatter to it waits for its first chunk.
#[test]
fn a_scatter_down_a_tail_waits_for_its_first_chunk() {
    // 0 -> 1 -> 2, and 2 -> 3, 4, 5: four chunks must cross 1 -> 2, from unit 2 on; the last is that of 2.
    let edges = [(0, 1), (1, 2), (2, 3), (2, 4), (2, 5)];
    let links: Vec<(u32, u32, u32)> = edges.iter().flat_map(|&(a, b)| [(a, b, 9), (b, a, 9)]).collect();
    let links: Vec<_> = links.into_iter().map(|(a, b, c)| (a, b, if a + b == 3 { 1 } else { c })).collect();
    let tail = graph(6, &links);
    assert_eq!(least_width(&tail, Kind::Scatter(RankId(0)), 1), 5);
    assert_eq!(least_width(&tail, Kind::Gather(RankId(0)), 1), 5);
    assert_eq!(least_width(&tail, Kind::Scatter(RankId(0)), 10), 1 + 40);
}

#[test]
fn a_network_that_is_not_connected_has_no_bound() {
    let broken = torus_without(&[4], &[cable(0, 1), cable(2, 3)]);
    let error = bound::find(&problem(broken, Kind::AllToAll)).unwrap_err();
    assert_eq!((error.from, error.to), (RankId(0), RankId(1)));
    assert_eq!(error.components, [[RankId(0), RankId(3)], [RankId(1), RankId(2)]]);
    // A rank that needs nothing need not be reached.
    let one_way_street = graph(2, &[(0, 1, 1)]);
    assert_eq!(volume(one_way_street.clone(), Kind::Broadcast(RankId(0))), ratio(1, 1));
    assert!(bound::find(&problem(one_way_street, Kind::Broadcast(RankId(1)))).is_err());
}

/// Tries every set of ranks; the search must find no less.
#[test]
fn every_bound_holds_and_no_cut_is_missed_on_small_networks() {
    for (index, topology) in small_networks().into_iter().enumerate() {
        for kind in kinds(&topology) {
            let problem = problem(topology.clone(), kind.clone());
            for finding in bound::findings(&problem).unwrap() {
                match finding.claim {
                    Claim::Steps(bound) => check_steps(&problem, &bound).unwrap(),
                    Claim::Volume(bound) => check_volume(&problem, &bound).unwrap(),
                }
            }
            let found = bound::find(&problem).unwrap().volume.unwrap().at_least;
            let hardest = hardest_cut(&topology, &kind);
            assert!(found >= hardest, "network {index}, {kind:?}: found {found}, but a cut gives {hardest}");
        }
    }
}

#[test]
fn findings_are_sorted_named_and_in_words() {
    let found = bound::findings(&problem(torus_without(&[4, 4, 4], &[cable(2, 3)]), Kind::AllToAll)).unwrap();
    assert!(found.len() <= 12);
    let volumes: Vec<Rational> = found
        .iter()
        .filter_map(|finding| match &finding.claim {
            Claim::Volume(bound) => Some(bound.at_least),
            Claim::Steps(_) => None,
        })
        .collect();
    assert!(volumes.is_sorted_by(|a, b| a >= b));
    let shown: Vec<(&str, &str)> = found.iter().map(|finding| (finding.name, &*finding.words)).take(2).collect();
    assert_eq!(
        shown,
        [
            ("distance", "rank 42 (2,2,2) is 6 hops from rank 0 (0,0,0), whose data it needs"),
            ("arc cut", "the 32 ranks with x in 1..=2 send 1024 messages out over 31 links: 33.03"),
        ]
    );
    let Claim::Volume(bound) = &found[1].claim else { panic!("a bound on the volume") };
    let Evidence::Metric { period: None, weights } = &bound.evidence else { panic!("a metric") };
    assert_eq!(weights.len(), 31);
    assert!(weights.is_sorted() && weights.iter().all(|&(.., weight)| weight == 1));
}

fn small_networks() -> Vec<Topology> {
    let mesh = Topology::new(TopologySpec::new(Shape::Torus(Torus { wrap: vec![false; 2], ..Torus::new(&[3, 3]) })));
    let both = |pairs: &[(u32, u32)]| -> Vec<(u32, u32, u32)> {
        pairs.iter().flat_map(|&(a, b)| [(a, b, 1), (b, a, 1)]).collect()
    };
    let star = both(&[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
    let barbell = both(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]);
    let two_rings = both(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5), (1, 6), (2, 7), (5, 6), (6, 7), (7, 5)]);
    vec![
        Topology::torus(&[5]).unwrap(),
        Topology::torus(&[2, 2, 2]).unwrap(),
        Topology::torus(&[3, 3]).unwrap(),
        torus_without(&[3, 3], &[cable(0, 1), cable(4, 7)]),
        torus_without(&[3, 3], &[cable(0, 1), cable(0, 2), one_way(4, 7)]),
        torus_without(&[2, 4], &[cable(0, 1), one_way(2, 4)]),
        mesh.unwrap(),
        graph(6, &star),
        graph(6, &barbell),
        graph(8, &two_rings),
        graph(5, &[(0, 1, 2), (1, 2, 1), (2, 3, 3), (3, 4, 1), (4, 0, 1), (0, 3, 1), (2, 0, 1)]),
    ]
}

fn kinds(topology: &Topology) -> Vec<Kind> {
    let ranks = topology.rank_count() as u32;
    let counts: Vec<u32> = (0..ranks * ranks).map(|pair| (pair * 7 + pair / ranks * 5) % 4).collect();
    let every = Kind::every(RankId(1), Demand::new(ranks, &counts).unwrap());
    every.into_iter().filter(|kind| *kind != Kind::Barrier).collect()
}

/// The definition, over all sets: the chunks that must leave over the capacity out. (Entering is leaving the
/// complement, which is also tried.)
fn hardest_cut(topology: &Topology, kind: &Kind) -> Rational {
    let ranks = topology.rank_count() as u32;
    let mut hardest = ratio(0, 1);
    for set in 1..(1_u32 << ranks) - 1 {
        let inside = |rank: RankId| set >> rank.0 & 1 == 1;
        let crosses = |from, to| inside(from) && !inside(to);
        let links = topology.live_links().map(|id| topology.link(id));
        let capacity: i128 =
            links.filter(|link| crosses(link.from, link.to)).map(|link| i128::from(link.capacity)).sum();
        let (within, beyond) = (i128::from(set.count_ones()), i128::from(ranks - set.count_ones()));
        let amount = match kind {
            Kind::AllToAll => within * beyond,
            Kind::AllToAllV(demand) => {
                let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (RankId(from), RankId(to))));
                pairs.filter(|&(from, to)| crosses(from, to)).map(|(o, d)| demand.chunks(o, d).len() as i128).sum()
            }
            Kind::AllGather | Kind::AllReduceGathered => within,
            Kind::ReduceScatter => beyond,
            Kind::AllReduce => 1,
            Kind::Broadcast(root) => i128::from(inside(*root)),
            Kind::Reduce(root) => i128::from(!inside(*root)),
            Kind::Scatter(root) => i128::from(inside(*root)) * beyond,
            Kind::Gather(root) => i128::from(!inside(*root)) * within,
            Kind::Barrier => 0,
            Kind::InGroups(_) => unreachable!("for all ranks together"),
        };
        if amount > 0 {
            hardest = hardest.max(ratio(amount, capacity));
        }
    }
    hardest
}
