//! Wrong programs, each with its verdict; and what is left of changed ones.

use collsynth::audit::{AuditOptions, ProgramCode};
use collsynth::collective::{Collective, Kind};
use collsynth::format::json::{parse_program, program_to_string};
use collsynth::lower::Target;
use collsynth::problem::Problem;
use collsynth::program::{Barriers, Channel, Operation, Program, ProgramBuilder, Slot};
use collsynth::shrink::{Whole, shrink_program};
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth_judging_kit::dice::Dice;
use collsynth_judging_kit::mutate;
use collsynth_judging_kit::naive::reader::to_text;

use super::edit::Draft;
use super::{codes, judge, program};

/// Two ranks that reduce their vectors into both, each with one worker.
fn pair(slots: u32, operations: impl Fn(u32) -> Vec<Operation>) -> Program {
    let collective = Collective { kind: Kind::AllReduce, parts: 2 };
    let problem = Problem::new(Topology::torus(&[2]).unwrap(), collective).unwrap();
    let mut builder = ProgramBuilder::new(problem, true, false);
    for (from, to) in [(0, 1), (1, 0)] {
        builder.channel(Channel { from: RankId(from), to: RankId(to), via: None, slots });
    }
    for rank in 0..2 {
        builder.rank(0).worker();
        for operation in operations(rank) {
            builder.operation(operation);
        }
    }
    builder.finish(Barriers::None)
}

fn send(rank: u32, part: u32) -> Operation {
    Operation::Send { channel: rank, src: Slot::input(part), count: 1 }
}

fn add(rank: u32, part: u32) -> Operation {
    let (add, dst) = (Some(Slot::input(part)), Some(Slot::output(part)));
    Operation::Receive { channel: 1 - rank, add, dst, forward: None, count: 1 }
}

#[test]
fn one_slot_less_gets_stuck() {
    let both = |slots| pair(slots, |rank| vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)]);
    assert_eq!(judge(&both(2)).verdict(), Verdict::Holds);
    let report = judge(&both(1));
    assert_eq!(codes(&report), [ProgramCode::P003]);
    let message = &report.violations[0].message;
    assert_eq!(report.violations.len(), 1);
    for words in [
        "rank 0, worker 0, operation 1 (send input 1 to rank 1 on channel 0) waits for room in channel 0 (its only \
         slot is full) from rank 1, worker 0",
        "rank 1, worker 0, operation 1 (send input 1 to rank 0 on channel 1)",
    ] {
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn swapped_operations_get_stuck_or_mix_chunks() {
    let stuck = pair(2, |rank| vec![add(rank, 0), send(rank, 0), send(rank, 1), add(rank, 1)]);
    assert_eq!(codes(&judge(&stuck)), [ProgramCode::P003]);
    let mixed = pair(2, |rank| {
        let sends = if rank == 0 { [send(rank, 1), send(rank, 0)] } else { [send(rank, 0), send(rank, 1)] };
        [sends[0], sends[1], add(rank, 0), add(rank, 1)].to_vec()
    });
    let report = judge(&mixed);
    assert_eq!(codes(&report), [ProgramCode::P007]);
    assert!(report.violations[0].message.contains("added chunks 0 and 1"), "{report:#?}");
}

#[test]
fn a_missing_receive_is_unmatched() {
    let program = pair(2, |rank| match rank {
        0 => vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)],
        _ => vec![send(rank, 0), send(rank, 1), add(rank, 0)],
    });
    let report = judge(&program);
    assert_eq!(codes(&report), [ProgramCode::P001]);
    assert!(report.violations[0].message.contains("1 packet on channel 0 is never received"), "{report:#?}");
    let missing_send = pair(2, |rank| match rank {
        0 => vec![send(rank, 0), add(rank, 0), add(rank, 1)],
        _ => vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)],
    });
    let report = judge(&missing_send);
    assert_eq!(codes(&report), [ProgramCode::P001]);
    assert!(report.violations[0].message.contains("no more sends on channel 0"), "{report:#?}");
}

#[test]
fn a_doubled_reduction_is_counted() {
    let program = pair(2, |rank| {
        let mut operations = vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)];
        if rank == 1 {
            operations.push(Operation::Reduce { src: Slot::input(1), dst: Slot::output(1), count: 1 });
        }
        operations
    });
    let report = judge(&program);
    assert_eq!(codes(&report), [ProgramCode::R001]);
    let words =
        "rank 1 must have chunk 1 in output 1, but counts rank 1's 2 times; first at rank 1, worker 0, operation 4";
    assert!(report.violations[0].message.contains(words), "{report:#?}");
}

#[test]
fn wrong_offsets() {
    let beyond = pair(2, |rank| vec![send(rank, 0), send(rank, 2), add(rank, 0), add(rank, 1)]);
    assert_eq!(codes(&judge(&beyond)), [ProgramCode::P006]);
    let repeated = pair(2, |rank| vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 0)]);
    assert_eq!(codes(&judge(&repeated)), [ProgramCode::P007, ProgramCode::D002]);
}

#[test]
fn lengths_must_agree() {
    let program = pair(2, |rank| {
        let mut operations = vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)];
        if let (1, Operation::Receive { count, .. }) = (rank, &mut operations[2]) {
            *count = 2;
        }
        operations
    });
    assert_eq!(codes(&judge(&program)), [ProgramCode::P002]);
}

/// Every wait of a lowered program is needed, or follows from the others: without it there is a race, or nothing is
/// lost.
#[test]
fn dropped_waits_are_races() {
    let program = program(&[5], Kind::AllToAll, 2, Target::default());
    let draft = Draft::of(&program);
    let (mut races, mut harmless) = (0, 0);
    for (rank, worker, number, operation) in draft.all() {
        if matches!(operation, Operation::Wait { .. }) {
            let mut draft = draft.clone();
            draft.remove(rank, worker, number);
            match codes(&judge(&draft.build())).as_slice() {
                [] => harmless += 1,
                [ProgramCode::P004] => races += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(races > 5 && races > harmless, "{races} races, {harmless} harmless");
}

/// Rank 0 reads a slot in one worker and writes it in another; rank 1 passes on the permission.
#[test]
fn an_order_by_way_of_another_rank_counts() {
    let build = |told: bool| {
        let problem = Problem::new(Topology::torus(&[2]).unwrap(), Collective::new(Kind::AllReduce)).unwrap();
        let mut builder = ProgramBuilder::new(problem, true, true);
        for (from, to) in [(0, 1), (1, 0)] {
            builder.channel(Channel { from: RankId(from), to: RankId(to), via: None, slots: 1 });
        }
        let slot = Slot::input(0);
        builder.rank(0).worker().operation(Operation::Send { channel: 0, src: slot, count: 1 });
        let receive = |channel, add| Operation::Receive { channel, add, dst: Some(slot), forward: None, count: 1 };
        builder.worker().operation(receive(1, None));
        builder.rank(0);
        let answer = Operation::Send { channel: 1, src: slot, count: 1 };
        if told {
            builder.worker().operation(receive(0, Some(slot))).operation(answer);
        } else {
            builder.worker().operation(answer).worker().operation(receive(0, Some(slot)));
        }
        builder.finish(Barriers::None)
    };
    assert_eq!(judge(&build(true)).verdict(), Verdict::Holds);
    let report = judge(&build(false));
    assert_eq!(codes(&report), [ProgramCode::P004]);
    assert!(report.violations[0].message.starts_with("race on input 0: rank 0, worker 0"), "{report:#?}");
}

#[test]
fn a_worker_that_waits_for_itself() {
    let program =
        pair(2, |_| vec![Operation::Wait { worker: 0, operation: 1 }, Operation::Wait { worker: 0, operation: 0 }]);
    let report = judge(&program);
    assert_eq!(codes(&report), [ProgramCode::P003]);
    assert_eq!(report.violation_count(), 2, "one circle at each rank");
    assert!(report.violations[0].message.contains("waits for rank 0, worker 0"), "{report:#?}");
}

#[test]
fn a_channel_has_one_worker_at_each_end() {
    let mut draft = Draft::of(&pair(2, |rank| vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)]));
    let last = draft.workers[0][0].remove(1);
    draft.workers[0].push(vec![last]);
    assert_eq!(codes(&judge(&draft.build())), [ProgramCode::P005]);
}

#[test]
fn what_is_left_of_a_wrong_program_is_needed() {
    let stuck = pair(1, |rank| vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)]);
    let shrunk = shrink_program(&stuck, &AuditOptions::default(), &|| false).unwrap();
    // Two packets where there is room for one, and a receiver of the first, at both ends.
    assert_eq!((shrunk.finding.code, shrunk.items, shrunk.is_minimal), (ProgramCode::P003, (8, 6), true));
    let sound = pair(2, |rank| vec![send(rank, 0), send(rank, 1), add(rank, 0), add(rank, 1)]);
    assert!(matches!(shrink_program(&sound, &AuditOptions::default(), &|| false), Err(Whole::Holds)));

    let (mut all, mut left, mut seen) = (0, 0, std::collections::BTreeSet::new());
    let programs =
        [program(&[4], Kind::AllToAll, 2, Target::default()), program(&[2, 2], Kind::AllReduce, 2, Target::default())];
    for seed in 0..300 {
        let mut file = serde_json::from_str(&program_to_string(&programs[seed as usize % 2])).unwrap();
        mutate::change_program(&mut Dice::from_seed(seed), &mut file);
        let Ok(wrong) = parse_program(&to_text(&file)) else { continue };
        let report = judge(&wrong);
        let Ok(shrunk) = shrink_program(&wrong, &AuditOptions::default(), &|| false) else {
            assert_eq!(report.verdict(), Verdict::Holds);
            continue;
        };
        let code = report.violations[0].code;
        assert!(codes(&judge(&shrunk.smallest)).contains(&code) && shrunk.finding.code == code && shrunk.is_minimal);
        assert_eq!(shrunk.items.1, shrunk.smallest.operations().len());
        (all, left) = (all + shrunk.items.0, left + shrunk.items.1);
        seen.insert(code);
    }
    assert!(left * 8 < all && seen.len() >= 6, "{left} of {all}, {seen:?}");
}
