//! Metrics for messages that go to several ranks, or come from several: no schedule beats what their trees prove.

use collsynth::bound::{self, Claim, Limit};
use collsynth::certificate::{Evidence, Rational, check_volume, value};
use collsynth::collective::{Collective, Groups, Kind};
use collsynth::problem::Problem;
use collsynth::topology::{Link, LinkId, RankId, Topology};
use fastrand::Rng;

use super::partitions::damaged;
use crate::support::plans::{plan, ratio, steps_and_volume, torus};

fn kinds() -> [Kind; 5] {
    let root = RankId(0);
    [Kind::AllGather, Kind::AllReduceGathered, Kind::Broadcast(root), Kind::Reduce(root), Kind::ReduceScatter]
}

/// Disjoint groups of up to four ranks, some of them failed, but none of their first ones.
fn groups(rng: &mut Rng, topology: &Topology) -> Groups {
    let mut ranks: Vec<RankId> = (0..topology.rank_count() as u32).map(RankId).collect();
    rng.shuffle(&mut ranks);
    let mut groups = Vec::new();
    while !ranks.is_empty() && (groups.is_empty() || rng.u32(..4) > 0) {
        let mut members = ranks.split_off(ranks.len().saturating_sub(rng.usize(1..=4)));
        members.sort_by_key(|&rank| !topology.is_alive(rank));
        if topology.is_alive(members[0]) {
            groups.push(members);
        }
    }
    let all = || vec![vec![topology.live_ranks().next().unwrap()]];
    Groups::new(if groups.is_empty() { all() } else { groups }).unwrap().with_relays(rng.u32(..4) > 0)
}

/// At random, on the border of a set of ranks, or both.
fn weights(rng: &mut Rng, topology: &Topology) -> Evidence {
    let inside: Vec<bool> = (0..topology.rank_count()).map(|_| rng.bool()).collect();
    let (on_border, most) = (rng.u32(..3) > 0, rng.u32(..4));
    let mut weights = Vec::new();
    for link in topology.links() {
        let enters = on_border && !inside[link.from.index()] && inside[link.to.index()];
        let weight = u32::from(enters) + rng.u32(..=most) * u32::from(rng.bool());
        if weights.last().is_none_or(|&(from, to, _)| (from, to) != (link.from, link.to)) {
            weights.push((link.from, link.to, weight));
        }
    }
    Evidence::metric(weights)
}

#[test]
fn no_schedule_beats_what_the_lightest_trees_prove() {
    let mut rng = Rng::with_seed(11);
    let (mut planned, mut proven, mut met) = (0, 0, 0);
    for case in 0..250 {
        let topology = damaged(&mut rng, 16);
        let kind = kinds()[case % 5].clone();
        let kind = match case % 7 {
            0 if topology.rank_count() <= 9 => kind,
            _ => kind.in_groups(groups(&mut rng, &topology)),
        };
        let parts = [1, 2, 3, 8][rng.usize(..4)];
        let Ok(problem) = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts }) else { continue };
        let Ok(plan) = plan(None, &topology, kind, parts) else { continue };
        planned += 1;
        let volume = steps_and_volume(&plan).1;
        for _ in 0..40 {
            let evidence = weights(&mut rng, &topology);
            if let Ok(value) = value(&problem, &evidence) {
                assert!(value <= volume, "{value} > {volume} by {evidence:?} for {problem:?}");
                proven += u32::from(value > Rational::from(0));
                met += u32::from(value == volume && volume > Rational::from(0));
            }
        }
    }
    assert!(planned > 180 && proven > 4000 && met > 20, "{planned} {proven} {met}");
}

/// The tree bound's certificate holds, no schedule beats it, and no cut that is found beats it by much.
#[test]
fn the_tree_bound_is_at_least_what_cuts_prove_and_at_most_what_schedules_take() {
    let mut rng = Rng::with_seed(12);
    let (mut found, mut of_twins, mut above, mut below) = (0, 0, 0, 0);
    for case in 0..160 {
        let topology = damaged(&mut rng, 16);
        let kind = kinds()[case % 5].clone().in_groups(groups(&mut rng, &topology));
        let Ok(problem) = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts: 6 }) else { continue };
        let Some(finding) = bound::tree_bound(&problem, &Limit::NONE) else { continue };
        let (Ok(cuts), Claim::Volume(trees)) = (bound::find(&problem), finding.claim) else { continue };
        let Ok(plan) = plan(None, &topology, kind, 6) else { continue };
        assert_eq!(check_volume(&problem, &trees), Ok(()));
        assert!(trees.at_least <= steps_and_volume(&plan).1, "{problem:?}");
        let cut = cuts.volume.map_or(Rational::from(0), |bound| bound.at_least);
        found += 1;
        above += u32::from(trees.at_least > cut);
        // The program knows only links whose opposites carry as much.
        let same = |link: &Link| link.alive.then_some(link.capacity);
        let twins = topology.links().iter().zip(0..).all(|(link, id)| {
            topology.opposite(LinkId(id)).is_some_and(|back| same(topology.link(back)) == same(link))
        });
        of_twins += u32::from(twins);
        below += u32::from(twins && trees.at_least < cut * ratio(99, 100));
    }
    assert!(found > 60 && of_twins > 20 && above > 2 && below == 0, "{found} {of_twins} {above} {below}");
}

/// What a linear program of fractional trees gives for four broadcasts in blocks of 2x2.
#[test]
fn broadcasts_in_blocks_have_a_bound_above_all_cuts() {
    let blocks = [0, 2, 8, 10].map(|first| [0, 1, 4, 5].map(|rank| RankId(first + rank)).to_vec());
    let kind = Kind::Broadcast(RankId(0)).in_groups(Groups::new(blocks.to_vec()).unwrap());
    let problem = Problem::new(torus(&[4, 4], &[], &[]), Collective::new(kind)).unwrap();
    let cut = bound::find(&problem).unwrap().volume.unwrap();
    assert!(matches!(cut.evidence, Evidence::Cut { .. }) && cut.at_least == ratio(3, 8), "{cut:?}");
    // Out of rank 2, and into the ranks 1, 13 and 14.
    let links = [(0, 1), (2, 1), (2, 3), (2, 6), (2, 14), (5, 1), (9, 13), (10, 14), (12, 13), (15, 14)];
    let weights = links.map(|(from, to)| (RankId(from), RankId(to), 1)).to_vec();
    assert_eq!(value(&problem, &Evidence::metric(weights)), Ok(ratio(2, 5)));
    let found = bound::tree_bound(&problem, &Limit::NONE).expect("a bound").claim;
    assert!(matches!(found, Claim::Volume(bound) if bound.at_least == ratio(2, 5)));
}
