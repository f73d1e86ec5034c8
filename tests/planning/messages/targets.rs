//! Target figures of the planner, each on a verified schedule: all-to-all on intact and on broken tori.
//!
//! The oracles are closed forms of the literature and the values of a linear program, solved elsewhere; the verifier
//! judges the schedules.

use collsynth::collective::Kind;
use collsynth::plan::{Goal, Parts, Plan};
use collsynth::topology::{GraphLink, RankId, Shape, Topology, TopologySpec};
use rayon::prelude::*;

use crate::support::plans::{figures, plan_for, torus};

/// A plan whose schedule and certificates verify.
fn plan(extents: &[u32], cables: &[(u32, u32)], parts: Parts) -> Plan {
    let goal = Goal { parts, ..Goal::default() };
    plan_for(&torus(extents, cables, &[]), &Kind::AllToAll, &goal).unwrap()
}

/// `V = max_d N k / 8` for even extents, `N (k^2 - 1) / (8 k)` for odd ones, in `sum of k / 2` steps.
#[test]
fn intact_tori_are_planned_at_the_bisection_bound_in_diameter_steps() {
    let tori: [&[u32]; 11] = [
        &[4, 4],
        &[4, 4, 4],
        &[8, 4, 4],
        &[5, 5],
        &[5, 5, 5],
        &[3, 4, 5],
        &[8, 8],
        &[8, 8, 8],
        &[6, 6],
        &[7],
        &[4, 3, 3],
    ];
    for extents in tori {
        let ranks: u32 = extents.iter().product();
        let load = |k: u32| if k.is_multiple_of(2) { (ranks * k, 8) } else { (ranks * (k * k - 1), 8 * k) };
        let volume = extents.iter().map(|&k| load(k)).map(|(over, under)| over.div_ceil(under)).max().unwrap();
        let diameter: u32 = extents.iter().map(|k| k / 2).sum();
        assert_eq!(figures(&plan(extents, &[], Parts::Fixed(1))), (diameter, volume), "{extents:?}");
    }
}

#[test]
fn one_dead_cable_costs_what_the_arc_cut_says_and_no_step() {
    let cases = [
        (&[3, 3][..], (0, 1), 2, 4),
        (&[4, 4], (0, 1), 4, 10),
        (&[5, 5], (0, 1), 4, 17),
        (&[8, 8], (0, 1), 8, 69),
        (&[3, 3, 3], (0, 1), 3, 10),
        (&[4, 4, 4], (2, 3), 6, 34),
        (&[5, 5, 5], (0, 1), 6, 77),
        (&[2, 3, 4], (0, 2), 4, 12),
        (&[8, 4, 4], (0, 1), 8, 133),
        (&[8, 4, 4], (0, 8), 8, 128),
    ];
    for (extents, cable, steps, width) in cases {
        assert_eq!(figures(&plan(extents, &[cable], Parts::Fixed(1))), (steps, width), "{extents:?} {cable:?}");
    }
}

#[test]
fn the_largest_torus_loses_nothing_to_rounding_either() {
    assert_eq!(figures(&plan(&[8, 8, 8], &[(2, 3)], Parts::Fixed(1))), (12, 517));
}

/// Where the parts make the LP's value whole, it is met exactly: gap zero.
#[test]
fn parts_close_the_gap() {
    for (extents, cables, parts, width) in [
        (&[4, 4, 4][..], &[(2, 3)][..], 31, 1024),
        (&[4, 4], &[(0, 1)], 7, 64),
        (&[8, 8], &[(0, 1)], 15, 1024),
        (&[4, 4, 4], &[(0, 1), (2, 3)], 15, 512),
    ] {
        let fixed = plan(extents, cables, Parts::Fixed(parts));
        let diameter: u32 = extents.iter().map(|k| k / 2).sum();
        assert_eq!(figures(&fixed), (diameter, width), "{extents:?} in {parts} parts");
        let auto = plan(extents, cables, Parts::Auto);
        assert_eq!((auto.problem.parts(), figures(&auto)), (parts, figures(&fixed)), "{extents:?}");
    }
}

/// Nothing about a machine is numbered in 16 bits: 260 ranks, each joined to all others, have 67340 links.
#[test]
fn a_network_may_have_more_links_than_16_bits_count() {
    let ranks = 260;
    let link = |from: u32, to: u32| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 };
    let links = (0..ranks).flat_map(|from| (0..ranks).filter(move |&to| to != from).map(move |to| link(from, to)));
    let topology = Topology::new(TopologySpec::new(Shape::Graph { ranks, links: links.collect() })).unwrap();
    for kind in [Kind::AllToAll, Kind::AllGather, Kind::Scatter(RankId(7))] {
        let plan = plan_for(&topology, &kind, &Goal::default()).unwrap();
        assert_eq!(figures(&plan), (1, 1), "{}", kind.name());
    }
}

/// A set of failed cables with the values of a linear program.
struct Judged {
    diameter: u32,
    /// The flow LP's value rounded up.
    width: u32,
    /// The fewest steps that allow this width, by the time-stepped flow LP.
    steps: u32,
    /// The planner's figures.
    reached: (u32, u32),
}

/// Plans every set of a file.
fn judged(sets: &str) -> Vec<Judged> {
    let judge = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let extents: Vec<u32> = fields[0].split('x').map(|extent| extent.parse().unwrap()).collect();
        let cable = |text: &str| text.split_once('-').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap();
        let cables: Vec<(u32, u32)> = fields[1].split(' ').map(cable).collect();
        let reached = figures(&plan(&extents, &cables, Parts::Fixed(1)));
        let number = |field: usize| fields[field].parse::<u32>().unwrap();
        let judged = Judged { diameter: number(2), width: number(3), steps: number(4), reached };
        assert!(reached.0 >= judged.diameter && reached.1 >= judged.width, "{line}: {reached:?} beats the bounds");
        assert!(reached.1 > judged.width || reached.0 >= judged.steps, "{line}: {reached:?} beats the linear program");
        assert!(reached.0 <= judged.steps + 1 && reached.1 <= judged.width + 1, "{line}: {reached:?}");
        judged
    };
    let lines: Vec<&str> = sets.lines().filter(|line| !line.starts_with('#')).collect();
    lines.into_par_iter().map(judge).collect()
}

/// The least volume in the fewest steps that allow it; the diameter alone is not always enough for that volume.
#[test]
fn random_failures_are_met_at_the_joint_optimum() {
    let sets = judged(include_str!("../../data/random_failures.txt"));
    let at_both_bounds = sets.iter().filter(|set| set.reached == (set.diameter, set.width)).count();
    let optimal = sets.iter().filter(|set| set.reached == (set.steps, set.width)).count();
    assert!(at_both_bounds * 10 >= sets.len() * 9, "{at_both_bounds} of {}", sets.len());
    assert!(optimal * 50 >= sets.len() * 49, "{optimal} of {}", sets.len());
}

/// Where the diameter is too short for the least volume, the plan takes no more steps than the linear program.
#[test]
fn hard_failures_are_met_at_the_joint_optimum() {
    let sets = judged(include_str!("../../data/hard_failures.txt"));
    let optimal = sets.iter().filter(|set| set.reached == (set.steps, set.width)).count();
    assert!(optimal + 2 >= sets.len(), "{optimal} of {}", sets.len());
}
