//! Runs of a program in any interleaving: how far they get, and with which values.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::file::{Operation, ProgramFile};
use super::orders::Place;
use super::slots::{Layout, Slot};
use crate::dice::Dice;
use crate::naive::problem::task::Combining;

/// What stands in a slot. `None`: never written.
pub type Sum = Option<Added>;

/// A value: one contribution, or several that were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// How often each contribution, a chunk and a rank, is in it.
    pub of: BTreeMap<(usize, usize), u64>,
    /// The code of the first addition that made no sense.
    pub fault: Option<&'static str>,
    /// Both sides of an addition already made no sense, for different reasons: neither was first.
    pub torn: bool,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// For each rank and worker, the operations it finished.
    pub finished: Vec<Vec<usize>>,
    /// What stands in the slots that were written.
    pub memory: BTreeMap<(usize, Slot), Sum>,
    flying: Vec<usize>,
}

/// The memory before the first operation.
pub fn beginning(layout: &Layout) -> BTreeMap<(usize, Slot), Sum> {
    let mut memory = BTreeMap::new();
    for (number, chunk) in layout.task.chunks.iter().enumerate() {
        for &rank in &chunk.before {
            let slot = layout.memory(rank, ('i', layout.before(rank, number)));
            memory.insert((rank, slot), Some(Added { of: [((number, rank), 1)].into(), ..Added::default() }));
        }
    }
    memory
}

/// A run in which the dice say who goes on next.
pub fn run(file: &ProgramFile, layout: &Layout, dice: &mut Dice) -> Ending {
    let mut finished: Vec<Vec<usize>> = file.workers.iter().map(|workers| vec![0; workers.len()]).collect();
    let mut memory = beginning(layout);
    let mut flying: Vec<VecDeque<Vec<Sum>>> = vec![VecDeque::new(); file.channels.len()];
    let workers: Vec<_> = (0..file.workers.len())
        .flat_map(|rank| (0..file.workers[rank].len()).map(move |worker| (rank, worker)))
        .collect();
    loop {
        let ready: Vec<_> = workers
            .iter()
            .copied()
            .filter(|&(rank, worker)| {
                let next = file.workers[rank][worker].get(finished[rank][worker]);
                next.is_some_and(|operation| {
                    let waits = operation.wait.is_some_and(|(other, number)| finished[rank][other] <= number);
                    let hungry = operation.receives.is_some_and(|channel| flying[channel].is_empty());
                    let full =
                        operation.sends.is_some_and(|channel| flying[channel].len() >= file.channels[channel].slots);
                    !waits && !hungry && !full
                })
            })
            .collect();
        if ready.is_empty() {
            return Ending { finished, memory, flying: flying.iter().map(VecDeque::len).collect() };
        }
        let (rank, worker) = *dice.pick(&ready);
        let operation = &file.workers[rank][worker][finished[rank][worker]];
        let packet = operation.receives.map(|channel| flying[channel].pop_front().expect("a packet is there"));
        let result = perform(layout, rank, operation, packet, &mut memory);
        if let Some(channel) = operation.sends {
            flying[channel].push_back(result);
        }
        finished[rank][worker] += 1;
    }
}

/// Carries out an operation, and returns what it would send.
fn perform(
    layout: &Layout,
    rank: usize,
    operation: &Operation,
    packet: Option<Vec<Sum>>,
    memory: &mut BTreeMap<(usize, Slot), Sum>,
) -> Vec<Sum> {
    let place =
        |first: Option<Slot>, at: usize| first.map(|(buffer, slot)| (rank, layout.memory(rank, (buffer, slot + at))));
    let read = |memory: &BTreeMap<(usize, Slot), Sum>, place| memory.get(&place).cloned().flatten();
    let mut result = Vec::new();
    for at in 0..operation.count {
        let received = packet.as_ref().and_then(|packet| packet.get(at).cloned().flatten());
        let source = place(operation.src, at).and_then(|place| read(memory, place));
        result.push(match &operation.op[..] {
            "recv" => received,
            "recv_reduce" => add(layout.task.combining, received, source),
            "reduce" => {
                let held = place(operation.dst, at).and_then(|place| read(memory, place));
                add(layout.task.combining, held, source)
            }
            _ => source,
        });
    }
    for (at, value) in result.iter().enumerate() {
        if let Some(place) = place(operation.dst, at) {
            memory.insert(place, value.clone());
        }
    }
    result
}

fn add(combining: Combining, one: Sum, other: Sum) -> Sum {
    let unwritten = one.is_none() || other.is_none();
    let (mut sum, other) = (one.unwrap_or_default(), other.unwrap_or_default());
    let chunks: BTreeSet<_> = sum.of.keys().chain(other.of.keys()).map(|(chunk, _)| chunk).collect();
    let fault = match unwritten {
        true => Some("D002"),
        false if chunks.len() > 1 => Some("P007"),
        false => (combining == Combining::Never).then_some("R003"),
    };
    sum.torn |= other.torn || sum.fault.zip(other.fault).is_some_and(|(one, other)| one != other);
    sum.fault = sum.fault.or(other.fault).or(fault);
    for (contribution, count) in other.of {
        let total: &mut u64 = sum.of.entry(contribution).or_default();
        *total = total.saturating_add(count);
    }
    Some(sum)
}

impl Ending {
    /// All workers finished, and all packets were received.
    pub fn is_whole(&self, file: &ProgramFile) -> bool {
        self.stuck(file).is_empty() && self.flying.iter().all(|&packets| packets == 0)
    }

    /// The workers that did not finish.
    pub fn stuck(&self, file: &ProgramFile) -> Vec<Place> {
        let mut stuck = Vec::new();
        for (rank, workers) in file.workers.iter().enumerate() {
            for (worker, operations) in workers.iter().enumerate() {
                if self.finished[rank][worker] < operations.len() {
                    stuck.push((rank, worker, self.finished[rank][worker]));
                }
            }
        }
        stuck
    }

    /// The workers of a rank that a stuck worker waits for, itself stuck.
    pub fn waits_for(&self, file: &ProgramFile, place: Place) -> Vec<Place> {
        let (rank, worker, number) = place;
        let operation = &file.workers[rank][worker][number];
        let uses = |place: &Place, end: &dyn Fn(&Operation) -> Option<usize>, channel| {
            file.workers[place.0][place.1][place.2..].iter().any(|operation| end(operation) == Some(channel))
        };
        let mut found = Vec::new();
        for other in self.stuck(file) {
            let waits =
                operation.wait.is_some_and(|(awaited, n)| (rank, awaited) == (other.0, other.1) && n >= other.2);
            let hungry = operation.receives.is_some_and(|c| self.flying[c] == 0 && uses(&other, &|o| o.sends, c));
            let full = operation
                .sends
                .is_some_and(|c| self.flying[c] >= file.channels[c].slots && uses(&other, &|o| o.receives, c));
            if waits || hungry || full {
                found.push(other);
            }
        }
        found
    }
}
