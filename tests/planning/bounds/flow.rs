//! The flow LP: its metrics against closed forms, the recorded values of another solver, and the other bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use collsynth::bound::{self, Claim, FlowBound, FlowError, FlowLimit, Limit, LpError};
use collsynth::certificate::{
    Bounds, CertificateError, Evidence, Rational, VolumeBound, Window, check_joint, check_volume, stepped_value, value,
};
use collsynth::collective::{Demand, Kind};
use collsynth::plan::{Control, Goal, PlanError, SharperBounds, StopReason, planner_named, synthesize};
use collsynth::problem::Problem;
use collsynth::topology::{GraphLink, RankId, Shape, Topology, TopologySpec, Torus};

use crate::support::plans::{problem, torus};

/// What rounding may cost, as a share.
const ROUNDING: f64 = 1e-6;
const LIMIT: FlowLimit = FlowLimit::of_size(25_000);

/// The bound, with its certificate checked, close to the solver's optimum.
fn proven(problem: &Problem, flow: &FlowBound) -> VolumeBound {
    let Some(Claim::Volume(bound)) = flow.finding.as_ref().map(|finding| finding.claim.clone()) else {
        panic!("a bound on the volume");
    };
    check_volume(problem, &bound).unwrap();
    let value = decimal(bound.at_least);
    assert!((value - flow.optimum).abs() <= ROUNDING * flow.optimum, "{value} is not near {}", flow.optimum);
    bound
}

fn decimal(value: Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}

fn solve(problem: &Problem) -> (FlowBound, VolumeBound) {
    let flow = bound::flow_bound(problem, &LIMIT).unwrap();
    let bound = proven(problem, &flow);
    (flow, bound)
}

#[test]
fn one_dead_cable_is_proven_exactly_and_symmetries_make_it_small() {
    type Row = (&'static [u32], (u32, u32), (i128, i128), usize);
    let table: &[Row] = &[
        (&[4, 4], (0, 1), (64, 7), 4),
        (&[5, 5], (0, 1), (150, 9), 4),
        (&[8, 8], (0, 1), (1024, 15), 4),
        (&[4, 4, 4], (2, 3), (1024, 31), 16),
        (&[8, 4, 4], (0, 1), (4096, 31), 16),
    ];
    for &(extents, cable, (numerator, denominator), symmetries) in table {
        let problem = problem(torus(extents, &[cable], &[]), Kind::AllToAll);
        let (flow, bound) = solve(&problem);
        assert_eq!(bound.at_least, Rational::new(numerator, denominator), "{extents:?}");
        assert_eq!(flow.symmetries, symmetries, "{extents:?}");
        assert!(flow.variables.0 * symmetries < flow.variables.1 * 3 / 2, "{extents:?}: {:?}", flow.variables);
    }
}

#[test]
fn recorded_sets_of_failures_are_proven_to_the_value_of_another_solver() {
    let mut better = 0;
    for line in include_str!("../../data/random_failures.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let extents: Vec<u32> = fields[0].split('x').map(|extent| extent.parse().unwrap()).collect();
        if extents.iter().product::<u32>() > 32 {
            continue;
        }
        let cables: Vec<(u32, u32)> = (fields[1].split_whitespace())
            .map(|cable| cable.split_once('-').unwrap())
            .map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap()))
            .collect();
        let problem = problem(torus(&extents, &cables, &[]), Kind::AllToAll);
        let (_, bound) = solve(&problem);
        let cuts = bound::find(&problem).unwrap().volume.unwrap().at_least;
        // No bound exceeds the linear program, and none falls short of it.
        assert!(decimal(bound.at_least) >= decimal(cuts) * (1.0 - ROUNDING), "{line}");
        assert_eq!((decimal(bound.at_least) - ROUNDING).ceil() as u32, fields[3].parse::<u32>().unwrap(), "{line}");
        better += u32::from(bound.at_least > cuts);
    }
    assert!(better >= 1, "somewhere cuts leave a gap");
}

#[test]
fn roots_demands_graphs_and_capacities() {
    // The root has three links left.
    let broken = torus(&[4, 4], &[(0, 1)], &[]);
    for kind in [Kind::Scatter(RankId(0)), Kind::Gather(RankId(1))] {
        assert_eq!(solve(&problem(broken.clone(), kind)).1.at_least, 5.into());
    }
    // One direction only: 0 -> 1 -> 2 -> 0, and the root sends everything over its one link.
    let link = |(from, to, capacity)| GraphLink { from: RankId(from), to: RankId(to), capacity };
    let links = [(0, 1, 2), (1, 2, 1), (2, 0, 1)].map(link).to_vec();
    let graph = Topology::new(TopologySpec::new(Shape::Graph { ranks: 3, links })).unwrap();
    assert_eq!(solve(&problem(graph.clone(), Kind::Scatter(RankId(0)))).1.at_least, 1.into());
    assert_eq!(solve(&problem(graph.clone(), Kind::Gather(RankId(0)))).1.at_least, 2.into());
    assert_eq!(solve(&problem(graph, Kind::AllToAll)).1.at_least, 3.into());
    // A demand: 6 chunks over a ring of 4, in both directions.
    let mut counts = vec![0; 16];
    (counts[2], counts[7]) = (6, 2);
    let ring = Topology::torus(&[4]).unwrap();
    let demand = problem(ring.clone(), Kind::AllToAllV(Demand::new(4, &counts).unwrap()));
    let (flow, bound) = solve(&demand);
    assert_eq!((flow.symmetries, bound.at_least), (1, 4.into()));
    // Two links join the same ranks where an extent of 2 is closed.
    let doubled = Torus { wrap: vec![true, true], ..Torus::new(&[2, 4]) };
    let doubled = Topology::new(TopologySpec::new(Shape::Torus(doubled))).unwrap();
    assert_eq!(solve(&problem(doubled, Kind::AllToAll)).1.at_least, 4.into());
    // Failed ranks take no part.
    let missing = Topology::new(TopologySpec::torus(&[3, 3]).without_ranks(&[4])).unwrap();
    assert!(solve(&problem(missing, Kind::AllToAll)).0.symmetries == 8);
}

#[test]
fn what_it_cannot_do_it_says() {
    let trivial = problem(Topology::torus(&[1]).unwrap(), Kind::AllToAll);
    assert_eq!(bound::flow_bound(&trivial, &LIMIT).unwrap().finding, None);
    let wrong = bound::flow_bound(&problem_of(Kind::AllGather), &LIMIT);
    assert_eq!(wrong.unwrap_err(), FlowError::WrongKind("all_gather"));
    let lonely = torus(&[4], &[(0, 1), (0, 3)], &[]);
    assert!(matches!(bound::flow_bound(&problem(lonely, Kind::AllToAll), &LIMIT), Err(FlowError::Disconnected(_))));
    let small = FlowLimit::of_size(5);
    let too_large = bound::flow_bound(&problem_of(Kind::AllToAll), &small);
    assert!(matches!(too_large, Err(FlowError::TooLarge { most: 5, symmetries: 128, .. })));
    let hurried = FlowLimit { solver: Limit::NONE.within(Duration::ZERO), ..LIMIT };
    let late = bound::flow_bound(&problem(torus(&[4, 4], &[(0, 1)], &[]), Kind::AllToAll), &hurried);
    assert_eq!(late.unwrap_err(), FlowError::Solver(LpError::TimeLimit));
}

/// The solver asks before it begins and in each of its iterations.
#[test]
fn a_program_that_is_interrupted_proves_nothing() {
    let problem = problem(torus(&[4, 4], &[(0, 1), (5, 9)], &[]), Kind::AllToAll);
    for patience in [0, 3] {
        let limit = || {
            let asked = AtomicU32::new(0);
            let stop = move || asked.fetch_add(1, Ordering::Relaxed) >= patience;
            FlowLimit { solver: Limit::NONE.unless(stop), ..LIMIT }
        };
        let interrupted = FlowError::Solver(LpError::Interrupted);
        assert_eq!(bound::flow_bound(&problem, &limit()).unwrap_err(), interrupted);
        assert_eq!(bound::stepped_bound(&problem, 5, &limit()).unwrap_err(), interrupted);
    }
    // During planning, the bounds stay, and the planner gives up.
    let cuts = bound::find(&problem).unwrap();
    let control = Control::unlimited().with_interrupt(Arc::new(AtomicBool::new(true)));
    assert_eq!(control.limit().check(), Err(LpError::Interrupted));
    assert_eq!(SharperBounds::new(&problem, &cuts, &control).sharp(), &cuts);
    let goal = Goal { planner: Some(planner_named("negotiated").unwrap()), ..Goal::default() };
    let stopped = synthesize(problem.topology(), &Kind::AllToAll, &goal, &control);
    assert!(
        match &stopped {
            Ok(plan) => plan.stopped == StopReason::Interrupted,
            Err(error) => matches!(error, PlanError::Stopped { .. }),
        },
        "{stopped:?}"
    );
}

/// Whole messages: the least width at each number of steps, by another solver of the same program.
#[test]
fn steps_and_volume_are_bounded_jointly() {
    type Row = (&'static [u32], &'static [(u32, u32)], &'static [(u32, f64)]);
    let table: &[Row] = &[
        (&[4, 4], &[(0, 1)], &[(4, 64.0 / 7.0)]),
        (&[3, 3], &[(5, 3), (8, 6)], &[(3, 4.5), (4, 4.5)]),
        (&[7, 3], &[(0, 1)], &[(4, 22.5), (5, 21.6)]),
        (&[4, 4], &[(0, 1), (1, 2), (1, 5), (12, 13), (12, 15)], &[(5, 19.0), (6, 15.2), (7, 15.0), (8, 15.0)]),
        (&[4, 4], &[(4, 5), (5, 6), (5, 9), (0, 1), (12, 13)], &[(5, 20.0), (6, 16.0), (7, 15.0)]),
    ];
    for &(extents, cables, frontier) in table {
        let problem = problem(torus(extents, cables, &[]), Kind::AllToAll);
        for &(steps, expected) in frontier {
            let bound = bound::stepped_bound(&problem, steps, &LIMIT).unwrap();
            let near = |value: f64| (value - expected).abs() <= ROUNDING * expected;
            assert!(
                near(bound.optimum) && near(decimal(bound.proven.at_least)),
                "{extents:?}, {steps} steps: {bound:?}"
            );
            let proven = &bound.proven;
            assert_eq!(
                (proven.steps, stepped_value(&problem, steps, proven.rank, &proven.weights)),
                (steps, Ok(proven.at_least))
            );
            assert!(near(bound.widths.iter().sum()));
        }
        let few = bound::stepped_bound(&problem, frontier[0].0 - 1, &LIMIT);
        assert_eq!(few.unwrap_err(), FlowError::Solver(LpError::Infeasible));
    }
    // From or to a root, in as many steps as the distance, and with slack.
    let ring = || Topology::torus(&[5]).unwrap();
    for kind in [Kind::Scatter(RankId(0)), Kind::Gather(RankId(0))] {
        let problem = problem(ring(), kind);
        assert_eq!(bound::stepped_bound(&problem, 2, &LIMIT).unwrap().proven.at_least, 2.into());
    }
}

/// What must reach one rank, or leave it, by hand: on a ring of `k`, in as many steps as half of it, a chunk moves in
/// every step, so the links of rank 0 and of the rank opposite, and those between them, carry each half of what they
/// must.
#[test]
fn steps_and_volume_of_copies_and_sums_are_bounded_jointly() {
    let root = || RankId(0);
    for kind in [Kind::Broadcast(root()), Kind::Reduce(root()), Kind::AllReduce] {
        for (extent, steps, volume) in [(4, 2, Rational::from(1)), (6, 3, Rational::new(3, 2)), (5, 2, 2.into())] {
            let problem = problem(torus(&[extent], &[], &[]), kind.clone());
            let bound = bound::stepped_bound(&problem, steps, &LIMIT).unwrap();
            assert_eq!(bound.proven.at_least, volume, "{} on a ring of {extent}", kind.name());
            check_joint(&problem, &bound.proven).unwrap();
            let few = bound::stepped_bound(&problem, steps - 1, &LIMIT);
            assert_eq!(few.unwrap_err(), FlowError::Solver(LpError::Infeasible));
        }
    }
    // Shards: rank 0 receives the farthest in the last step and the others before.
    for kind in [Kind::AllGather, Kind::ReduceScatter, Kind::AllReduceGathered] {
        let problem = problem(torus(&[5], &[], &[]), kind);
        assert_eq!(bound::stepped_bound(&problem, 2, &LIMIT).unwrap().proven.at_least, 2.into());
    }
    let barrier = bound::stepped_bound(&problem(torus(&[4], &[], &[]), Kind::Barrier), 2, &LIMIT);
    assert_eq!(barrier.unwrap_err(), FlowError::NoVolume);
}

/// The proof of a schedule that has the least volume in its steps, or the fewest steps at its volume.
#[test]
fn schedules_are_proven_to_be_the_best_of_their_steps() {
    let cables = [(0, 1), (1, 2), (1, 5), (12, 13), (12, 15)];
    let problem = problem(torus(&[4, 4], &cables, &[]), Kind::AllToAll);
    let bounds = bound::find(&problem).unwrap();
    assert_eq!((bounds.least_steps(), bounds.least_width(1)), (5, 15));
    for (steps, width, expected) in [
        (5, 19, &[5][..]),
        (5, 20, &[5]),
        (6, 16, &[5, 6]),
        // The flow in 6 steps proves no more than 15.2.
        (6, 18, &[5, 6]),
        (6, 19, &[6]),
        (7, 15, &[6]),
        (8, 15, &[]),
    ] {
        let joint = bound::joint_bounds(&problem, &bounds, steps, width, &LIMIT);
        joint.iter().for_each(|bound| check_joint(&problem, bound).unwrap());
        assert_eq!(joint.iter().map(|bound| bound.steps).collect::<Vec<_>>(), expected, "{steps}/{width}");
    }
    assert_eq!(bound::joint_bounds(&problem, &bounds, 5, 19, &FlowLimit::of_size(9)), []);
}

/// With the same weights in every step, and enough steps, a metric proves as much as without steps.
#[test]
fn weights_that_do_not_change_prove_what_a_metric_proves() {
    let problem = problem(torus(&[4, 4], &[(0, 1), (5, 9)], &[]), Kind::AllToAll);
    let links = problem.topology().live_links().map(|id| *problem.topology().link(id)).enumerate();
    let weights: Vec<_> = links.map(|(number, link)| (link.from, link.to, number as u32 * 7 % 5)).collect();
    let metric = value(&problem, &Evidence::metric(weights.clone())).unwrap();
    let stepped = |steps| {
        let window = |&(from, to, weight): &_| Window { from, to, first: 1, last: steps, weight };
        stepped_value(&problem, steps, None, &weights.iter().map(window).collect::<Vec<_>>())
    };
    assert_eq!(stepped(16), Ok(metric));
    assert!(stepped(4).unwrap() >= metric);
    assert!(matches!(stepped(3), Err(CertificateError::OutOfReach { steps: 3, .. })));
    assert_eq!(stepped_value(&problem, 16, None, &[]), Err(CertificateError::NoWeight));
}

#[test]
fn planning_sharpens_the_bounds_of_cuts_when_it_matters() {
    let cables = [(16, 24), (20, 28), (27, 3), (9, 11), (1, 3), (18, 19), (8, 9), (29, 5)];
    let problem = problem(torus(&[2, 4, 4], &cables, &[]), Kind::AllToAll);
    let volume = |bounds: &Bounds| bounds.volume.as_ref().unwrap().at_least;
    let cuts = bound::find(&problem).unwrap();
    let control = Control::unlimited();
    let bounds = SharperBounds::new(&problem, &cuts, &control);
    assert!(volume(bounds.known()) < Rational::new(388, 21));
    assert_eq!(volume(bounds.sharp()), Rational::new(388, 21));
    assert_eq!(volume(bounds.known()), Rational::new(388, 21));
    // Without time, or without a program of this kind, the bounds stay as they are.
    let late = Control::unlimited().with_deadline(Instant::now());
    assert_eq!(SharperBounds::new(&problem, &cuts, &late).sharp(), &cuts);
    let problem = problem_of(Kind::AllGather);
    let cuts = bound::find(&problem).unwrap();
    assert_eq!(SharperBounds::new(&problem, &cuts, &control).sharp(), &cuts);
}

fn problem_of(kind: Kind) -> Problem {
    problem(Topology::torus(&[4, 4]).unwrap(), kind)
}
