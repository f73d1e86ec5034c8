//! Rank programs on real buffers: those that hold in every interleaving give the results of plain arithmetic.

use collsynth::audit::{self, AuditedProgram};
use collsynth::collective::Kind;
use collsynth::format::{json, msccl};
use collsynth::lower::{Target, lower};
use collsynth::program::{Barriers, Program};
use collsynth::runtime::{Communicator, ReduceOp, RunError, Runnable, Trial, tcp, threads};
use collsynth::topology::RankId;

use super::run;
use crate::support::machine::{PATIENCE, kinds, problem, small_schedules, verified};

fn audited(program: Program) -> AuditedProgram {
    AuditedProgram::new(program, &audit::AuditOptions::default()).expect("it holds")
}

#[test]
fn every_planner_on_every_small_machine_lowered() {
    for (name, schedule) in small_schedules() {
        let ranks = schedule.problem.topology().rank_count();
        let plain = Target::default();
        let wishes = [
            plain,
            Target { in_place: true, ..plain },
            Target { slots: Some(1), ..plain },
            Target { barriers: Barriers::Neighbor, ..plain },
            Target { barriers: Barriers::Global, ..plain },
        ];
        for goal in wishes {
            let Ok(program) = lower(&schedule, &goal) else { continue };
            // With few slots, a program may deadlock; then it is not run.
            let Ok(program) = AuditedProgram::new(program, &audit::AuditOptions::default()) else { continue };
            let result = std::panic::catch_unwind(|| {
                run::<i32>(&program, &[ranks - 1, ranks + 1], ReduceOp::Sum, 1);
            });
            assert!(result.is_ok(), "{name}, {goal:?}");
        }
    }
}

#[test]
fn the_same_bits_as_the_schedule_and_every_time() {
    for kind in [Kind::AllReduce, Kind::ReduceScatter, Kind::Reduce(RankId(3))] {
        let schedule = verified(&problem(&[3, 3], kind, 2));
        let program = audited(lower(&schedule, &Target::default()).expect("it can be lowered"));
        let outputs = |runnable: Runnable<'_>| -> Vec<Vec<f32>> {
            let run = run::<f32>(runnable, &[1003], ReduceOp::Sum, 5);
            run.into_iter().flatten().map(|buffers| buffers.output).collect()
        };
        let first = outputs((&program).into());
        assert!(first == outputs((&program).into()), "repeatable");
        assert!(first == outputs((&schedule).into()), "a program adds as its schedule does");
    }
}

#[test]
fn a_million_and_three_elements() {
    for kind in kinds(4) {
        let schedule = verified(&problem(&[2, 2], kind, 3));
        let program = audited(lower(&schedule, &Target::default()).expect("it can be lowered"));
        run::<f32>(&program, &[1_000_003], ReduceOp::Sum, 4);
    }
}

#[test]
fn over_tcp() {
    for kind in kinds(6) {
        let schedule = verified(&problem(&[2, 3], kind, 2));
        let program = audited(lower(&schedule, &Target::default()).expect("it can be lowered"));
        let trial = Trial::<f32>::new(&program.problem, 1001, ReduceOp::Sum, 6);
        let checked = tcp::run_on_loopback(&program, PATIENCE, |mut communicator| {
            let mut buffers = trial.buffers(communicator.rank());
            trial.call(&mut communicator, &mut buffers).expect("the call succeeds");
            trial.check(communicator.rank(), &buffers.output)
        });
        assert!(checked.expect("communicators").into_iter().all(|checked| checked == Ok(())));
    }
}

#[test]
fn what_was_written_for_msccl() {
    let mut count = 0;
    for kind in kinds(6) {
        let schedule = verified(&problem(&[2, 3], kind, 2));
        let program = lower(&schedule, &Target::default()).expect("it can be lowered");
        let Ok(text) = msccl::to_string(&program, msccl::Dialect::Rccl) else { continue };
        let root = schedule.problem.collective().kind.root().unwrap_or(RankId(0)).0;
        let mut read = msccl::parse(&text, &msccl::Unsaid { root: Some(root), slots: 8, ..msccl::Unsaid::default() })
            .expect("it is read back");
        let (_, program) = read.programs.remove(0);
        run::<i64>(&audited(program), &[1, 1000], ReduceOp::Sum, 7);
        count += 1;
    }
    assert!(count > 5, "kinds that MSCCL XML can say");
}

/// Written by hand: programs unlike those of lowering.
const ODD: &[&str] = &[
    // Local sums, a copy before an overwrite, slots never written, useless messages, two channels between the same
    // ranks received in another order than sent.
    r#"{"format": "rank-program/1", "ranks": 2, "collective": {"kind": "all_reduce", "parts": 2},
        "channels": [{"from": 0, "to": 1, "slots": 1}, {"from": 0, "to": 1, "slots": 2},
          {"from": 1, "to": 0, "slots": 2}],
        "programs": [
          {"scratch": 3, "workers": [[
            {"op": "send", "channel": 0, "src": ["i", 0]},
            {"op": "send", "channel": 1, "src": ["s", 2]},
            {"op": "send", "channel": 1, "src": ["i", 1]},
            {"op": "recv", "channel": 2, "dst": ["s", 0], "count": 2},
            {"op": "reduce", "src": ["i", 0], "dst": ["s", 0], "count": 2},
            {"op": "copy", "src": ["s", 0], "dst": ["o", 0], "count": 2}]]},
          {"scratch": 3, "workers": [[
            {"op": "send", "channel": 2, "src": ["i", 0], "count": 2},
            {"op": "recv", "channel": 1, "dst": ["s", 2]},
            {"op": "recv_reduce", "channel": 1, "src": ["i", 1], "dst": ["o", 1]},
            {"op": "recv", "channel": 0, "dst": ["o", 0]},
            {"op": "copy", "src": ["i", 0], "dst": ["s", 0]},
            {"op": "reduce", "src": ["s", 0], "dst": ["o", 0]}]]}]}"#,
    // In place: a rank keeps its own value in scratch while the output is overwritten, and sends it afterwards.
    r#"{"format": "rank-program/1", "ranks": 2, "collective": {"kind": "all_reduce", "parts": 1}, "in_place": true,
        "channels": [{"from": 0, "to": 1, "slots": 1}, {"from": 1, "to": 0, "slots": 1}],
        "programs": [
          {"scratch": 1, "workers": [[
            {"op": "copy", "src": ["o", 0], "dst": ["s", 0]},
            {"op": "recv_reduce", "channel": 1, "src": ["i", 0], "dst": ["o", 0]},
            {"op": "send", "channel": 0, "src": ["s", 0]}]]},
          {"scratch": 0, "workers": [[
            {"op": "send", "channel": 1, "src": ["i", 0]},
            {"op": "recv_reduce", "channel": 0, "src": ["o", 0], "dst": ["o", 0]}]]}]}"#,
    // Three messages at once on a channel of three slots, and one forwarded.
    r#"{"format": "rank-program/1", "ranks": 3, "collective": {"kind": "broadcast", "root": 0, "parts": 4},
        "in_place": true,
        "channels": [{"from": 0, "to": 1, "slots": 4}, {"from": 1, "to": 2, "slots": 1}],
        "programs": [
          {"workers": [[
            {"op": "send", "channel": 0, "src": ["o", 3]},
            {"op": "send", "channel": 0, "src": ["o", 0]},
            {"op": "send", "channel": 0, "src": ["o", 1]},
            {"op": "send", "channel": 0, "src": ["o", 2]}]]},
          {"workers": [[
            {"op": "recv", "channel": 0, "dst": ["o", 3], "forward": 1},
            {"op": "recv", "channel": 0, "dst": ["o", 0], "forward": 1},
            {"op": "recv", "channel": 0, "dst": ["o", 1], "forward": 1},
            {"op": "recv", "channel": 0, "dst": ["o", 2], "forward": 1}]]},
          {"workers": [[
            {"op": "recv", "channel": 1, "dst": ["o", 3]},
            {"op": "recv", "channel": 1, "dst": ["o", 0]},
            {"op": "recv", "channel": 1, "dst": ["o", 1]},
            {"op": "recv", "channel": 1, "dst": ["o", 2]}]]}]}"#,
];

#[test]
fn programs_that_no_schedule_is_lowered_to() {
    for text in ODD {
        let program = audited(json::parse_program(text).unwrap_or_else(|error| panic!("{error:?} in {text}")));
        run::<i32>(&program, &[0, 1, 2, 3, 1001], ReduceOp::Sum, 3);
        run::<i32>(&program, &[200_003], ReduceOp::Product, 3);
    }
}

#[test]
fn what_is_refuted_is_given_back() {
    let text = ODD[0].replace("\"dst\": [\"o\", 1]", "\"dst\": [\"s\", 1]");
    let program = json::parse_program(&text).expect("it can be read");
    let refuted = AuditedProgram::new(program, &audit::AuditOptions::default()).expect_err("it does not hold");
    assert!(refuted.to_string().contains("rank 1 must have chunk 1"), "{refuted}");
}

#[test]
fn ranks_with_different_programs_are_told() {
    let programs = [0, 1].map(|which| {
        let text = ODD[0].replace(
            "\"channel\": 1, \"dst\": [\"s\", 2]",
            &format!("\"channel\": 1, \"dst\": [\"s\", {}]", 2 - which),
        );
        audited(json::parse_program(&text).expect("it can be read"))
    });
    let ends = threads::network(2, Runnable::from(&programs[0]).pairs(), PATIENCE);
    let results: Vec<Result<(), RunError>> = std::thread::scope(|scope| {
        let start = |(end, program)| scope.spawn(move || Communicator::new(end, program).map(drop));
        let handles: Vec<_> = ends.into_iter().zip(&programs).map(start).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect()
    });
    assert!(results.iter().any(|result| matches!(result, Err(RunError::OtherSchedule { .. }))), "{results:?}");
}
