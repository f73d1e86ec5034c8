//! All-reduce of compressed values: near the sum, in little memory.

use collsynth::collective::Kind;
use collsynth::plan::{Control, Goal, Parts, planner_named, synthesize};
use collsynth::runtime::{
    Compressor, Gathering, Order, Quantized, ReduceOp, RunError, TopK, Trial, Uncompressed, threads,
};
use collsynth::schedule::Solution;
use collsynth::topology::{RankId, Topology};
use collsynth::verify::{Options, Verified};

use crate::support::machine::{PATIENCE, machines, plan, problem, verified};

const ELEMENTS: usize = 5000;
/// Bytes of a group of 1024 elements in 8 bits, with its scale.
const GROUP: u64 = 1028;

fn drawn(rank: RankId) -> Vec<f32> {
    (0..ELEMENTS).map(|at| ((at * 31 + rank.0 as usize * 17) % 201) as f32 / 100.0 - 1.0).collect()
}

/// The sums of all ranks, or each one's error.
fn sums<C: Compressor<f32>>(
    schedule: &Verified<Solution>,
    gathering: Gathering,
    compressor: impl Fn() -> C + Sync,
) -> Vec<Result<Vec<f32>, RunError>> {
    let outcome = threads::run(schedule, PATIENCE, |mut communicator| {
        let mut buffer = drawn(communicator.rank());
        communicator.all_reduce_gathered(&mut buffer, &mut compressor(), gathering).map(|()| buffer)
    });
    outcome.expect("communicators")
}

/// Is every sum off by at most this?
fn near(sums: &[Result<Vec<f32>, RunError>], within: f32) {
    for (rank, sum) in sums.iter().enumerate() {
        for (at, sum) in sum.as_ref().expect("it fits").iter().enumerate() {
            let exact: f32 = (0..sums.len() as u32).map(|rank| drawn(RankId(rank))[at]).sum();
            assert!((sum - exact).abs() <= within, "element {at} of rank {rank}: {sum} for {exact}");
        }
    }
}

fn ring(ranks: u32, planner: &str) -> Verified<Solution> {
    let topology = Topology::torus(&[ranks]).expect("a ring");
    let goal = Goal { planner: Some(planner_named(planner).unwrap()), parts: Parts::Fixed(1), ..Goal::default() };
    let plan = synthesize(&topology, &Kind::AllReduceGathered, &goal, &Control::unlimited()).expect("a plan");
    Verified::<Solution>::new(plan.into(), &Options::default()).expect("it holds")
}

#[test]
fn sums_are_near_and_by_rank_the_same_everywhere() {
    let schedule = verified(&problem(&[2, 3], Kind::AllReduceGathered, 2));
    let rounding = 6.0 * 0.5 / 127.0 + 1e-5;
    for memory_limit in [None, Some(60_000), Some(40_000)] {
        let by_rank = sums(&schedule, Gathering { order: Order::ByRank, memory_limit }, Quantized::default);
        near(&by_rank, rounding);
        let first = by_rank[0].as_ref().expect("it fits");
        assert!(by_rank.iter().all(|sum| sum.as_ref().is_ok_and(|sum| sum == first)), "limit {memory_limit:?}");
        near(&sums(&schedule, Gathering { order: Order::AsTheyCome, memory_limit }, Quantized::default), rounding);
    }
}

#[test]
fn on_a_ring_two_compressed_pieces_are_held_at_a_time() {
    for ranks in [3, 5, 8] {
        let schedule = ring(ranks, "ring_gather");
        let gathering = |limit| Gathering { order: Order::AsTheyCome, memory_limit: Some(limit) };
        // What is being sent on, and what arrives.
        let error = sums(&schedule, gathering(1), Quantized::default).swap_remove(0).expect_err("too little memory");
        let RunError::Memory { chunks, needed, limit } = error else { panic!("{error}") };
        assert_eq!((chunks, needed, limit), (2, 2 * GROUP, 1));
        near(&sums(&schedule, gathering(needed), Quantized::default), ranks as f32 * 0.5 / 127.0 + 1e-5);
        let refused = sums(&schedule, gathering(needed - 1), Quantized::default);
        assert!(refused.iter().any(|sum| matches!(sum, Err(RunError::Memory { .. }))));
    }
}

#[test]
fn every_small_machine_in_every_order() {
    for topology in machines() {
        for parts in [1, 3] {
            let Ok(schedule) = plan(&topology, Kind::AllReduceGathered, parts) else { continue };
            for order in [Order::ByRank, Order::AsTheyCome] {
                for block in [0, 1, 1023, 5000] {
                    let trial = Trial::<i32>::new(&schedule.problem, block, ReduceOp::Sum, 1);
                    let checked = threads::run(&schedule, PATIENCE, |mut communicator| {
                        let mut buffers = trial.buffers(communicator.rank());
                        let gathering = Gathering { order, memory_limit: None };
                        let mut compressor = Uncompressed(ReduceOp::Sum);
                        communicator
                            .all_reduce_gathered(&mut buffers.output, &mut compressor, gathering)
                            .expect("the call succeeds");
                        trial.check(communicator.rank(), &buffers.output)
                    });
                    assert!(checked.expect("communicators").into_iter().all(|checked| checked == Ok(())));
                }
            }
        }
    }
}

#[test]
fn the_largest_numbers_arrive_as_they_are_and_the_rest_in_later_calls() {
    let schedule = verified(&problem(&[4], Kind::AllReduceGathered, 1));
    // All that is not sent in the first calls comes in later ones, which have nothing new to send.
    let outcome = threads::run(&schedule, PATIENCE, |mut communicator| {
        let mut compressor = TopK::new(256);
        let mut total = vec![0.0; ELEMENTS];
        let mut buffer = drawn(communicator.rank());
        for _ in 0..4 {
            communicator.all_reduce_gathered(&mut buffer, &mut compressor, Gathering::default()).expect("it fits");
            total.iter_mut().zip(&buffer).for_each(|(total, sum)| *total += sum);
            buffer.fill(0.0);
        }
        Ok(total)
    });
    near(&outcome.expect("communicators"), 1e-5);
}
