//! Dead switches: failures that repeat with a period, planned for one cell.

use fastrand::Rng;

use collsynth::Solution;
use collsynth::collective::Kind;
use collsynth::form::find_pattern;
use collsynth::plan::{CompactPlan, Control, Goal, Parts, compact, compact_problem};
use collsynth::schedule::Timetable;
use collsynth::topology::{FailedLink, Switch, Topology, TopologySpec, Torus};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, Verified, verify};

/// A torus with these dead switches.
fn dead(torus: &Torus, period: &[u32], switches: &[&str]) -> Topology {
    let mut spec = TopologySpec::new(collsynth::topology::Shape::Torus(torus.clone()));
    let intact = Topology::new(spec.clone()).expect("a torus");
    for switch in switches {
        let switch: Switch = switch.parse().expect("a switch");
        spec.failed_links.extend(switch.cables(&intact, period).expect("there is one"));
    }
    Topology::new(spec).expect("a machine")
}

fn plan(machine: &Topology, kind: &Kind, parts: u32) -> CompactPlan {
    let goal = Goal { parts: Parts::Fixed(parts), ..Goal::default() };
    let problem = compact_problem(machine, kind, &goal).expect("it has a pattern");
    compact(problem, &goal, &Control::unlimited()).expect("it is connected").expect("in any number of steps")
}

/// Steps, total width and the bound on it, of a plan that holds and is short.
fn judged(plan: &CompactPlan) -> (usize, u64, u32) {
    let report = verify(&plan.solution, &Options::default());
    assert_eq!(report.verdict(), Verdict::Holds, "{report:?}");
    let schedule = &plan.solution.schedule;
    assert!(schedule.repeated().is_some() && schedule.exceptions().chunks.is_empty(), "planned for one cell");
    let (pattern, parts) = (schedule.pattern(), plan.solution.problem.parts());
    (pattern.step_count(), pattern.total_width(), plan.solution.bounds.least_width(parts))
}

#[test]
fn around_dead_switches_the_bound_is_met() {
    let cases: [(&[u32], &[&str], usize, u64); 5] = [
        (&[8, 8, 8], &["x:1,2"], 12, 547),
        (&[8, 8, 8], &["y:3,3"], 12, 547),
        (&[8, 8, 8], &["x:1,2", "x:2,2"], 12, 586),
        (&[8, 8, 8], &["x:1,2", "y:0,0", "z:3,1"], 12, 547),
        (&[8, 8, 12], &["z:1,2"], 14, 1190),
    ];
    for (extents, switches, steps, width) in cases {
        let found = plan(&dead(&Torus::new(extents), &vec![4; extents.len()], switches), &Kind::AllToAll, 1);
        let (found_steps, found_width, least) = judged(&found);
        assert_eq!((found_steps, found_width), (steps, width), "{extents:?} {switches:?}");
        assert_eq!(found_width, u64::from(least), "{extents:?} {switches:?}: the bound, rounded up");
    }
}

#[test]
fn in_parts_and_on_twisted_tori() {
    let (_, width, least) = judged(&plan(&dead(&Torus::new(&[8, 8, 8]), &[4; 3], &["x:1,2"]), &Kind::AllToAll, 3));
    assert_eq!(width, u64::from(least), "three parts");
    let twisted = Torus::twisted(&[4, 8, 8]).expect("doubled");
    // Cells of 4x2x2 along which nothing shifts.
    let machine = dead(&twisted, &[4, 2, 4], &["y:1,2"]);
    let (_, width, least) = judged(&plan(&machine, &Kind::AllToAll, 1));
    assert!(width <= u64::from(least) + u64::from(least) / 100 + 1, "{width} above {least}");
}

#[test]
fn trees_are_near_the_bound() {
    for kind in [Kind::AllGather, Kind::ReduceScatter] {
        for switches in [&["x:1,2"][..], &["z:0,0"], &["x:1,2", "y:0,3"]] {
            let (steps, width, least) = judged(&plan(&dead(&Torus::new(&[8, 8, 8]), &[4; 3], switches), &kind, 1));
            assert_eq!(steps, 12, "{kind:?} {switches:?}");
            assert!(width <= u64::from(least) + 2, "{kind:?} {switches:?}: {width} above {least}");
        }
    }
}

/// Twice the all_gather, backward and forward: its steps and its width.
#[test]
fn sums_take_two_trees_in_turn() {
    for switches in [&["x:1,2"][..], &["z:0,0"], &["x:1,2", "y:0,3"]] {
        let machine = dead(&Torus::new(&[8, 8, 8]), &[4; 3], switches);
        for parts in [1, 2] {
            let (steps, width, _) = judged(&plan(&machine, &Kind::AllReduce, 512 * parts));
            let (_, gathered, _) = judged(&plan(&machine, &Kind::AllGather, parts));
            assert_eq!((steps, width), (24, 2 * gathered), "{switches:?}");
        }
    }
}

#[test]
fn a_list_of_cables_is_planned_alike() {
    let machine = dead(&Torus::new(&[8, 8, 8]), &[4; 3], &["x:1,2"]);
    let mut cables: Vec<(u32, u32)> = machine.spec().failed_links.iter().map(|one| (one.from.0, one.to.0)).collect();
    Rng::with_seed(3).shuffle(&mut cables);
    let listed = Topology::new(TopologySpec::torus(&[8, 8, 8]).without_cables(&cables)).expect("a machine");
    for kind in [Kind::AllToAll, Kind::AllGather] {
        assert_eq!(plan(&machine, &kind, 1).solution.schedule, plan(&listed, &kind, 1).solution.schedule);
    }
}

/// The compact form and the expanded schedule have one verdict and the same figures, whatever repeats.
#[test]
fn random_small_lattices_hold_compact_and_expanded() {
    let mut rng = Rng::with_seed(17);
    let (mut planned, mut met, mut found_moves, mut planned_moves) = (0, 0, 0, 0);
    let shapes: [(&[u32], &[u32]); 8] = [
        (&[6, 8], &[3, 2]),
        (&[8, 8], &[2, 4]),
        (&[9, 6], &[3, 2]),
        (&[12, 6], &[3, 3]),
        (&[16], &[2]),
        (&[4, 4, 6], &[2, 2, 3]),
        (&[6, 4, 4], &[2, 4, 1]),
        (&[8, 8], &[4, 2]),
    ];
    for _ in 0..300 {
        let (extents, period) = shapes[rng.usize(..shapes.len())];
        let mut machine = dead(&Torus::new(extents), period, &[]);
        for _ in 0..rng.usize(1..4) {
            let dim = rng.usize(..extents.len());
            let others = (0..extents.len()).filter(|&other| other != dim);
            let at: Vec<String> = others.map(|other| rng.u32(..period[other]).to_string()).collect();
            let switch: Switch = format!("{}:{}", ["x", "y", "z"][dim], at.join(",")).parse().expect("a switch");
            let mut spec = machine.spec().clone();
            spec.failed_links.extend(switch.cables(&machine, period).expect("there is one"));
            if rng.u8(..4) == 0 {
                let link = &machine.links()[rng.usize(..machine.links().len())];
                spec.failed_links.push(FailedLink { both: rng.bool(), ..FailedLink::cable(link.from, link.to) });
            }
            machine = Topology::new(spec).ok().filter(|more| more.components().len() == 1).unwrap_or(machine);
        }
        let parts = rng.u32(1..=2);
        let kinds = [Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce];
        let (kind, sums) = (&kinds[rng.usize(..4)], parts * machine.rank_count() as u32);
        let CompactPlan { solution, .. } = match kind {
            Kind::AllReduce => plan(&machine, kind, sums),
            _ => plan(&machine, kind, parts),
        };
        let spec = machine.spec();
        let compact = Verified::new(solution, &Options::default()).unwrap_or_else(|wrong| panic!("{wrong}: {spec:?}"));
        let figures = compact.schedule.statistics(&compact.problem);
        let met_it = figures.total_width == u64::from(compact.bounds.least_width(compact.problem.parts()));
        let solution = compact.into_inner();
        let explicit =
            Solution { schedule: solution.schedule.expand(), ..solution.clone().map(|_| Default::default()) };
        let explicit = Verified::new(explicit, &Options::default()).unwrap_or_else(|wrong| panic!("{wrong}: {spec:?}"));
        assert_eq!(explicit.schedule.statistics(&explicit.problem), figures, "{spec:?}");
        let found = find_pattern(&explicit.problem, &explicit.schedule).expect("a torus");
        // The pattern of the planner may be the tree of no rank: then that of a rank takes a few more words.
        let (again, stated) = (found.stated_moves(), solution.schedule.stated_moves());
        assert!(4 * again <= 5 * stated, "{again} moves for {stated}: {spec:?}");
        (found_moves, planned_moves) = (found_moves + again, planned_moves + stated);
        assert_eq!(found.expand(), explicit.schedule, "{spec:?}");
        planned += u32::from(solution.schedule.repeated().is_some());
        met += u32::from(met_it);
    }
    assert!(found_moves <= planned_moves, "{found_moves} moves for {planned_moves}");
    assert!(planned > 60 && met > 100, "{planned} planned for one cell, {met} on their bounds");
}
