//! Collectives with a root, on verified schedules: broadcast and reduce, the pipeline through edge-disjoint
//! arborescences, against closed forms, and in few steps against a linear program; scatter and gather against the cut
//! of the root.

use collsynth::bound;
use collsynth::collective::Kind;
use collsynth::cost::Price;
use collsynth::plan::{Goal, Parts, Plan, planner_named};
use collsynth::topology::{GraphLink, RankId, Shape, Topology, TopologySpec, Torus};

use crate::support::plans::{figures, plan, plan_for, problem, torus};

/// One over the volume bound: the parts that can leave the root in a step of width 1, and reach every rank.
fn least_cut(plan: &Plan) -> u32 {
    let bound = bound::find(&plan.problem).unwrap().volume.unwrap().at_least;
    assert!(bound.numer() == &1, "{bound}");
    *bound.denom() as u32
}

fn both(root: u32) -> [Kind; 2] {
    [Kind::Broadcast(RankId(root)), Kind::Reduce(RankId(root))]
}

/// The seventh hop is to a neighbor of the antipode, from the far side of the root.
#[test]
fn from_any_root_of_a_cubic_torus_six_steps_are_lost_and_no_more() {
    for (root, parts) in [(0, 6_u32), (1, 24), (21, 96), (42, 384), (63, 100)] {
        for kind in both(root) {
            let width = parts.div_ceil(6) + 6;
            let plan = plan("arborescences", &torus(&[4, 4, 4], &[], &[]), kind, parts).unwrap();
            assert_eq!(figures(&plan), (width, width), "root {root}, {parts} parts");
        }
    }
}

#[test]
fn a_root_with_a_dead_cable_sends_over_the_other_five() {
    for parts in [10_u32, 96] {
        for kind in both(0) {
            let width = parts.div_ceil(5) + 6;
            let plan = plan("arborescences", &torus(&[4, 4, 4], &[(0, 1)], &[]), kind, parts).unwrap();
            assert_eq!(figures(&plan), (width, width), "{parts} parts");
        }
    }
}

#[test]
fn a_ring_is_used_in_both_directions() {
    for ranks in [3, 4, 5, 8] {
        for kind in both(1) {
            let plan = plan("arborescences", &torus(&[ranks], &[], &[]), kind, 20).unwrap();
            assert_eq!(figures(&plan), (10 + ranks - 2, 10 + ranks - 2));
        }
    }
}

const SMALL: [&[u32]; 8] = [&[3], &[4], &[5], &[8], &[2, 2], &[3, 3], &[4, 4], &[2, 3, 4]];

/// The torus, the same without one, two and three cables, and without a rank, if connected.
fn with_failures(extents: &[u32]) -> Vec<Topology> {
    let whole = torus(extents, &[], &[]);
    let cables: Vec<(u32, u32)> = whole
        .links()
        .iter()
        .filter(|link| link.direction.is_some_and(|direction| direction.positive))
        .map(|link| (link.from.0, link.to.0))
        .collect();
    let dead: Vec<(u32, u32)> = cables.iter().copied().step_by(cables.len().div_ceil(3)).collect();
    let mut topologies: Vec<Topology> = vec![whole];
    topologies.extend((1..=dead.len()).map(|n| torus(extents, &dead[..n], &[])));
    topologies.push(torus(extents, &[], &[1]));
    topologies.retain(|topology| topology.components().len() == 1);
    topologies
}

#[test]
fn every_root_of_small_machines_reaches_the_rate_of_the_least_cut() {
    for extents in SMALL {
        let topologies = with_failures(extents);
        for topology in &topologies {
            for root in topology.live_ranks() {
                for kind in both(root.0) {
                    let parts = 30;
                    let plan = plan("arborescences", topology, kind, parts).unwrap();
                    let (steps, width) = figures(&plan);
                    let lost = width - parts.div_ceil(least_cut(&plan));
                    assert!(steps == width || steps == 1);
                    let most = match extents {
                        [ranks] => ranks - 2,
                        _ => plan.bounds.least_steps() + 1,
                    };
                    assert!(lost <= most, "{:?}: {lost} lost", plan.problem);
                }
            }
        }
    }
}

/// Random directed graphs with random capacities: the verifier's cut certificate against the packing.
#[test]
fn directed_graphs_and_capacities_reach_the_least_cut_too() {
    let mut rng = fastrand::Rng::with_seed(7);
    for case in 0..60 {
        let ranks = rng.u32(3..9);
        let mut links = Vec::new();
        for from in 0..ranks {
            for to in 0..ranks {
                // A directed ring keeps it connected.
                if to == (from + 1) % ranks || (to != from && rng.u32(..3) == 0) {
                    let (from, to, capacity) = (RankId(from), RankId(to), rng.u32(1..5));
                    links.push(GraphLink { from, to, capacity });
                }
            }
        }
        let topology = Topology::new(TopologySpec::new(Shape::Graph { ranks, links })).unwrap();
        for kind in both(rng.u32(..ranks)) {
            let [few, many] = [60, 120].map(|parts| plan("arborescences", &topology, kind.clone(), parts).unwrap());
            let rate = least_cut(&many);
            let (few, many) = (figures(&few).1, figures(&many).1);
            // Twice the parts add no more than at the rate of the least cut.
            assert!(many - few <= 60_u32.div_ceil(rate) + 1, "case {case}: {few}, {many}, rate {rate}");
        }
    }
}

#[test]
fn the_price_of_time_decides_the_widths() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    let shape = |goal: Goal<'_>| {
        let goal = Goal { planner: Some(planner_named("arborescences").unwrap()), parts: Parts::Fixed(120), ..goal };
        figures(&plan_for(&topology, &Kind::Broadcast(RankId(6)), &goal).unwrap())
    };
    let (steps, width) = shape(Goal::default());
    let (fewer, wider) = shape(Goal { max_steps: Some(12), ..Goal::default() });
    assert!(steps == width && fewer <= 12 && wider > width);
    assert_eq!(shape(Goal { steps: Some(9), ..Goal::default() }).0, 9);
    let price = |alpha| Some(Price { alpha, bandwidth: 1.0, message_bytes: 120 });
    let [cheap, costly] = [0.01, 100.0].map(|alpha| shape(Goal { price: price(alpha), ..Goal::default() }));
    assert!(cheap == (steps, width) && costly.0 < steps);
}

#[test]
fn the_price_of_time_decides_in_how_many_parts_a_broadcast_goes() {
    let topology = torus(&[4, 4, 4], &[], &[]);
    let parts = |price| {
        let goal = Goal { parts: Parts::Auto, price, ..Goal::default() };
        let plan = plan_for(&topology, &Kind::Broadcast(RankId(5)), &goal).unwrap();
        figures(&plan);
        plan.problem.parts()
    };
    // Without a price, a multiple of 6 at which filling the pipeline costs a few per cent; with one, as many as few
    // steps can use, and no more than bytes.
    assert!(parts(None) >= 600 && parts(None).is_multiple_of(6));
    let price = |message_bytes| Some(Price { message_bytes, alpha: 1e-6, bandwidth: 1e9 });
    assert!((6..=8).contains(&parts(price(8))));
    assert!((12..=20_000).contains(&parts(price(20_000))));
}

/// The last part leaves the root after `parts / links` units, and then travels to the farthest rank. A SAT solver finds
/// such schedules where one tree after the other needs a unit more.
#[test]
fn few_parts_also_arrive_as_soon_as_the_last_can() {
    for (extents, links, diameter) in [(&[4, 4][..], 4, 4), (&[2, 3, 4], 5, 4), (&[4, 4, 4], 6, 6)] {
        for kind in [Kind::Broadcast(RankId(0)), Kind::Reduce(RankId(0))] {
            let (topology, parts) = (torus(extents, &[], &[]), 12_u32);
            let least = parts.div_ceil(links) + diameter - 1;
            let trees = figures(&plan("trees", &topology, kind.clone(), parts).unwrap()).1;
            let best = plan(None, &topology, kind.clone(), parts).unwrap();
            assert_eq!((figures(&best).1, best.bounds.least_width(parts)), (least, least), "{kind:?} {extents:?}");
            assert!(trees >= least, "{kind:?} {extents:?}: {trees}");
        }
    }
}

/// Least volumes by a linear program: a flow of one message to each rank, each on its own within the capacities that
/// steps of some widths give to the links (HiGHS, apart from this code).
const LEAST_ON_4X4: [(u32, f64); 6] = [(4, 0.9167), (5, 0.6667), (6, 0.5833), (8, 0.4762), (10, 0.4333), (12, 0.4103)];

#[test]
fn few_steps_take_little_more_than_flows_need() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    for (steps, least) in LEAST_ON_4X4 {
        for kind in both(0) {
            let goal = Goal { parts: Parts::Fixed(480), steps: Some(steps), ..Goal::default() };
            let (planned, width) = figures(&plan_for(&topology, &kind, &goal).unwrap());
            let volume = f64::from(width) / 480.0;
            assert!(planned == steps && volume >= least - 1e-4, "{kind:?} in {steps} steps: {volume}");
            assert!(volume <= 1.13 * least, "{kind:?} in {steps} steps: {volume} of {least}");
        }
    }
}

/// Fresh failures and roots each time; a schedule is in the steps stated, verified, and no wider than a pipeline.
#[test]
fn few_steps_are_kept_around_random_failures() {
    let mut rng = fastrand::Rng::new();
    let seed = rng.u64(..);
    rng.seed(seed);
    for case in 0..12 {
        let extents = [&[5][..], &[3, 4], &[4, 4], &[2, 3, 3]][case % 4];
        let ranks: u32 = extents.iter().product();
        let mut topology = torus(extents, &[], &[]);
        for _ in 0..rng.u32(1..4) {
            let link = topology.link(topology.live_links().nth(rng.usize(..ranks as usize)).unwrap());
            let failed = topology.clone().fail_link(link.from.0, link.to.0).unwrap();
            if problem(failed.clone(), Kind::Barrier).check_connected().is_ok() {
                topology = failed;
            }
        }
        for kind in both(rng.u32(..ranks)) {
            let parts = rng.u32(1..60);
            let least = bound::find(&problem(topology.clone(), kind.clone())).unwrap().least_steps();
            let most = least + rng.u32(..least + 2);
            let stated = Goal { parts: Parts::Fixed(parts), max_steps: Some(most), ..Goal::default() };
            let named = Goal { planner: planner_named("arborescences").ok(), ..stated };
            let (steps, width) = figures(&plan_for(&topology, &kind, &stated).unwrap());
            let (exact, alone) = figures(&plan_for(&topology, &kind, &named).unwrap());
            assert!(steps <= most && exact <= most && width <= alone, "seed {seed}, case {case}: {kind:?}");
        }
    }
}

/// (N-1) messages over the live links of the root, in as many steps as its largest distance.
#[test]
fn scatter_and_gather_meet_the_cut_of_the_root() {
    let machines = [
        (torus(&[8], &[], &[]), 0),
        (torus(&[4, 4], &[], &[]), 5),
        (torus(&[4, 4], &[(0, 1)], &[]), 0),
        (torus(&[4, 4], &[(0, 1), (0, 4)], &[]), 0),
        (torus(&[4, 4, 4], &[], &[]), 21),
        (torus(&[4, 4, 4], &[(0, 1)], &[]), 0),
        (torus(&[4, 4, 4], &[(0, 1), (21, 22)], &[]), 21),
        (torus(&[4, 4, 4], &[], &[1]), 0),
    ];
    for (topology, root) in &machines {
        let root = RankId(*root);
        let links = topology.links_from(root).filter(|&link| topology.link(link).alive).count() as u32;
        for kind in [Kind::Scatter(root), Kind::Gather(root)] {
            for parts in [1, 2, 3, 20] {
                let plan = plan(None, topology, kind.clone(), parts).unwrap();
                let messages = topology.live_rank_count() as u32 - 1;
                let least_steps = plan.bounds.least_steps();
                let expected = (least_steps, (messages * parts).div_ceil(links).max(least_steps));
                assert_eq!(figures(&plan), expected, "{kind:?} in {parts} parts, {links} links");
            }
        }
    }
}

#[test]
fn from_every_root_of_small_machines_scatter_and_gather_meet_the_bound_or_lose_a_step() {
    let mesh = |cables: &[(u32, u32)]| {
        let grid = Torus { wrap: vec![false, false], ..Torus::new(&[3, 3]) };
        Topology::new(TopologySpec::new(Shape::Torus(grid)).without_cables(cables)).unwrap()
    };
    let mut topologies: Vec<Topology> = SMALL.into_iter().flat_map(with_failures).collect();
    topologies.extend([mesh(&[]), mesh(&[(0, 1)]), mesh(&[(4, 5)]), mesh(&[(7, 8)])]);
    let (mut all, mut met) = (0, 0);
    for topology in &topologies {
        for root in topology.live_ranks() {
            for kind in [Kind::Scatter(root), Kind::Gather(root)] {
                let parts = 3;
                let plan = plan(None, topology, kind, parts).unwrap();
                let (width, least) = (figures(&plan).1, plan.bounds.least_width(parts));
                assert!(width <= least + 1, "{:?}: {width} above {least}", plan.problem);
                (all, met) = (all + 1, met + u32::from(width == least));
            }
        }
    }
    assert!(met * 100 >= all * 95, "{met} of {all}");
}
