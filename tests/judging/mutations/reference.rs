//! A second verifier, slow and simple, written from the description of the format alone.
//!
//! It keeps, for each rank and chunk, a multiset of contributions, stops at the first violation, and shares no code
//! with the verifier: it derives chunk ids, holders and links anew.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use collsynth::collective::Kind;
use collsynth::schedule::Op;
use collsynth::verify::Code;

use super::plain::{Case, PlainStep, PlainTransfer};

/// How often each rank's contribution is in.
type Value = BTreeMap<u32, u32>;

/// By rank and chunk.
type State = HashMap<(u32, u32), Value>;

/// The first violation: its code, and its step unless it shows only at the end.
pub type Verdict = Result<(), (Code, Option<u32>)>;

/// A chunk: who has it, who must get it, whether it is moved, added or joined.
struct Chunk {
    before: Vec<u32>,
    after: Vec<u32>,
    manner: Manner,
}

#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Moved,
    Added,
    Joined,
}

/// Judges a case.
pub fn judge(case: &Case) -> Verdict {
    let chunks = chunks(case);
    let mut state: State = HashMap::new();
    for (id, chunk) in chunks.iter().enumerate() {
        for &rank in &chunk.before {
            state.insert((rank, id as u32), Value::from([(rank, 1)]));
        }
    }
    for (index, step) in case.steps.iter().enumerate() {
        state = run_step(case, &chunks, step, &state).map_err(|code| (code, Some(index as u32 + 1)))?;
    }
    let moves_nothing = case.steps.iter().all(|step| step.transfers.iter().all(|t| t.chunks.is_empty()));
    let must_move =
        chunks.iter().any(|chunk| chunk.before.iter().any(|&origin| chunk.after.iter().any(|&dest| dest != origin)));
    if moves_nothing && must_move {
        return Err((Code::F007, None));
    }
    for (id, chunk) in chunks.iter().enumerate().filter(|(_, chunk)| !chunk.before.is_empty()) {
        for &rank in &chunk.after {
            let Some(value) = state.get(&(rank, id as u32)) else {
                return Err((Code::D002, None));
            };
            if chunk.before.iter().any(|origin| !value.contains_key(origin)) {
                return Err((Code::R002, None));
            }
        }
    }
    Ok(())
}

/// The state after a step, or the first rule it breaks.
fn run_step(case: &Case, chunks: &[Chunk], step: &PlainStep, before: &State) -> Result<State, Code> {
    let mut busy = HashSet::new();
    for transfer in &step.transfers {
        let wire = wire_of(case, transfer)?;
        if !busy.insert(wire) {
            return Err(Code::L001);
        }
        if transfer.chunks.len() as u64 > u64::from(step.width) * u64::from(case.machine.wires[wire].capacity) {
            return Err(Code::L002);
        }
        if transfer.chunks.iter().any(|&chunk| chunk as usize >= chunks.len()) {
            return Err(Code::F005);
        }
        if transfer.chunks.iter().collect::<BTreeSet<_>>().len() < transfer.chunks.len() {
            return Err(Code::F006);
        }
    }
    let mut arrivals: BTreeMap<(u32, u32), Vec<(Op, &Value)>> = BTreeMap::new();
    for transfer in &step.transfers {
        for &chunk in &transfer.chunks {
            let value = before.get(&(transfer.from, chunk)).ok_or(Code::D001)?;
            if transfer.op == Op::Reduce && chunks[chunk as usize].manner == Manner::Moved {
                return Err(Code::R003);
            }
            arrivals.entry((transfer.to, chunk)).or_default().push((transfer.op, value));
        }
    }
    let mut after = before.clone();
    for (&(rank, chunk), arriving) in &arrivals {
        if arriving.len() > 1 && arriving.iter().any(|(op, _)| *op == Op::Copy) {
            return Err(Code::D003);
        }
        for &(op, value) in arriving {
            let held = after.entry((rank, chunk)).or_default();
            if op == Op::Copy {
                held.clone_from(value);
                continue;
            }
            for (&origin, &times) in value {
                *held.entry(origin).or_default() += times;
            }
            match chunks[chunk as usize].manner {
                Manner::Joined => held.values_mut().for_each(|times| *times = 1),
                _ if held.values().any(|&times| times > 1) => return Err(Code::R001),
                _ => {}
            }
        }
    }
    Ok(after)
}

/// The one live wire that a transfer can mean.
fn wire_of(case: &Case, transfer: &PlainTransfer) -> Result<usize, Code> {
    let machine = &case.machine;
    let exists = |rank: u32| rank < machine.ranks && machine.alive[rank as usize];
    if !exists(transfer.from) || !exists(transfer.to) {
        return Err(Code::T001);
    }
    let meant: Vec<usize> = (0..machine.wires.len())
        .filter(|&wire| (machine.wires[wire].from, machine.wires[wire].to) == (transfer.from, transfer.to))
        .filter(|&wire| transfer.via.is_none_or(|via| machine.wires[wire].way == Some(via)))
        .collect();
    match meant[..] {
        [wire] if machine.wires[wire].alive => Ok(wire),
        [_] => Err(Code::T003),
        _ => Err(Code::T002),
    }
}

/// The chunks in the order of their ids, failed ranks left out of the holders.
fn chunks(case: &Case) -> Vec<Chunk> {
    let all: Vec<u32> = (0..case.machine.ranks).collect();
    let mut chunks = Vec::new();
    let mut add = |count: u32, before: &[u32], after: &[u32], manner| {
        let live = |ranks: &[u32]| ranks.iter().copied().filter(|&rank| case.machine.alive[rank as usize]).collect();
        for _ in 0..count {
            chunks.push(Chunk { before: live(before), after: live(after), manner });
        }
    };
    let parts = case.parts;
    match &case.kind {
        Kind::AllToAll => all.iter().for_each(|&origin| {
            all.iter().for_each(|&dest| add(parts, &[origin], &[dest], Manner::Moved));
        }),
        Kind::AllToAllV(demand) => {
            for (pair, count) in demand.counts().enumerate() {
                let (origin, dest) = (pair as u32 / case.machine.ranks, pair as u32 % case.machine.ranks);
                add(count, &[origin], &[dest], Manner::Moved);
            }
        }
        Kind::AllGather | Kind::AllReduceGathered => {
            all.iter().for_each(|&origin| add(parts, &[origin], &all, Manner::Moved));
        }
        Kind::ReduceScatter => all.iter().for_each(|&dest| add(parts, &all, &[dest], Manner::Added)),
        Kind::AllReduce => add(parts, &all, &all, Manner::Added),
        Kind::Broadcast(root) => add(parts, &[root.0], &all, Manner::Moved),
        Kind::Reduce(root) => add(parts, &all, &[root.0], Manner::Added),
        Kind::Scatter(root) => all.iter().for_each(|&dest| add(parts, &[root.0], &[dest], Manner::Moved)),
        Kind::Gather(root) => all.iter().for_each(|&origin| add(parts, &[origin], &[root.0], Manner::Moved)),
        Kind::Barrier => add(1, &all, &all, Manner::Joined),
        Kind::InGroups(_) => unreachable!("generated for all ranks together"),
    }
    chunks
}
