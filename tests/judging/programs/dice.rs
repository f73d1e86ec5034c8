//! Programs run by throwing dice: any worker that can go on may be next. Written plainly, for comparison with the
//! audit.

use std::collections::{BTreeMap, VecDeque};

use collsynth::collective::{ChunkId, Combining, Holders};
use collsynth::program::{Operation, Program, Slot};
use collsynth::topology::RankId;

/// What a slot holds: for each chunk and rank, how often its contribution is in it.
type Value = BTreeMap<(u32, u32), u32>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every rank has the chunks it needs.
    Right,
    /// It ended with other values.
    Wrong,
    /// No worker can go on, but not all have finished.
    Stuck,
    /// A packet met a receive of another length.
    Torn,
}

/// One run. The program must name only what exists.
pub fn throw(program: &Program, seed: u64) -> Ending {
    let mut dice = fastrand::Rng::with_seed(seed);
    let problem = &program.problem;
    let layouts: Vec<_> = (0..program.rank_count() as u32).map(|rank| program.layout(RankId(rank))).collect();
    let mut places: Vec<Vec<Value>> = layouts.iter().map(|layout| vec![Value::new(); layout.place_count()]).collect();
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        for rank in problem.holders(problem.rule(chunk).before) {
            let layout = &layouts[rank.index()];
            let place = layout.place(layout.before(chunk).unwrap());
            places[rank.index()][place] = Value::from([((chunk.0, rank.0), 1)]);
        }
    }
    let mut queues: Vec<VecDeque<Vec<Value>>> = vec![VecDeque::new(); program.channels.len()];
    let mut next: Vec<usize> = (0..program.worker_count()).map(|worker| program.range(worker).start).collect();
    let full = |queues: &[VecDeque<Vec<Value>>], channel: u32| {
        queues[channel as usize].len() >= program.channels[channel as usize].slots as usize
    };
    loop {
        let able: Vec<usize> = (0..next.len())
            .filter(|&worker| next[worker] < program.range(worker).end)
            .filter(|&worker| match program.operations()[next[worker]] {
                Operation::Send { channel, .. } => !full(&queues, channel),
                Operation::Receive { channel, forward, .. } => {
                    !queues[channel as usize].is_empty() && !forward.is_some_and(|forward| full(&queues, forward))
                }
                Operation::Wait { worker: other, operation } => {
                    let target = program.workers(program.rank_of(worker)).start + other as usize;
                    next[target] > program.range(target).start + operation as usize
                }
                Operation::Copy { .. } | Operation::Reduce { .. } => true,
            })
            .collect();
        if able.is_empty() {
            break;
        }
        let worker = able[dice.usize(0..able.len())];
        let rank = program.rank_of(worker).index();
        let place = |slot: Slot, index: u32| layouts[rank].place(slot.plus(index).unwrap());
        match program.operations()[next[worker]] {
            Operation::Send { channel, src, count } => {
                let packet = (0..count).map(|index| places[rank][place(src, index)].clone()).collect();
                queues[channel as usize].push_back(packet);
            }
            Operation::Receive { channel, add, dst, forward, count } => {
                let mut packet = queues[channel as usize].pop_front().unwrap();
                if packet.len() != count as usize {
                    return Ending::Torn;
                }
                for (value, index) in packet.iter_mut().zip(0..) {
                    if let Some(add) = add {
                        *value = sum(value, &places[rank][place(add, index)]);
                    }
                    if let Some(dst) = dst {
                        places[rank][place(dst, index)] = value.clone();
                    }
                }
                if let Some(forward) = forward {
                    queues[forward as usize].push_back(packet);
                }
            }
            Operation::Copy { src, dst, count } => {
                for index in 0..count {
                    places[rank][place(dst, index)] = places[rank][place(src, index)].clone();
                }
            }
            Operation::Reduce { src, dst, count } => {
                for index in 0..count {
                    places[rank][place(dst, index)] =
                        sum(&places[rank][place(dst, index)], &places[rank][place(src, index)]);
                }
            }
            Operation::Wait { .. } => {}
        }
        next[worker] += 1;
    }
    let done = (0..next.len()).all(|worker| next[worker] == program.range(worker).end);
    if !done || queues.iter().any(|queue| !queue.is_empty()) {
        return Ending::Stuck;
    }
    let right = (0..problem.chunk_count()).map(ChunkId).all(|chunk| {
        let rule = problem.rule(chunk);
        let wanted: Value = problem.holders(rule.before).map(|rank| ((chunk.0, rank.0), 1)).collect();
        wanted.is_empty() && rule.before != Holders::Every
            || problem.holders(rule.after).all(|rank| {
                let layout = &layouts[rank.index()];
                let value = &places[rank.index()][layout.place(layout.after(chunk).unwrap())];
                match rule.combining {
                    Combining::Union => value.keys().eq(wanted.keys()),
                    _ => *value == wanted,
                }
            })
    });
    if right { Ending::Right } else { Ending::Wrong }
}

/// A slot that was never written spoils every sum.
fn sum(one: &Value, other: &Value) -> Value {
    const WORTHLESS: (u32, u32) = (u32::MAX, u32::MAX);
    if one.is_empty() || other.is_empty() {
        return Value::from([(WORTHLESS, 1)]);
    }
    let mut sum = one.clone();
    for (&key, &count) in other {
        *sum.entry(key).or_default() += count;
    }
    sum
}
