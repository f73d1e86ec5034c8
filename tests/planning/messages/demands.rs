//! all_to_allv against the values of a linear program solved elsewhere: random, skewed (a few ranks draw most), sparse,
//! single-pair and zero demands on tori with dead cables and ranks.

use collsynth::certificate::Rational;
use collsynth::collective::{Demand, Kind};
use collsynth::plan::Goal;
use collsynth::schedule::Solution;
use collsynth::topology::{FailedLink, RankId, Shape, Topology, TopologySpec, Torus};
use collsynth::verify::{Options, Verified};
use rayon::prelude::*;

use crate::support::pages::float;
use crate::support::plans::plan_for;

/// Chunks for each chunk of the coarse demand.
const FINER: u32 = 2;

/// A line of the data.
struct Case {
    line: String,
    topology: Topology,
    kind: Kind,
    optimum: f64,
    least: Option<u64>,
}

fn cases(pace: &str) -> Vec<Case> {
    let lines = include_str!("../../data/demands.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()).filter(|f| f[6] == pace).map(read).collect()
}

fn read(fields: Vec<&'static str>) -> Case {
    let extents: Vec<u32> = fields[0].split('x').map(|extent| extent.parse().unwrap()).collect();
    let rank = |text: &str| RankId(text.parse().unwrap());
    let cable = |text: &str| {
        let (from, to) = text.split_once('-').unwrap();
        FailedLink { from: rank(from), to: rank(to), dim: None, both: true }
    };
    let listed = |text: &'static str| text.split(' ').filter(|word| *word != "-");
    let spec = TopologySpec {
        failed_links: listed(fields[1]).map(cable).collect(),
        failed_ranks: listed(fields[2]).map(rank).collect(),
        ..TopologySpec::new(Shape::Torus(Torus::new(&extents)))
    };
    let topology = Topology::new(spec).unwrap();
    let digit = |letter: char| match letter {
        '0'..='9' => letter as u32 - '0' as u32,
        'a'..='z' => letter as u32 - 'a' as u32 + 10,
        _ => letter as u32 - 'A' as u32 + 36,
    };
    let ranks = topology.rank_count();
    let mut counts: Vec<u32> = fields[7].trim_end_matches('.').chars().map(digit).collect();
    counts.resize(ranks * ranks, 0);
    Case {
        line: fields[..5].join(" | "),
        kind: Kind::AllToAllV(Demand::new(ranks as u32, &counts).unwrap()),
        topology,
        optimum: fields[4].parse().unwrap(),
        least: fields[5].parse().ok(),
    }
}

/// The total width of a schedule that verifies, and its certified bound.
fn width(case: &Case) -> (u64, f64) {
    let plan = plan_for(&case.topology, &case.kind, &Goal::default()).unwrap();
    let width = plan.schedule.total_width();
    let bound = plan.bounds.volume.as_ref().map_or(Rational::from(0), |bound| bound.at_least);
    let verified = Verified::<Solution>::new(plan.into(), &Options::default());
    assert!(verified.is_ok(), "{}: {}", case.line, verified.unwrap_err());
    (width, float(bound))
}

/// A demand of many messages on a large machine, planned in one long try: as little above its bound as small ones. Of
/// the most messages, the search starts slightly above the bound.
#[test]
fn large_demands_come_near_their_bounds() {
    let cables = [(0, 1), (40, 46), (100, 136), (200, 201)];
    let topology = Topology::new(TopologySpec::torus(&[6, 6, 8]).without_cables(&cables)).unwrap();
    let ranks = topology.rank_count() as u32;
    let mut rng = fastrand::Rng::with_seed(3);
    for most in [3, 6, 12] {
        let counts: Vec<u32> = (0..ranks * ranks).map(|_| rng.u32(..most)).collect();
        let plan = plan_for(&topology, &Kind::AllToAllV(Demand::new(ranks, &counts).unwrap()), &Goal::default());
        let plan = plan.unwrap();
        let (width, least) = (plan.schedule.total_width(), u64::from(plan.bounds.least_width(1)));
        let verified = Verified::<Solution>::new(plan.into(), &Options::default());
        assert!(verified.is_ok(), "{}", verified.unwrap_err());
        assert!((least..=least + least / 100).contains(&width), "{width} for {least}");
    }
}

/// Where whole chunks keep a schedule from the optimum, finer ones approach it.
#[test]
fn finer_chunks_approach_the_optimum() {
    let sparse = cases("long").into_iter().find(|case| case.least == Some(26)).unwrap();
    let Kind::AllToAllV(demand) = &sparse.kind else { panic!("a demand is one of an all_to_allv") };
    let finer: Vec<u32> = demand.counts().map(|count| FINER * count).collect();
    let kind = Kind::AllToAllV(Demand::new(demand.ranks(), &finer).unwrap());
    let optimum = sparse.optimum * f64::from(FINER);
    let (width, bound) = width(&Case { kind, ..sparse });
    assert!(width as f64 >= bound && width as f64 <= optimum * 1.03, "{width}, {bound}");
}

fn check(pace: &str) {
    let missed = cases(pace).into_par_iter().filter_map(|case| {
        let (width, bound) = width(&case);
        let optimum = case.optimum;
        assert!(width as f64 >= bound, "{}: {width} beats the bound {bound}", case.line);
        assert!(width as f64 >= optimum - 1e-5, "{}: {width} beats the optimum", case.line);
        assert!(case.least.is_none_or(|least| width >= least), "{}: {width} beats the least width", case.line);
        let reached = match case.least {
            // The linear program ignores the journey of the first chunks; where it matters, a certificate says so.
            Some(least) => width == least && bound == least as f64,
            None => width as f64 <= (optimum * 1.03).max(optimum + 1.0),
        };
        (!reached).then(|| format!("{}: {width}", case.line))
    });
    let missed: Vec<String> = missed.collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn demands_are_met_near_the_optimum() {
    check("quick");
}

#[test]
fn hard_demands_are_met_near_the_optimum() {
    check("long");
}
