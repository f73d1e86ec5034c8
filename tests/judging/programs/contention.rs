//! Freedom from contention: programs that keep the promise of their barriers are proven free of it, others refused;
//! against a naive search for paths from operation to operation.

use std::collections::BTreeMap;

use collsynth::audit::{AuditOptions, ProgramCode, audit};
use collsynth::collective::{Collective, Kind};
use collsynth::lower::{Target, lower};
use collsynth::problem::Problem;
use collsynth::program::{Barriers, Channel, Operation, Program, ProgramBuilder, Slot};
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;

use super::edit::Draft;
use super::{codes, judge, program};
use crate::support::machine;

/// May two transfers be on one link at a time? Looks at every pair, and searches for every operation that follows
/// another.
fn is_shared(program: &Program) -> bool {
    let operations = program.operations();
    let mut after = vec![Vec::new(); operations.len()];
    let mut packets: BTreeMap<u32, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for worker in 0..program.worker_count() {
        let range = program.range(worker);
        let first_worker = program.workers(program.rank_of(worker)).start;
        for number in range.clone() {
            if number > range.start {
                after[number - 1].push(number);
            }
            match operations[number] {
                Operation::Send { channel, .. } => packets.entry(channel).or_default().0.push(number),
                Operation::Receive { channel, forward, .. } => {
                    packets.entry(channel).or_default().1.push(number);
                    if let Some(forward) = forward {
                        packets.entry(forward).or_default().0.push(number);
                    }
                }
                Operation::Wait { worker, operation } => {
                    after[program.range(first_worker + worker as usize).start + operation as usize].push(number);
                }
                _ => {}
            }
        }
    }
    let mut links: BTreeMap<(RankId, RankId), Vec<(usize, usize)>> = BTreeMap::new();
    for (&channel, (sends, receives)) in &packets {
        assert_eq!(sends.len(), receives.len());
        sends.iter().zip(receives).for_each(|(&send, &receive)| after[send].push(receive));
        let has_slots = |&(&send, _): &(&usize, &usize)| match operations[send] {
            Operation::Send { count, .. } | Operation::Receive { count, .. } => count > 0,
            _ => unreachable!(),
        };
        let data: Vec<(&usize, &usize)> = sends.iter().zip(receives).filter(has_slots).collect();
        let stated = &program.transfers[channel as usize];
        let counts = if stated.is_empty() { vec![1; data.len()] } else { stated.clone() };
        let mut rest = data.as_slice();
        for count in counts {
            let (own, others) = rest.split_at(count as usize);
            let ends = program.channels[channel as usize];
            links.entry((ends.from, ends.to)).or_default().push((*own[0].0, *own[own.len() - 1].1));
            rest = others;
        }
        assert!(rest.is_empty());
    }
    let reaches = |from: usize, to: usize| {
        let (mut seen, mut stack) = (vec![false; operations.len()], vec![from]);
        while let Some(at) = stack.pop() {
            for &next in &after[at] {
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push(next);
                }
            }
        }
        seen[to]
    };
    links.values().any(|transfers| {
        let pairs = transfers
            .iter()
            .enumerate()
            .flat_map(|(at, one)| transfers[at + 1..].iter().map(move |other| (one, other)));
        pairs.into_iter().any(|(one, other)| !reaches(one.1, other.0) && !reaches(other.1, one.0))
    })
}

fn is_refused(program: &Program) -> bool {
    match codes(&judge(program)).as_slice() {
        [] => false,
        [ProgramCode::P008] => true,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_barriers_promise_is_proven() {
    let (mut proven, mut refused) = (0, 0);
    for (name, schedule) in machine::small_schedules().into_iter().step_by(5) {
        for barriers in Barriers::ALL {
            let Ok(program) = lower(&schedule, &Target { barriers, ..Target::default() }) else { continue };
            assert_eq!(program.contention_free, barriers != Barriers::None, "{name}");
            let report = audit(&program, &AuditOptions { contention_free: true, ..AuditOptions::default() });
            let holds = report.verdict() == Verdict::Holds;
            assert_eq!(holds, !is_shared(&program), "{name}, {barriers:?}: {report:#?}");
            assert!(holds || !program.contention_free, "{name}");
            *(if holds { &mut proven } else { &mut refused }) += 1;
        }
    }
    assert!(proven > 100 && refused > 20, "{proven} proven, {refused} refused");
}

/// Takes out, in turn, every token of a barrier, and every wait.
#[test]
fn a_barrier_with_a_hole_is_found() {
    let (mut tokens, mut waits, mut holes, mut stuck) = (0, 0, 0, 0);
    for barriers in [Barriers::Neighbor, Barriers::Global] {
        for (extents, kind) in [(&[5][..], Kind::AllGather), (&[3, 3], Kind::AllToAll), (&[2, 4], Kind::AllReduce)] {
            let program = program(extents, kind, 1, Target { barriers, ..Target::default() });
            let draft = Draft::of(&program);
            for (rank, worker, number, operation) in draft.all() {
                let mut draft = draft.clone();
                match operation {
                    Operation::Send { channel, count: 0, .. } => {
                        // The answer to it: the receive of the same number on the channel.
                        let is_sent =
                            |one: &&Operation| matches!(one, Operation::Send { channel: at, .. } if *at == channel);
                        let index = draft.workers[rank][worker][..number].iter().filter(is_sent).count();
                        let all = draft.all();
                        let mut received = all.iter().filter(
                            |(.., one)| matches!(one, Operation::Receive { channel: at, .. } if *at == channel),
                        );
                        let &(to, other, place, _) = received.nth(index).unwrap();
                        draft.remove(rank, worker, number);
                        draft.remove(to, other, place);
                        tokens += 1;
                    }
                    Operation::Wait { .. } => {
                        draft.remove(rank, worker, number);
                        waits += 1;
                    }
                    _ => continue,
                }
                let holed = draft.build();
                let report = judge(&holed);
                // Waits for the first operation of a worker now wait for the next one, perhaps forever.
                if codes(&report) == [ProgramCode::P003] {
                    stuck += 1;
                    continue;
                }
                let found = report.totals().any(|(code, _)| code == ProgramCode::P008);
                assert!(
                    report.totals().all(|(code, _)| [ProgramCode::P004, ProgramCode::P008].contains(&code)),
                    "{report:#?}"
                );
                assert_eq!(found, is_shared(&holed), "{report:#?}");
                holes += usize::from(found);
            }
        }
    }
    let words = format!("{holes} holes of {tokens} tokens and {waits} waits, {stuck} stuck");
    assert!(tokens > 100 && waits > 500 && holes > 300 && stuck < 50, "{words}");
}

#[test]
fn a_claim_is_held_to_its_words() {
    let mut draft = Draft::of(&program(&[4], Kind::AllGather, 1, Target::default()));
    assert!(!is_refused(&draft.build()), "nothing is claimed");
    draft.claim = Some(vec![Vec::new(); 8]);
    let report = judge(&draft.build());
    assert_eq!(codes(&report), [ProgramCode::P008]);
    let message = &report.violations[0].message;
    assert!(
        message.starts_with("two transfers may be on the link from rank ")
            && message.contains(" does not come after rank ")
    );
    draft.claim = Some(vec![vec![7]; 8]);
    let report = judge(&draft.build());
    assert!(report.violations[0].message.contains("its transfers are stated to have 7"), "{report:#?}");
}

/// Two channels over one cable: kept apart by an answer, or not.
#[test]
fn channels_share_a_link() {
    let build = |answered: bool| {
        let problem =
            Problem::new(Topology::torus(&[2]).unwrap(), Collective { kind: Kind::Broadcast(RankId(0)), parts: 2 });
        let mut builder = ProgramBuilder::new(problem.unwrap(), true, true);
        for (from, to) in [(0, 1), (0, 1), (1, 0)] {
            builder.channel(Channel { from: RankId(from), to: RankId(to), via: None, slots: 1 });
        }
        let token = |channel| Operation::Send { channel, src: Slot::input(0), count: 0 };
        let heard = |channel| Operation::Receive { channel, add: None, dst: None, forward: None, count: 0 };
        let receive = |channel| Operation::Receive {
            channel,
            add: None,
            dst: Some(Slot::output(channel)),
            forward: None,
            count: 1,
        };
        builder.rank(0).worker().operation(Operation::Send { channel: 0, src: Slot::input(0), count: 1 });
        if answered {
            builder.operation(heard(2));
        }
        builder.operation(Operation::Send { channel: 1, src: Slot::input(1), count: 1 });
        builder.rank(0).worker().operation(receive(0));
        if answered {
            builder.operation(token(2));
        }
        builder.operation(receive(1));
        builder.contention_free(vec![Vec::new(); 3]);
        builder.finish(Barriers::None)
    };
    for answered in [true, false] {
        let program = build(answered);
        assert_eq!((is_refused(&program), is_shared(&program)), (!answered, !answered));
    }
}
