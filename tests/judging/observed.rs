//! What the verifier reports of a schedule that holds (chunks held at a time, orders of addition): hand-worked cases,
//! and planned schedules, of which the judging kit's naive judge must say the same.

use collsynth::certificate::Bounds;
use collsynth::collective::{ChunkId, Collective, Demand, Kind};
use collsynth::format::json::solution_to_string;
use collsynth::plan::{Control, Goal, Parts, synthesize};
use collsynth::problem::Problem;
use collsynth::schedule::{Op, Schedule, Solution};
use collsynth::topology::{RankId, Topology, TopologySpec};
use collsynth::verify::{Observed, Options, Peak, Sums, verify};
use collsynth_judging_kit::compare::agree;
use collsynth_judging_kit::naive;
use collsynth_judging_kit::naive::reader::from_text;

fn observe(problem: &Problem, schedule: &Schedule) -> Observed {
    let (problem, schedule) = (problem.clone(), schedule.clone());
    let report = verify(&Solution { problem, schedule, bounds: Bounds::default(), origin: None }, &Options::default());
    report.observed.unwrap_or_else(|| panic!("{:?}", report.violations))
}

/// A ring without failures and a schedule in steps of width 1; `(from, to, op, chunk)`.
fn ring(ranks: u32, kind: Kind, steps: &[&[(u32, u32, Op, u32)]]) -> (Problem, Schedule) {
    let mut builder = Schedule::builder();
    for step in steps {
        builder.step(1);
        for &(from, to, op, chunk) in *step {
            builder.transfer(RankId(from), RankId(to), None, op, [ChunkId(chunk)]);
        }
    }
    (Problem::new(Topology::torus(&[ranks]).unwrap(), Collective::new(kind)).unwrap(), builder.finish())
}

fn peak(chunks: u64, rank: u32, step: Option<u32>) -> Peak {
    Peak { chunks, rank: RankId(rank), step }
}

use Op::{Copy, Reduce};

#[test]
fn a_barrier_may_join_what_it_has_joined_before() {
    // Each step doubles the leaves of a tree of unions, which is no order of additions.
    let round: &[(u32, u32, Op, u32)] = &[(0, 1, Reduce, 0), (1, 2, Reduce, 0), (2, 0, Reduce, 0)];
    let (problem, schedule) = ring(3, Kind::Barrier, &[round; 80]);
    assert_eq!(observe(&problem, &schedule).sums, None);
}

#[test]
fn what_is_sent_for_the_last_time_is_dropped() {
    // Chunks 1 to 4 leave rank 0 in three steps; rank 1 passes chunk 2 on while it receives chunk 1.
    let (problem, schedule) = ring(
        5,
        Kind::Scatter(RankId(0)),
        &[&[(0, 1, Copy, 2), (0, 4, Copy, 3)], &[(1, 2, Copy, 2), (0, 1, Copy, 1), (4, 3, Copy, 3), (0, 4, Copy, 4)]],
    );
    assert_eq!(observe(&problem, &schedule), Observed { held: peak(5, 0, None), sums: None });
    // Rank 1 hands on what it has just sent away itself; rank 0 ends with all three.
    let (problem, schedule) =
        ring(3, Kind::Gather(RankId(0)), &[&[(2, 1, Copy, 2), (1, 0, Copy, 1)], &[(1, 0, Copy, 2)]]);
    let observed = observe(&problem, &schedule);
    assert_eq!(observed.held, peak(3, 0, Some(2)));
}

#[test]
fn arrivals_count_beside_what_they_are_added_to() {
    // Both neighbors of rank 0 add to it in one step: its own value and two arrivals.
    let (problem, schedule) = ring(3, Kind::Reduce(RankId(0)), &[&[(1, 0, Reduce, 0), (2, 0, Reduce, 0)]]);
    let sums = Sums { chunks: 1, alike: 1, orders: 1, depth: 2, first: "0+1+2".to_owned() };
    assert_eq!(observe(&problem, &schedule), Observed { held: peak(3, 0, Some(1)), sums: Some(sums) });
}

#[test]
fn ranks_that_add_for_themselves_get_different_bits() {
    let all_to_all: Vec<_> =
        (0..3).flat_map(|a| (0..3).filter(move |b| *b != a).map(move |b| (a, b, Reduce, 0))).collect();
    let (problem, schedule) = ring(3, Kind::AllReduce, &[&all_to_all]);
    let sums = observe(&problem, &schedule).sums.unwrap();
    assert_eq!((sums.alike, sums.orders, sums.depth), (0, 2, 2));
    // Pairs exchange what they have: a+b here is b+a there, the same bits, and so on.
    let exchange = [
        &[(0, 1, Reduce, 0), (1, 0, Reduce, 0), (2, 3, Reduce, 0), (3, 2, Reduce, 0)][..],
        &[(0, 3, Reduce, 0), (3, 0, Reduce, 0), (1, 2, Reduce, 0), (2, 1, Reduce, 0)],
    ];
    let (problem, schedule) = ring(4, Kind::AllReduce, &exchange);
    let sums = Sums { chunks: 1, alike: 1, orders: 1, depth: 2, first: "0+1+(2+3)".to_owned() };
    assert_eq!(observe(&problem, &schedule), Observed { held: peak(2, 0, Some(1)), sums: Some(sums) });
}

#[test]
fn nothing_is_told_of_a_schedule_that_does_not_hold() {
    let (problem, schedule) = ring(3, Kind::Broadcast(RankId(0)), &[&[(0, 1, Copy, 0)]]);
    let report = verify(&Solution { problem, schedule, bounds: Bounds::default(), origin: None }, &Options::default());
    assert_eq!(report.observed, None);
    let (problem, schedule) = ring(1, Kind::AllGather, &[]);
    assert_eq!(observe(&problem, &schedule), Observed { held: peak(1, 0, None), sums: None });
}

#[test]
fn both_judges_say_the_same_of_planned_schedules() {
    let root = RankId(1);
    let demand = |ranks: u32| Demand::new(ranks, &(0..ranks * ranks).map(|pair| pair * 7 % 4).collect::<Vec<_>>());
    let machines = [
        (&[5][..], &[(0, 1)][..], &[][..]),
        (&[2, 3], &[], &[]),
        (&[3, 3], &[(0, 1), (4, 5)], &[]),
        (&[4, 4], &[], &[5]),
        (&[2, 2, 3], &[(0, 1)], &[]),
    ];
    for (extents, cables, ranks) in machines {
        let spec = TopologySpec::torus(extents).without_cables(cables).without_ranks(ranks);
        let topology = Topology::new(spec).unwrap();
        for kind in Kind::every(root, demand(topology.rank_count() as u32).unwrap()) {
            for parts in [1, 5] {
                let goal = Goal { parts: Parts::Fixed(parts), ..Goal::default() };
                let plan = synthesize(&topology, &kind, &goal, &Control::unlimited()).unwrap();
                let text = solution_to_string(&Solution::from(plan));
                let file = from_text(&text).unwrap();
                let seen = agree(&file, &naive::judge(&file)).unwrap_or_else(|disagreement| panic!("{disagreement}"));
                let name = format!("{} in {parts} on {extents:?}", kind.name());
                assert_eq!(seen.verdict, "holds", "{name}");
                assert!(!seen.reached.contains(&"beyond a judge".to_owned()), "{name}");
            }
        }
    }
}
