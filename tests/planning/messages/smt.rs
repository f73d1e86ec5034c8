//! The SMT planner: target figures, refutations, and that no other planner is better.

use collsynth::collective::Kind;
use collsynth::plan::{Control, Goal, Minimize, Parts, PlanError, Smt, StopReason, synthesize};
use collsynth::schedule::Solution;
use collsynth::topology::{RankId, Topology};
use collsynth::verify::{Code, Options, Verified};

use crate::support::plans::{plan_for, torus};

/// Extents, and dead cables.
type Machine = (&'static [u32], &'static [(u32, u32)]);

fn machine((extents, dead): Machine) -> Topology {
    torus(extents, dead, &[])
}

fn smt(width: Option<u32>) -> Smt {
    Smt { width, ..Smt::new() }
}

fn goal(planner: &Smt, steps: Option<u32>) -> Goal<'_> {
    Goal { planner: Some(planner), steps, ..Goal::default() }
}

/// Steps and total width of a verified plan.
fn figures(topology: &Topology, kind: &Kind, goal: &Goal<'_>) -> Result<(usize, u64), PlanError> {
    let plan = plan_for(topology, kind, goal)?;
    let figures = (plan.schedule.step_count(), plan.schedule.total_width());
    match Verified::<Solution>::new(plan.into(), &Options::default()) {
        Ok(verified) => {
            // Where sums are not trees, ranks may add in different orders.
            let warning = verified.report().warnings.iter().find(|warning| warning.code != Code::W003);
            assert_eq!(warning, None, "{kind:?}");
        }
        Err(rejected) => panic!("{kind:?}: {:?}", rejected.report.violations.first()),
    }
    Ok(figures)
}

#[test]
fn what_was_asked_for_is_found() {
    let cases: &[(Machine, Kind, u32)] = &[
        ((&[3, 3], &[]), Kind::AllToAll, 3),
        ((&[8], &[]), Kind::AllToAll, 8),
        ((&[2, 2, 2], &[]), Kind::AllToAll, 4),
        ((&[3, 3, 3], &[]), Kind::AllGather, 5),
        ((&[4, 4], &[]), Kind::AllGather, 4),
        ((&[4, 4], &[(0, 1)]), Kind::AllGather, 5),
    ];
    for (of, kind, steps) in cases {
        let found = figures(&machine(*of), kind, &goal(&smt(Some(*steps)), Some(*steps)));
        assert_eq!(found, Ok((*steps as usize, u64::from(*steps))), "{kind:?} on {of:?}");
    }
}

#[test]
fn what_no_bound_excludes_is_refuted() {
    // Three chunks a link in two steps leave no room for the return.
    let ring = machine((&[4], &[]));
    let three = smt(Some(3));
    let narrow = Goal { parts: Parts::Fixed(3), ..goal(&three, Some(2)) };
    assert!(matches!(figures(&ring, &Kind::AllReduce, &narrow), Err(PlanError::Refuted { .. })));
    // A ring of five cannot add up in two steps, however wide.
    let nine = smt(Some(9));
    let wide = goal(&nine, Some(2));
    assert!(matches!(figures(&machine((&[5], &[])), &Kind::AllReduce, &wide), Err(PlanError::Refuted { .. })));
    // Bounds need no solver.
    let narrow = figures(&machine((&[8], &[])), &Kind::AllToAll, &goal(&smt(Some(7)), None));
    assert!(matches!(narrow, Err(PlanError::TooNarrow { width: 7, .. })), "{narrow:?}");
    let short = figures(&machine((&[8], &[])), &Kind::AllToAll, &goal(&smt(None), Some(3)));
    assert!(matches!(short, Err(PlanError::TooFewSteps { wanted: 3, distance: 4, .. })), "{short:?}");
    let four = figures(&machine((&[4, 4], &[(0, 1)])), &Kind::AllGather, &goal(&smt(Some(4)), Some(4)));
    assert!(matches!(four, Err(PlanError::TooNarrow { .. })), "{four:?}");
}

#[test]
fn all_reduce_on_four_ranks() {
    // The least volume and the steps it takes, then the volume in two steps; by parts.
    let fours: [&'static [u32]; 2] = [&[4], &[2, 2]];
    for extents in fours {
        let machine = machine((extents, &[]));
        let front: Vec<_> = (1..=4)
            .map(|parts| {
                let best = |minimize| {
                    let smt = Smt { minimize, ..Smt::new() };
                    let goal = Goal { parts: Parts::Fixed(parts), ..goal(&smt, None) };
                    figures(&machine, &Kind::AllReduce, &goal).unwrap()
                };
                (best(Minimize::Volume), best(Minimize::Steps))
            })
            .collect();
        assert_eq!(front, [((2, 2), (2, 2)), ((2, 2), (2, 2)), ((3, 3), (2, 4)), ((3, 3), (2, 4))], "{extents:?}");
    }
}

/// A judge: in as many steps, no other planner needs less width.
#[test]
fn no_planner_is_better() {
    let root = RankId(0);
    let kinds = [
        Kind::AllToAll,
        Kind::AllGather,
        Kind::ReduceScatter,
        Kind::AllReduce,
        Kind::Broadcast(root),
        Kind::Reduce(root),
        Kind::Scatter(root),
        Kind::Gather(root),
        Kind::AllReduceGathered,
    ];
    let machines: [Machine; 5] =
        [(&[5], &[]), (&[4], &[(0, 1)]), (&[2, 3], &[]), (&[2, 3], &[(0, 1)]), (&[3, 3], &[(0, 1)])];
    for of in machines {
        let topology = machine(of);
        for kind in &kinds {
            let parts = if *kind == Kind::AllReduce && topology.rank_count() > 5 { 1 } else { 2 };
            let smt = smt(None);
            let goal = Goal { parts: Parts::Fixed(parts), ..goal(&smt, None) };
            let proven = figures(&topology, kind, &goal).unwrap();
            let auto = Goal { planner: None, ..goal };
            let fast = plan_for(&topology, kind, &auto).unwrap().schedule;
            let fast = (fast.total_width(), fast.step_count());
            assert!((proven.1, proven.0) <= fast, "{kind:?} on {of:?}: {proven:?} and {fast:?}");
        }
    }
}

#[test]
fn a_time_limit_is_kept() {
    let machine = machine((&[4, 4], &[(0, 1), (5, 6)]));
    let control = Control::unlimited().with_deadline(std::time::Instant::now());
    // The schedule that other planners found in time is kept, without a claim.
    let stopped = synthesize(&machine, &Kind::AllToAll, &goal(&smt(None), None), &control).unwrap();
    assert_eq!((stopped.stopped, stopped.account.is_proven()), (StopReason::TimeLimit, false));
    // A question by itself stays undecided.
    let unknown = synthesize(&machine, &Kind::AllToAll, &goal(&smt(Some(10)), Some(5)), &control);
    assert!(matches!(unknown, Err(PlanError::Undecided { .. })), "{:?}", unknown.err());
}
