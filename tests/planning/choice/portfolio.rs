//! Without a planner's name, every planner is an incumbent: none by name has less volume in the same parts, or as
//! little in fewer steps.

use collsynth::collective::{Demand, Kind};
use collsynth::plan::{PlanError, planners};
use collsynth::topology::{FailedLink, GraphLink, RankId, Shape, Topology, TopologySpec, Torus};
use rayon::prelude::*;

use crate::support::plans::{plan, torus};

/// The solver, which takes long and is asked for the last units of width only.
const SOLVER: &str = "smt";

/// Cases with more chunks are left out unless messages are whole: they take long.
const MOST_CHUNKS: u32 = 20_000;

/// Rings, tori, meshes and graphs: intact, without cables, without single directions, without ranks.
fn machines() -> Vec<Topology> {
    let of = |torus: Torus, cables: &[(u32, u32)]| {
        Topology::new(TopologySpec::new(Shape::Torus(torus)).without_cables(cables)).expect("a machine")
    };
    let mesh = |extents: &[u32]| Torus { wrap: vec![false; extents.len()], ..Torus::new(extents) };
    let one_way = |extents: &[u32], from, to| {
        let failed = FailedLink { both: false, ..FailedLink::cable(RankId(from), RankId(to)) };
        Topology::new(TopologySpec { failed_links: vec![failed], ..TopologySpec::torus(extents) }).expect("a machine")
    };
    let both_ways = |from, to| [(from, to, 1), (to, from, 1)];
    let star = (1..5).flat_map(|leaf| both_ways(0, leaf)).chain(both_ways(1, 2)).chain([(3, 4, 2)]);
    let link = |(from, to, capacity)| GraphLink { from: RankId(from), to: RankId(to), capacity };
    let star = Shape::Graph { ranks: 5, links: star.map(link).collect() };
    vec![
        torus(&[5], &[], &[]),
        torus(&[8], &[(0, 1)], &[]),
        torus(&[7], &[], &[3]),
        one_way(&[6], 2, 3),
        of(mesh(&[4]), &[]),
        of(mesh(&[3, 3]), &[]),
        of(mesh(&[4, 3]), &[(5, 6)]),
        of(Torus { wrap: vec![true, true], ..Torus::new(&[2, 4]) }, &[(0, 2)]),
        of(Torus { capacity: vec![2, 1], ..Torus::new(&[4, 3]) }, &[(0, 1)]),
        Topology::new(TopologySpec::new(star)).expect("a machine"),
        torus(&[2, 2, 2], &[], &[]),
        torus(&[3, 3], &[(0, 1)], &[]),
        torus(&[4, 4], &[], &[]),
        torus(&[4, 4], &[(0, 1), (5, 6)], &[]),
        torus(&[4, 4], &[(8, 9)], &[2]),
        one_way(&[4, 4], 5, 6),
        torus(&[5, 3], &[(0, 1), (6, 7), (2, 7)], &[]),
        torus(&[2, 3, 4], &[], &[7]),
        torus(&[3, 3, 3], &[(0, 1), (0, 9)], &[]),
        torus(&[4, 4, 4], &[(2, 3)], &[]),
    ]
}

#[test]
fn no_planner_by_name_is_better() {
    let machines = machines();
    assert_eq!(machines.len(), 20);
    let cases = machines.iter().flat_map(|topology| {
        let ranks = topology.rank_count() as u32;
        let counts: Vec<u32> = (0..ranks * ranks).map(|pair| (pair * 7 + pair / ranks * 3) % 5 % 3).collect();
        let demand = Demand::new(ranks, &counts).expect("a square matrix");
        Kind::every(RankId(0), demand).to_vec().into_iter().map(move |kind| (topology, kind))
    });
    let cases: Vec<_> =
        cases.flat_map(|(topology, kind)| [1, 8, 48].map(|parts| (topology, kind.clone(), parts))).collect();
    let compared: Vec<Result<(), String>> = cases
        .par_iter()
        .filter(|(topology, kind, parts)| {
            let chunks = parts * (topology.rank_count() as u32).pow(kind.owners());
            *parts == 1 || (kind.can_be_cut() && chunks <= MOST_CHUNKS)
        })
        .flat_map_iter(|(topology, kind, parts)| {
            let figures = |name: Option<&str>| {
                plan(name, topology, kind.clone(), *parts)
                    .map(|plan| (plan.schedule.total_width(), plan.schedule.step_count()))
            };
            let auto = figures(None).expect("a plan");
            let named = planners().iter().map(|planner| planner.name()).filter(|&name| name != SOLVER);
            named.filter_map(move |name| match figures(Some(name)) {
                Ok(found) if auto <= found => Some(Ok(())),
                Ok(found) => {
                    let (kind, spec) = (kind.name(), topology.spec());
                    Some(Err(format!("{kind} in {parts} parts on {spec:?}: {auto:?}, {name} {found:?}")))
                }
                Err(PlanError::NotApplicable { .. } | PlanError::NotFound { .. } | PlanError::NobodyFound { .. }) => {
                    None
                }
                Err(error) => Some(Err(format!("{name}: {error}"))),
            })
        })
        .collect();
    let count = compared.len();
    let worse: Vec<String> = compared.into_iter().filter_map(Result::err).collect();
    assert!(worse.is_empty(), "{} better by name:\n{}", worse.len(), worse.join("\n"));
    assert!(count > 1200, "{count}");
}
