//! The bound of partitions of an all-reduce, against brute force and against partitions tried.

use std::collections::BTreeSet;

use collsynth::bound::{self, Claim};
use collsynth::certificate::{Evidence, Rational, check_volume};
use collsynth::collective::Kind;
use collsynth::topology::{FailedLink, GraphLink, RankId, Shape, Topology, TopologySpec};
use fastrand::Rng;

use crate::support::plans::{problem, ratio};

/// The best volume that a partition proves, its certificate verified.
fn best_partition(topology: &Topology) -> Rational {
    let problem = problem(topology.clone(), Kind::AllReduce);
    let mut best = ratio(0, 1);
    for finding in bound::findings(&problem).unwrap() {
        if let Claim::Volume(bound) = finding.claim {
            check_volume(&problem, &bound).unwrap();
            if matches!(bound.evidence, Evidence::Partition { .. }) {
                best = best.max(bound.at_least);
            }
        }
    }
    best
}

/// A torus or a graph, of up to this many ranks, with random capacities and failures; connected.
pub fn damaged(rng: &mut Rng, ranks: u32) -> Topology {
    loop {
        let tori: &[&[u32]] = &[&[3, 3], &[2, 4], &[2, 2, 2], &[7], &[3, 4], &[4, 4], &[6, 6], &[3, 3, 3], &[4, 4, 4]];
        let tori: Vec<_> = tori.iter().filter(|extents| extents.iter().product::<u32>() <= ranks).collect();
        let mut spec = match rng.usize(..tori.len() + 3) {
            torus if torus < tori.len() => TopologySpec::torus(tori[torus]),
            _ => {
                let (ranks, most) = (rng.u32(2..=ranks), [1, 3, 1000][rng.usize(..3)]);
                let ring = (0..ranks).map(|rank| (rank, (rank + 1) % ranks));
                let chords: Vec<_> = (0..ranks).map(|_| (rng.u32(..ranks), rng.u32(..ranks))).collect();
                let ends: BTreeSet<(u32, u32)> = ring.chain(chords).filter(|(from, to)| from != to).collect();
                let link = |(from, to)| GraphLink { from: RankId(from), to: RankId(to), capacity: rng.u32(1..=most) };
                TopologySpec::new(Shape::Graph { ranks, links: ends.into_iter().map(link).collect() })
            }
        };
        let whole = Topology::new(spec.clone()).unwrap();
        for _ in 0..rng.usize(..=whole.rank_count() / 2) {
            let link = &whole.links()[rng.usize(..whole.links().len())];
            spec.failed_links.push(FailedLink { from: link.from, to: link.to, dim: None, both: rng.bool() });
        }
        spec.failed_ranks.extend((0..rng.u32(..3)).map(|_| RankId(rng.u32(..whole.rank_count() as u32))));
        if let Ok(topology) = Topology::new(spec)
            && topology.live_ranks().count() > 1
            && topology.components().len() == 1
        {
            return topology;
        }
    }
}

/// The definition, over all partitions: rank by rank, each goes into a block before or opens one.
fn hardest_partition(topology: &Topology) -> Rational {
    let live: Vec<RankId> = topology.live_ranks().collect();
    let mut between = vec![vec![0_i128; live.len()]; live.len()];
    for link in topology.live_links().map(|id| topology.link(id)) {
        let [one, other] = [link.from, link.to].map(|rank| live.binary_search(&rank).unwrap());
        between[one][other] += i128::from(link.capacity);
        between[other][one] += i128::from(link.capacity);
    }
    let mut hardest = ratio(0, 1);
    // The blocks of the first ranks, and the capacity between them.
    let mut open = vec![(vec![0_usize], 0_i128)];
    while let Some((block_of, capacity)) = open.pop() {
        let blocks = block_of.iter().max().unwrap() + 1;
        if block_of.len() < live.len() {
            for block in 0..=blocks {
                let joins = block_of.iter().zip(&between[block_of.len()]).filter(|(other, _)| **other != block);
                let capacity = capacity + joins.map(|(_, capacity)| capacity).sum::<i128>();
                open.push(([&block_of[..], &[block]].concat(), capacity));
            }
        } else if blocks > 1 {
            hardest = hardest.max(ratio(2 * (blocks as i128 - 1), capacity));
        }
    }
    hardest
}

/// Tries every partition.
#[test]
fn an_all_reduce_is_bounded_by_the_best_of_all_partitions() {
    let mut rng = Rng::with_seed(7);
    let damaged = (0..120).map(|_| damaged(&mut rng, 9));
    for topology in damaged {
        assert_eq!(best_partition(&topology), hardest_partition(&topology), "{:?}", topology.spec());
    }
}

/// The ranks with the least capacity one by one and the rest, and sets of ranks merged at random.
#[test]
fn no_partition_tried_on_larger_networks_is_better() {
    let mut rng = Rng::with_seed(8);
    let mut gained = 0;
    for _ in 0..120 {
        let topology = damaged(&mut rng, 64);
        let best = best_partition(&topology);
        let live: Vec<RankId> = topology.live_ranks().collect();
        let links: Vec<_> = topology.live_links().map(|id| topology.link(id)).collect();
        let value = |block_of: &[u32]| {
            let blocks: BTreeSet<u32> = live.iter().map(|rank| block_of[rank.index()]).collect();
            let across = links.iter().filter(|link| block_of[link.from.index()] != block_of[link.to.index()]);
            let capacity: i128 = across.map(|link| i128::from(link.capacity)).sum();
            if capacity == 0 { ratio(0, 1) } else { ratio(2 * (blocks.len() as i128 - 1), capacity) }
        };
        let single: Vec<u32> = (0..topology.rank_count() as u32).collect();
        gained += u32::from(best > value(&single));

        let touching = |rank| links.iter().filter(move |link| link.from == rank || link.to == rank);
        let mut weakest = live.clone();
        weakest.sort_by_key(|&rank| touching(rank).map(|link| u64::from(link.capacity)).sum::<u64>());
        let mut block_of = vec![u32::MAX; topology.rank_count()];
        for rank in weakest {
            block_of[rank.index()] = rank.0;
            assert!(best >= value(&block_of), "{:?}", topology.spec());
        }
        for _ in 0..10 {
            let mut block_of = single.clone();
            for _ in 1..live.len() {
                let link = links[rng.usize(..links.len())];
                let [into, gone] = [link.from, link.to].map(|rank| block_of[rank.index()]);
                block_of.iter_mut().filter(|block| **block == gone).for_each(|block| *block = into);
                assert!(best >= value(&block_of), "{:?}", topology.spec());
            }
        }
    }
    assert!(gained > 10, "{gained}");
}
