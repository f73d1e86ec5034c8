//! Messages negotiate down to the value of the flow's linear program wherever the parts make that whole.

use collsynth::collective::{Demand, Kind};
use collsynth::plan::{Goal, Negotiated, PlanError, Planner};
use collsynth::topology::{RankId, Topology, Torus};

use crate::support::plans::{figures, goal, intact, plan_for, problem, torus};

/// Steps and total width of a verified schedule by this planner.
fn plan(planner: &'static str, topology: &Topology, kind: &Kind, parts: u32, steps: Option<u32>) -> (u32, u32) {
    figures(&plan_for(topology, kind, &Goal { steps, ..goal(planner, parts) }).unwrap())
}

#[test]
fn the_value_of_the_program_is_reached_exactly() {
    type Row = (&'static [u32], &'static [(u32, u32)], u32, (u32, u32));
    let table: &[Row] = &[
        (&[4, 4], &[(0, 1)], 7, (4, 64)),
        (&[5, 5], &[(0, 1)], 9, (4, 150)),
        (&[4, 4, 4], &[(2, 3)], 1, (6, 34)),
        (&[4, 4, 4], &[(2, 3)], 31, (6, 1024)),
        (&[4, 4, 4], &[(0, 1), (2, 3)], 15, (6, 512)),
        (&[8, 8], &[(0, 1), (5, 13)], 1, (8, 69)),
    ];
    for &(extents, cables, parts, expected) in table {
        let topology = torus(extents, cables, &[]);
        let found = plan("negotiated", &topology, &Kind::AllToAll, parts, None);
        assert_eq!(found, expected, "{extents:?} {cables:?} in {parts} parts");
    }
}

#[test]
fn few_steps_cost_the_joint_optimum_and_no_more() {
    let topology = torus(&[4, 4], &[(0, 1), (1, 2), (1, 5), (12, 13), (12, 15)], &[]);
    for (steps, width) in [(5, 19), (6, 16), (7, 15)] {
        assert_eq!(plan("negotiated", &topology, &Kind::AllToAll, 1, Some(steps)), (steps, width));
    }
}

#[test]
fn roots_demands_and_doubled_cables() {
    let broken = torus(&[4, 4], &[(0, 1)], &[]);
    for kind in [Kind::Scatter(RankId(0)), Kind::Gather(RankId(0))] {
        assert_eq!(plan("flow_over_time", &broken, &kind, 1, None), (4, 5), "{}", kind.name());
    }
    let doubled = Torus { wrap: vec![true, true], ..Torus::new(&[2, 4]) };
    assert_eq!(plan("negotiated", &intact(doubled), &Kind::AllToAll, 1, None), (3, 4));
    let mut counts = vec![0; 16];
    (counts[2], counts[7]) = (6, 2);
    let demand = Kind::AllToAllV(Demand::new(4, &counts).unwrap());
    // In 3 steps the flow already wants a width of 5.
    assert_eq!(plan("negotiated", &Topology::torus(&[4]).unwrap(), &demand, 1, None), (4, 4));
}

#[test]
fn what_it_is_not_for_it_refuses() {
    let refusal = |extents: &[u32], cables: &[(u32, u32)], kind| {
        let problem = problem(torus(extents, cables, &[]), kind);
        let refusal = Negotiated.applies(&problem).and_then(|()| Ok(problem.check_connected()?));
        match refusal.unwrap_err() {
            PlanError::NotApplicable { planner, reason } => format!("{planner}: {reason}"),
            error => error.to_string(),
        }
    };
    let why = "negotiated: it plans all_to_all and all_to_allv only";
    assert_eq!(refusal(&[4, 4], &[], Kind::AllGather), why);
    assert!(refusal(&[4], &[(0, 1), (1, 2)], Kind::AllToAll).contains("not connected"));
}
