//! Without a planner's name, every planner is an incumbent: none by name has less volume in the same parts, or as little
//! in fewer steps.

use collsynth::collective::{Demand, Kind};
use collsynth::plan::{PlanError, planners};
use collsynth::topology::{RankId, Topology};
use rayon::prelude::*;

use crate::support::plans::{plan, torus};

/// Solvers, which take long and are asked for the last units of width only.
const SOLVERS: [&str; 2] = ["lp", "smt"];

/// Cases with more chunks are left out unless messages are whole: they take long.
const MOST_CHUNKS: u32 = 20_000;

#[test]
fn no_planner_by_name_is_better() {
    let machines: [Topology; 5] = [
        torus(&[5], &[], &[]),
        torus(&[3, 3], &[(0, 1)], &[]),
        torus(&[4, 4], &[(0, 1), (5, 6)], &[]),
        torus(&[2, 3, 4], &[], &[7]),
        torus(&[4, 4, 4], &[(2, 3)], &[]),
    ];
    let cases = machines.iter().flat_map(|topology| {
        let ranks = topology.rank_count() as u32;
        let counts: Vec<u32> = (0..ranks * ranks).map(|pair| (pair * 7 + pair / ranks * 3) % 5 % 3).collect();
        let demand = Demand::new(ranks, &counts).expect("a square matrix");
        Kind::every(RankId(0), demand).to_vec().into_iter().map(move |kind| (topology, kind))
    });
    let cases: Vec<_> =
        cases.flat_map(|(topology, kind)| [1, 8, 48].map(|parts| (topology, kind.clone(), parts))).collect();
    let compared: usize = cases
        .par_iter()
        .filter(|(topology, kind, parts)| {
            let chunks = parts * (topology.rank_count() as u32).pow(kind.owners());
            *parts == 1 || (kind.can_be_cut() && chunks <= MOST_CHUNKS)
        })
        .map(|(topology, kind, parts)| {
            let figures = |name: Option<&str>| {
                plan(name, topology, kind.clone(), *parts)
                    .map(|plan| (plan.schedule.total_width(), plan.schedule.step_count()))
            };
            let auto = figures(None).expect("a plan");
            let named = planners().iter().map(|planner| planner.name()).filter(|name| !SOLVERS.contains(name));
            named
                .map(|name| match figures(Some(name)) {
                    Ok(found) => {
                        assert!(auto <= found, "{} in {parts} parts: {auto:?}, {name} {found:?}", kind.name());
                        1
                    }
                    Err(PlanError::NotApplicable { .. } | PlanError::NotFound { .. }) => 0,
                    Err(error) => panic!("{name}: {error}"),
                })
                .sum::<usize>()
        })
        .sum();
    assert!(compared > 150, "{compared}");
}
