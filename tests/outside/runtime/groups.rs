//! Collectives in groups on real buffers: groups of unequal sizes, a failed member, ranks that only relay.

use collsynth::audit::{AuditOptions, AuditedProgram};
use collsynth::collective::{Demand, Groups, Kind};
use collsynth::lower::{Target, lower};
use collsynth::runtime::{Communicator, ReduceOp, RunError, Runnable, Trial, tcp, threads};
use collsynth::schedule::Solution;
use collsynth::topology::RankId;
use collsynth::verify::Verified;

use super::run;
use crate::support::machine::{self, PATIENCE};
use crate::support::plans::torus;

/// On 3x3 without the cable from rank 0 to rank 1, and without rank 5: two groups that need each other's ranks, and
/// ranks in no group.
fn schedules() -> Vec<(&'static str, Verified<Solution>)> {
    let members = [&[1, 0, 2][..], &[8, 5, 3, 4]].map(|ranks| ranks.iter().copied().map(RankId).collect()).to_vec();
    let topology = torus(&[3, 3], &[(0, 1)], &[5]);
    let groups = Groups::new(members).expect("groups");
    let kinds = Kind::every(RankId(0), Demand::default()).into_iter();
    let carried_out = |kind: &Kind| kind.demand().is_none() && !kind.reduces_afterwards();
    let planned = |kind: Kind| {
        let schedule = machine::plan(&topology, kind.in_groups(groups.clone()), 2).expect("a plan");
        (schedule.problem.collective().kind.name(), schedule)
    };
    kinds.filter(carried_out).map(planned).collect()
}

/// Do ranks in no group move anything?
fn relays(schedule: &Verified<Solution>) -> bool {
    let member = |rank| schedule.problem.groups().is_some_and(|groups| groups.place(rank).is_some());
    schedule.schedule.transfers().iter().any(|transfer| !member(transfer.from))
}

#[test]
fn every_kind_in_groups_gives_what_plain_arithmetic_gives() {
    let schedules = schedules();
    assert!(schedules.iter().filter(|(_, schedule)| relays(schedule)).count() >= 3, "ranks in no group relay");
    for (name, schedule) in &schedules {
        let result = std::panic::catch_unwind(|| {
            run::<i32>(schedule, &[0, 1, 7], ReduceOp::Sum, 1);
            run::<f32>(schedule, &[1003], ReduceOp::Max, 2);
        });
        assert!(result.is_ok(), "{name}");
    }
}

#[test]
fn rank_programs_in_groups() {
    for (name, schedule) in schedules() {
        for target in [Target::default(), Target { slots: Some(1), ..Target::default() }] {
            let program = lower(&schedule, &target).expect("it can be lowered");
            let Ok(program) = AuditedProgram::new(program, &AuditOptions::default()) else {
                assert!(target.slots.is_some(), "{name}");
                continue;
            };
            run::<i64>(&program, &[5, 100], ReduceOp::Sum, 3);
        }
    }
}

#[test]
fn groups_over_tcp() {
    for (name, schedule) in schedules() {
        let trial = Trial::<f32>::new(&schedule.problem, 501, ReduceOp::Sum, 6);
        let checked = tcp::run_on_loopback(&schedule, PATIENCE, |mut communicator| {
            let mut buffers = trial.buffers(communicator.rank());
            trial.call(&mut communicator, &mut buffers).expect("the call succeeds");
            trial.check(communicator.rank(), &buffers.output)
        });
        assert!(checked.expect("communicators").into_iter().all(|checked| checked == Ok(())), "{name}");
    }
}

#[test]
fn members_and_relays_are_told_apart() {
    let (_, schedule) = schedules().into_iter().find(|(name, _)| *name == "all_reduce").expect("planned");
    let outcome = threads::run(&schedule, PATIENCE, |mut communicator| {
        let (mut member, relay) = ([1_i32; 4], RankId(6));
        match communicator.rank() {
            rank if rank == relay => {
                let error = communicator.all_reduce::<i32>(&mut [], ReduceOp::Sum).unwrap_err();
                assert!(matches!(error, RunError::Relay { .. }), "{error}");
            }
            RankId(0) => {
                let error = communicator.relay::<i32>(4, ReduceOp::Sum).unwrap_err();
                assert!(matches!(error, RunError::Member { .. }), "{error}");
            }
            _ => {}
        }
        // Refused calls leave the connections as they were.
        match schedule.problem.groups().and_then(|groups| groups.place(communicator.rank())) {
            Some(_) => communicator.all_reduce(&mut member, ReduceOp::Sum).expect("a call"),
            None => communicator.relay::<i32>(4, ReduceOp::Sum).expect("a call"),
        }
        member[0]
    });
    // Groups of three, and of three that are left of four.
    let sums = outcome.expect("communicators");
    assert!(sums.iter().all(|&sum| sum == 3 || sum == 1), "{sums:?}");
    assert_eq!(sums.iter().filter(|&&sum| sum == 3).count(), 6);
}

#[test]
fn gathered_sums_in_groups_are_refused() {
    let groups = Groups::new(vec![vec![RankId(0), RankId(1)], vec![RankId(2)]]).expect("groups");
    let kind = Kind::AllReduceGathered.in_groups(groups);
    let schedule = machine::plan(&torus(&[3], &[], &[]), kind, 1).expect("a plan");
    let errors = machine::on_transports(&schedule, PATIENCE, |transport| {
        Communicator::new(transport, Runnable::from(&schedule)).map(|_| ()).unwrap_err()
    });
    assert!(errors.iter().all(|error| matches!(error, RunError::GatheredInGroups)), "{errors:?}");
}
