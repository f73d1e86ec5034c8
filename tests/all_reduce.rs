//! All-reduce: the planners against their closed forms and the figures to reach, on verified schedules.

use synth::certificate::Rational;
use synth::collective::Kind;
use synth::plan::{Control, Parts, Plan, PlanError, Wish, synthesise};
use synth::schedule::Solution;
use synth::topology::{FailedLink, RankId, Shape, Topology, TopologySpec, Torus};
use synth::verify::{Options, verify};

fn torus(extents: &[u32], cables: &[(u32, u32)], failed_ranks: &[u32]) -> Topology {
    let failed = |&(from, to)| FailedLink { from: RankId(from), to: RankId(to), dim: None, both: true };
    let spec = TopologySpec {
        failed_links: cables.iter().map(failed).collect(),
        failed_ranks: failed_ranks.iter().copied().map(RankId).collect(),
        ..TopologySpec::new(Shape::Torus(Torus::new(extents)))
    };
    Topology::new(spec).unwrap()
}

fn plan(planner: &str, topology: &Topology, parts: u32) -> Result<Plan, PlanError> {
    let wish = Wish { planner: Some(planner.to_owned()), parts: Parts::Fixed(parts), ..Wish::default() };
    synthesise(topology, &Kind::AllReduce, &wish, &Control::unlimited())
}

/// Steps and volume of a schedule that verifies, as do its certificates.
fn figures(plan: &Plan) -> (usize, Rational) {
    let Plan { problem, schedule, bounds, .. } = plan.clone();
    let report = verify(&Solution { problem, schedule, bounds, origin: None }, &Options::default());
    assert!(report.holds() && report.warnings.is_empty(), "{}: {report:?}", plan.planner);
    let volume = Rational::new(plan.schedule.total_width().into(), plan.problem.parts().into());
    (plan.schedule.step_count(), volume)
}

#[test]
fn one_ring_takes_two_rounds_for_any_number_of_parts() {
    let cases = [
        (&[3][..], &[][..]),
        (&[5], &[]),
        (&[8], &[]),
        (&[2, 2], &[]),
        (&[3, 3], &[(0, 1)]),
        (&[4, 4], &[(0, 1), (1, 2)]),
        (&[4, 4, 4], &[(2, 3)]),
    ];
    for (extents, cables) in cases {
        let topology = torus(extents, cables, &[]);
        let ranks = topology.rank_count() as u32;
        for parts in [1, 2, ranks - 1, ranks, ranks + 1, 3 * ranks] {
            let expected = Rational::new((2 * (ranks - 1) * parts.div_ceil(ranks)).into(), parts.into());
            let plan = plan("ring_all_reduce", &topology, parts).unwrap();
            assert_eq!(figures(&plan), (2 * ranks as usize - 2, expected), "{extents:?} in {parts} parts");
        }
    }
}

#[test]
fn without_a_ring_there_is_a_reason() {
    let error = plan("ring_all_reduce", &torus(&[5], &[(0, 1)], &[]), 5).unwrap_err();
    assert_eq!(error.to_string(), "planner `ring_all_reduce` does not apply: no ring through all live ranks was found");
}

#[test]
fn spanning_trees_hold_on_whole_and_broken_machines() {
    let cases = [
        (&[4, 4][..], &[][..], &[][..], 32, (1, 2)),
        (&[4, 4, 4], &[], &[], 128, (21, 64)),
        (&[4, 4], &[(0, 1)], &[], 48, (5, 8)),
        (&[2, 3, 4], &[(0, 1)], &[], 48, (1, 2)),
        (&[3, 3], &[(0, 1), (4, 5)], &[], 18, (1, 1)),
        (&[4, 4], &[], &[5], 30, (3, 2)),
    ];
    for (extents, cables, ranks, parts, (most, over)) in cases {
        let plan = plan("spanning_trees", &torus(extents, cables, ranks), parts).unwrap();
        let (steps, volume) = figures(&plan);
        assert!(volume <= Rational::new(most, over), "{extents:?} {cables:?}: {steps} steps, {volume}");
    }
}
