//! Schedules on real buffers: whatever a planner plans gives the results of plain arithmetic.

mod compressed;
mod faults;
mod groups;
mod programs;
mod strangers;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::machine::{self, kinds, machines, problem, small_schedules, verified};
use collsynth::collective::Kind;
use collsynth::runtime::{
    Buffers, Communicator, Group, RankBuffers, ReduceOp, RunError, Runnable, Sample, Transport, Trial, tcp, threads,
};
use collsynth::schedule::Solution;
use collsynth::topology::RankId;
use collsynth::verify::Verified;
use half::{bf16, f16};
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};

/// Runs a schedule on threads, once for each length of blocks, on one set of communicators; checks every rank's output
/// and returns it. A group must give the same bits.
fn run<'a, E: Sample>(
    runnable: impl Into<Runnable<'a>>,
    blocks: &[usize],
    op: ReduceOp,
    seed: u64,
) -> Vec<Vec<Buffers<E>>> {
    let runnable = runnable.into();
    let trials: Vec<Trial<E>> = blocks.iter().map(|&block| Trial::new(runnable.problem(), block, op, seed)).collect();
    let outcome = threads::run(runnable, machine::PATIENCE, |mut communicator| {
        let one = |trial: &Trial<E>| {
            let rank = communicator.rank();
            let mut buffers = trial.buffers(rank);
            trial.call(&mut communicator, &mut buffers).expect("the call succeeds");
            if let Err(mismatch) = trial.check(rank, &buffers.output) {
                panic!("{} of {}: {mismatch}", runnable.problem().collective().kind.name(), E::DTYPE);
            }
            buffers
        };
        trials.iter().map(one).collect()
    });
    let outputs = outcome.expect("communicators");
    if let Ok(mut group) = Group::new(runnable) {
        for (number, trial) in trials.iter().enumerate() {
            let together = grouped(&mut group, trial).expect("the call succeeds");
            let same =
                |(one, other): (&Vec<Buffers<E>>, &Buffers<E>)| trial.same_bits(&one[number].output, &other.output);
            assert!(outputs.iter().zip(&together).all(same), "a group's bits");
        }
    }
    outputs
}

/// The buffers of all live ranks after a group's call.
fn grouped<E: Sample>(group: &mut Group, trial: &Trial<E>) -> Result<Vec<Buffers<E>>, RunError> {
    let mut all: Vec<Buffers<E>> = group.problem().topology().live_ranks().map(|rank| trial.buffers(rank)).collect();
    trial.call_group(group, &mut all)?;
    Ok(all)
}

/// Awkward lengths for this number of ranks.
fn awkward(ranks: usize) -> [usize; 5] {
    [0, 1, ranks - 1, ranks, ranks + 1]
}

#[test]
fn every_planner_on_every_small_machine() {
    for (name, schedule) in small_schedules() {
        let ranks = schedule.problem.topology().rank_count();
        let result = std::panic::catch_unwind(|| {
            run::<i32>(&schedule, &awkward(ranks), ReduceOp::Sum, 1);
            run::<f32>(&schedule, &[2 * ranks + 5], ReduceOp::Sum, 2);
        });
        assert!(result.is_ok(), "{name}");
    }
}

#[test]
fn every_type_and_operation() {
    fn check<E: Sample>(schedule: &Verified<Solution>) {
        for op in ReduceOp::ALL {
            run::<E>(schedule, &[37], op, 3);
        }
    }
    for kind in kinds(6) {
        let schedule = verified(&problem(&[2, 3], kind, 2));
        check::<f32>(&schedule);
        check::<f64>(&schedule);
        check::<f16>(&schedule);
        check::<bf16>(&schedule);
        check::<i32>(&schedule);
        check::<i64>(&schedule);
        check::<u8>(&schedule);
    }
}

#[test]
fn a_million_and_three_elements() {
    for kind in kinds(4) {
        let schedule = verified(&problem(&[2, 2], kind, 3));
        run::<f32>(&schedule, &[1_000_003], ReduceOp::Sum, 4);
    }
}

#[test]
fn the_same_bits_every_time() {
    for kind in [Kind::AllReduce, Kind::ReduceScatter, Kind::Reduce(RankId(3))] {
        let schedule = verified(&problem(&[3, 3], kind, 2));
        let first = run::<f32>(&schedule, &[10_007], ReduceOp::Sum, 5);
        let second = run::<f32>(&schedule, &[10_007], ReduceOp::Sum, 5);
        assert!(first == second);
    }
}

#[test]
fn over_tcp() {
    for kind in kinds(6) {
        let schedule = verified(&problem(&[2, 3], kind, 2));
        let trial = Trial::<f32>::new(&schedule.problem, 1001, ReduceOp::Sum, 6);
        let checked = tcp::run_on_loopback(&schedule, machine::PATIENCE, |mut communicator| {
            let mut buffers = trial.buffers(communicator.rank());
            trial.call(&mut communicator, &mut buffers).expect("the call succeeds");
            trial.check(communicator.rank(), &buffers.output)
        });
        assert!(checked.expect("communicators").into_iter().all(|checked| checked == Ok(())));
    }
}

#[test]
fn nobody_leaves_a_barrier_before_the_last_arrives() {
    for topology in machines() {
        let live = topology.live_rank_count();
        let Ok(schedule) = machine::plan(&topology, Kind::Barrier, 1) else { continue };
        let arrived = AtomicUsize::new(0);
        let seen = threads::run(&schedule, machine::PATIENCE, |mut communicator| {
            arrived.fetch_add(1, Ordering::SeqCst);
            communicator.barrier().map(|()| arrived.load(Ordering::SeqCst))
        });
        assert!(seen.expect("communicators").into_iter().all(|seen| seen.expect("a barrier") == live));
    }
}

#[test]
fn calls_that_do_not_fit_are_refused_and_touch_nothing() {
    let schedule = verified(&problem(&[3], Kind::AllToAll, 1));
    let outcome = threads::run(&schedule, machine::PATIENCE, |mut communicator| {
        let mut output = [7_i32; 6];
        let errors = [
            communicator.all_reduce(&mut output, ReduceOp::Sum).unwrap_err(),
            communicator.all_to_all(&[1; 6], &mut output[..5]).unwrap_err(),
            communicator.all_to_all(&[1; 3], &mut output).unwrap_err(),
        ];
        assert!(output == [7; 6] && errors.iter().all(|error| !error.output_is_undefined()));
        // The connections are as good as before.
        communicator.all_to_all(&[1; 6], &mut output).expect("this one fits");
        assert_eq!(output, [1; 6]);
        errors.map(|error| error.to_string())
    });
    let [kind, odd, short] = &outcome.expect("communicators")[0];
    assert_eq!(kind, "the schedule is for all_to_all, not for all_reduce");
    assert_eq!(odd, "the output has 5 elements; it must be a multiple of 3, a block for each rank");
    assert_eq!(short, "the input has 3 elements; it must have 6 (3 blocks of 2)");
}

#[test]
fn buffers_that_do_not_fit_a_group_are_refused_and_touched_by_nobody() {
    let schedule = verified(&problem(&[3], Kind::AllToAll, 1));
    let mut group = Group::new(&schedule).expect("a group");
    let mut refused = |inputs: &[usize], outputs: &[usize]| {
        let inputs: Vec<Vec<i32>> = inputs.iter().map(|&length| vec![1; length]).collect();
        let mut outputs: Vec<Vec<i32>> = outputs.iter().map(|&length| vec![7; length]).collect();
        let both = inputs.iter().zip(&mut outputs);
        let mut buffers: Vec<_> = both.map(|(input, output)| RankBuffers { input, output }).collect();
        let error = group.run(&mut buffers, ReduceOp::Sum).unwrap_err();
        assert!(!error.output_is_undefined() && outputs.iter().flatten().all(|&value| value == 7));
        error.to_string()
    };
    assert_eq!(refused(&[6; 2], &[6; 2]), "the list of buffers has 2 elements; it must have 3, one for each live rank");
    let odd = "rank 1: the output has 5 elements; it must be a multiple of 3, a block for each rank";
    assert_eq!(refused(&[6; 3], &[6, 5, 6]), odd);
    assert_eq!(refused(&[6; 3], &[6, 6, 3]), "rank 2: the output has 3 elements; it must have 6 (3 blocks of 2)");
    assert_eq!(refused(&[6, 6, 0], &[6; 3]), "rank 2: the input has 0 elements; it must have 6 (3 blocks of 2)");

    let barrier = Group::new(&verified(&problem(&[3], Kind::Barrier, 1))).unwrap_err();
    assert_eq!(barrier.to_string(), "a group has no calls for barrier: give each rank a communicator");
}

#[test]
fn a_group_on_any_number_of_threads() {
    let schedule = verified(&problem(&[3, 3], Kind::AllReduce, 2));
    let trial = Trial::<f32>::new(&schedule.problem, 200_003, ReduceOp::Sum, 8);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut group = Group::new(&schedule).expect("a group");
        pool.install(|| grouped(&mut group, &trial)).expect("the call succeeds")
    };
    let alone = on(1);
    assert!(alone.iter().zip(0..).all(|(one, rank)| trial.check(RankId(rank), &one.output) == Ok(())));
    assert!([2, 3, 8].into_iter().all(|threads| on(threads) == alone));
}

/// On one thread, a root that only sends gets ahead until its packets find no room.
#[test]
fn a_group_waits_for_room() {
    let schedule = verified(&problem(&[5], Kind::Broadcast(RankId(0)), 1));
    let trial = Trial::<u8>::new(&schedule.problem, 40 << 18, ReduceOp::Sum, 9);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let mut group = Group::new(&schedule).expect("a group");
    let all = pool.install(|| grouped(&mut group, &trial)).expect("the call succeeds");
    assert!(all.iter().zip(0..).all(|(one, rank)| trial.check(RankId(rank), &one.output) == Ok(())));
}

#[test]
fn ranks_that_make_different_calls_are_told() {
    let schedule = verified(&problem(&[4], Kind::AllReduce, 4));
    let outcome = threads::run(&schedule, machine::PATIENCE, |mut communicator| match communicator.rank().0 {
        0 => communicator.all_reduce(&mut [1_i32; 8], ReduceOp::Max),
        1 => communicator.all_reduce(&mut [1.0_f32; 8], ReduceOp::Sum),
        2 => communicator.all_reduce(&mut [1_i32; 9], ReduceOp::Sum),
        _ => communicator.all_reduce(&mut [1_i32; 8], ReduceOp::Sum),
    });
    let errors = outcome.expect("communicators");
    assert!(errors.iter().all(|error| matches!(error, Err(RunError::Step { .. }))), "{errors:?}");
}

#[test]
fn ranks_with_different_schedules_are_told() {
    let one = verified(&problem(&[4], Kind::AllReduce, 4));
    let other = verified(&problem(&[4], Kind::AllReduce, 8));
    let errors = machine::on_transports(&one, machine::PATIENCE, |transport| {
        let schedule = if transport.rank() == RankId(2) { &other } else { &one };
        Communicator::new(transport, schedule)
            .and_then(|mut communicator| communicator.all_reduce(&mut [1_i32; 8], ReduceOp::Sum))
    });
    for (rank, error) in errors.into_iter().enumerate() {
        let message = error.expect_err("an error").to_string();
        assert!(message.contains("has another schedule") || message.contains("closed"), "rank {rank}: {message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_length_in_any_number_of_parts(
        extent_x in 1_u32..5, extent_y in 1_u32..4, kind in 0_usize..11, parts in 1_u32..6, block in 0_usize..300,
        seed in any::<u64>(),
    ) {
        let kind = kinds(extent_x * extent_y).swap_remove(kind);
        let schedule = verified(&problem(&[extent_x, extent_y], kind, parts));
        run::<i64>(&schedule, &[block, 1], ReduceOp::Sum, seed);
        run::<bf16>(&schedule, &[block], ReduceOp::Sum, seed);
        prop_assert!(true);
    }
}
