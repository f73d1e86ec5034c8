//! What the verifier reports of a schedule that holds (chunks held at a time, orders of addition): hand-worked cases,
//! and planned schedules against a second, naive implementation of both definitions.

use std::collections::{BTreeMap, BTreeSet};

use collsynth::certificate::Bounds;
use collsynth::collective::{ChunkId, Collective, Combining, Demand, Kind};
use collsynth::plan::{Control, Goal, Parts, synthesize};
use collsynth::problem::Problem;
use collsynth::schedule::{Op, Schedule, Solution};
use collsynth::topology::{RankId, Topology, TopologySpec};
use collsynth::verify::{Observed, Options, Peak, Sums, verify};

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
fn planned_schedules_agree_with_the_definitions() {
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
                let observed = observe(&plan.problem, &plan.schedule);
                let naive = naive(&plan.problem, &plan.schedule);
                assert_eq!(observed.held, naive.0, "{} in {parts} on {extents:?}", kind.name());
                let sums = observed.sums.as_ref().map(|sums| (sums.chunks, sums.alike, sums.orders, sums.depth));
                assert_eq!(sums, naive.1, "{} in {parts} on {extents:?}", kind.name());
            }
        }
    }
}

/// A value at a rank: the steps in which it is there, and the additions that made it.
struct Value {
    rank: RankId,
    /// The first step: 0 for initial values, the step after the addition for sums.
    since: usize,
    /// The last step in which it is sent or added to; for arrivals at least the step they arrive in.
    used: Option<usize>,
    tree: Tree,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Tree {
    Leaf(RankId),
    Sum(Box<[Tree; 2]>),
}

impl Tree {
    fn sum(a: Self, b: Self) -> Self {
        Self::Sum(Box::new(if a <= b { [a, b] } else { [b, a] }))
    }

    fn depth(&self) -> u32 {
        match self {
            Self::Leaf(_) => 0,
            Self::Sum(both) => 1 + both[0].depth().max(both[1].depth()),
        }
    }
}

type NaiveSums = Option<(u32, u32, u32, u32)>;

/// Step by step, with a list of all values ever held.
fn naive(problem: &Problem, schedule: &Schedule) -> (Peak, NaiveSums) {
    let (mut values, mut at): (Vec<Value>, BTreeMap<(RankId, ChunkId), usize>) = Default::default();
    let live = |rank: &RankId| problem.topology().is_alive(*rank);
    let all_ranks = || (0..problem.topology().rank_count() as u32).map(RankId).filter(live);
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        for rank in problem.holders(problem.rule(chunk).before) {
            at.insert((rank, chunk), values.len());
            values.push(Value { rank, since: 0, used: None, tree: Tree::Leaf(rank) });
        }
    }
    for (now, step) in schedule.steps().enumerate().map(|(index, step)| (index + 1, step)) {
        let before = at.clone();
        for transfer in step.transfers {
            for &chunk in schedule.chunks(transfer) {
                values[before[&(transfer.from, chunk)]].used = Some(now);
            }
        }
        for transfer in step.transfers {
            for &chunk in schedule.chunks(transfer) {
                let (rank, sent) = (transfer.to, values[before[&(transfer.from, chunk)]].tree.clone());
                let arrived = values.len();
                values.push(Value { rank, since: now, used: Some(now), tree: sent.clone() });
                match at.get(&(rank, chunk)) {
                    Some(&there) if transfer.op == Reduce => {
                        values[there].used = Some(now);
                        let tree = Tree::sum(values[there].tree.clone(), sent);
                        let sum = Value { rank, since: now + 1, used: None, tree };
                        at.insert((rank, chunk), values.len());
                        values.push(sum);
                    }
                    _ => {
                        at.insert((rank, chunk), arrived);
                    }
                }
            }
        }
    }
    let steps = schedule.step_count();
    let (mut finals, mut chunks, mut alike): (BTreeSet<Tree>, _, _) = (BTreeSet::new(), 0, 0);
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(chunk);
        let holders: Vec<RankId> =
            problem.holders(rule.after).filter(|rank| at.contains_key(&(*rank, chunk))).collect();
        for rank in &holders {
            values[at[&(*rank, chunk)]].used = Some(steps + 1);
        }
        if rule.combining == Combining::Sum && !holders.is_empty() {
            let trees: BTreeSet<Tree> = holders.iter().map(|rank| values[at[&(*rank, chunk)]].tree.clone()).collect();
            chunks += 1;
            alike += u32::from(trees.len() == 1);
            finals.extend(trees);
        }
    }
    let mut best: Option<Peak> = None;
    for rank in all_ranks() {
        for now in 0..=steps {
            let lies =
                |value: &&Value| value.rank == rank && value.used.is_some_and(|used| used >= now) && value.since <= now;
            let held = values.iter().filter(lies).count() as u64;
            if best.is_none_or(|best| held > best.chunks) {
                best = Some(peak(held, rank.0, Some(now as u32).filter(|&now| now > 0)));
            }
        }
    }
    let depth = finals.iter().map(Tree::depth).max().filter(|&depth| depth > 0);
    (best.unwrap(), depth.map(|depth| (chunks, alike, finals.len() as u32, depth)))
}
