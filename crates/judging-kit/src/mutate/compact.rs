//! Schedules in the compact form that hold, and changes to them.
//!
//! On the intact machine each chunk of rank 0 goes along a random tree, a link of it in each step; all translations of
//! that load all links of a direction alike. Chunks that meet a failure, and some others, are exceptions: they follow
//! when the pattern is over.

use serde_json::{Value, json};

use super::anywhere::{self, objects};
use super::{changes, groups, listings, machines, numbers, plans};
use crate::dice::Dice;
use crate::naive::problem::machine::Machine;
use crate::naive::problem::task::{Combining, Task};
use crate::naive::reader::Faults;
use crate::naive::schedule::compact::{Shift, expand};
use crate::naive::stated::file::File;

const TORI: [&[usize]; 10] = [&[3], &[2], &[4], &[5], &[2, 2], &[3, 2], &[3, 3], &[2, 4], &[1, 3], &[2, 2, 2]];
const KINDS: [&str; 5] = ["all_to_all", "all_gather", "all_reduce_gathered", "reduce_scatter", "all_reduce"];

/// A move of the pattern: step, link, chunk, and whether it is combined.
type Slot = (usize, usize, usize, bool);

/// A schedule in the compact form that holds.
pub fn file(dice: &mut Dice) -> Value {
    // Of three ranks, some receive from both others at once, and add in orders of their own.
    let exchanging = dice.chance(8);
    let extents = if exchanging { &[3] } else { *dice.pick(&TORI) };
    let (intact, failed) = machine(dice, extents);
    let machine = machines::read(&intact).expect("a machine was made");
    let broken = machines::read(&failed).expect("a machine was made");
    let ranks = machine.ranks();
    let kind = if exchanging { "all_reduce" } else { *dice.pick(&KINDS) };
    let parts = if kind == "all_reduce" { ranks * dice.between(1, 2) } else { dice.between(1, 2) };
    let collective = json!({"kind": kind, "parts": parts});
    let read = |machine: &Machine| Task::read(&collective, (None, None), Some(machine), &mut Faults::default());
    let (task, meant) = (read(&machine).expect("it fits"), read(&broken).expect("it fits"));
    let shift = Shift::of(&machine, &task).expect("the torus looks the same from every rank");
    let mut slots: Vec<Slot> = Vec::new();
    for chunk in (0..task.chunks.len()).filter(|&chunk| shift.owner(chunk) == 0) {
        match exchanging {
            true => slots.extend(exchange(dice, &machine, chunk)),
            false => slots.extend(routes(dice, &machine, &task, chunk)),
        }
    }
    let spoiled = |chunk: usize| {
        let home = shift.owner(chunk);
        // The rank that moves this chunk's owner back to rank 0 is the one whose sum with it is rank 0.
        let back = (0..ranks).find(|&by| shift.rank(home, by) == 0).unwrap_or(0);
        let first = shift.chunk(chunk, back);
        let crosses = |link: usize| {
            let link = &machine.links[link];
            let (from, to) = (shift.rank(link.from, home), shift.rank(link.to, home));
            !broken.links.iter().any(|l| l.live && (l.from, l.to, l.direction) == (from, to, link.direction))
        };
        let met = |part: &Vec<usize>| part.iter().any(|&rank| !broken.live[rank]);
        met(&task.chunks[chunk].before)
            || met(&task.chunks[chunk].after)
            || slots.iter().any(|&(_, link, moved, _)| moved == first && crosses(link))
    };
    let few = if dice.chance(50) { 0 } else { 10 };
    let exceptions: Vec<usize> = (0..task.chunks.len()).filter(|&chunk| spoiled(chunk) || dice.chance(few)).collect();
    let mut steps = pattern(dice, &machine, &task, &slots);
    let moves = plans::moves(dice, &broken, &meant, |chunk| exceptions.contains(&chunk));
    let later = plans::timetable(dice, &broken, moves);
    for mut step in plans::written(dice, &broken, &meant, later) {
        step["pattern"] = json!([]);
        steps.push(step);
    }
    let mut file = json!({
        "format": "collective-schedule/1", "topology": failed, "collective": collective,
        "exceptions": exceptions, "steps": steps,
    });
    if dice.chance(60) {
        repeat(dice, &mut file, &machine, &task, &shift);
    }
    if dice.chance(60) {
        alter(dice, &mut file);
    }
    file
}

/// Makes altered chunks of some, of exceptions too: the same schedule, in other words.
fn alter(dice: &mut Dice, file: &mut Value) {
    let mut bare = file.clone();
    bare["exceptions"] = json!([]);
    for step in objects(&mut bare["steps"]).into_iter().flatten() {
        step["transfers"] = json!([]);
    }
    let Some(made) = File::read(&bare).ok().as_ref().and_then(expand) else { return };
    let exceptions: Vec<u64> = file["exceptions"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let share = *dice.pick(&[10, 50, 100]);
    let mut altered = Vec::new();
    for chunk in 0..made.task.chunks.len() {
        if !dice.chance(share) {
            continue;
        }
        let is_exception = exceptions.contains(&(chunk as u64));
        for (at, step) in made.steps.iter().enumerate() {
            for transfer in step.transfers.iter().filter(|transfer| transfer.chunks.contains(&chunk)) {
                // An exception follows none of the pattern; of another chunk, a move is left out and made anyway.
                if !is_exception && dice.chance(50) {
                    continue;
                }
                let mut one = json!({"from": transfer.from, "to": transfer.to, "chunks": [chunk]});
                if transfer.reduce {
                    one["op"] = json!("reduce");
                }
                if let Some((dim, grows)) = transfer.via {
                    one["via"] = json!(machines::direction(dim, grows));
                }
                let Some(steps) = objects(&mut file["steps"]) else { return };
                let mut add = |key: &str| match steps[at][key].as_array_mut() {
                    Some(list) => list.push(one.clone()),
                    None => steps[at][key] = json!([one]),
                };
                add("without");
                if is_exception {
                    altered.push(chunk as u64);
                } else {
                    add("transfers");
                }
            }
        }
    }
    file["exceptions"] = json!(exceptions.into_iter().filter(|one| !altered.contains(one)).collect::<Vec<_>>());
}

/// States some chunks of the pattern by the cell instead: the same schedule, in other words.
fn repeat(dice: &mut Dice, file: &mut Value, machine: &Machine, task: &Task, shift: &Shift<'_>) {
    let extents = machine.torus.as_deref().unwrap_or_default();
    let divisor = |dice: &mut Dice, extent: usize| {
        let divisors: Vec<usize> = (1..=extent).filter(|part| extent.is_multiple_of(*part)).collect();
        *dice.pick(&divisors)
    };
    let period: Vec<u64> = extents.iter().map(|&extent| divisor(dice, extent) as u64).collect();
    if !machine.repeats(&period) {
        return;
    }
    let position = |rank: usize, dim: usize| (rank / extents[..dim].iter().product::<usize>() % extents[dim]) as u64;
    let first = |rank: usize| {
        let mut stride = 1;
        let mut number = 0;
        for (dim, &extent) in extents.iter().enumerate() {
            number += (position(rank, dim) % period[dim]) as usize * stride;
            stride *= extent;
        }
        number
    };
    let back = |rank: usize, to: usize| (0..machine.ranks()).find(|&by| shift.rank(rank, by) == to).expect("a torus");
    let share = *dice.pick(&[0, 30, 100]);
    let owned = |chunk: usize| first(shift.owner(chunk)) == shift.owner(chunk);
    let cell: Vec<usize> = (0..task.chunks.len()).filter(|&chunk| owned(chunk) && dice.chance(share)).collect();
    for step in objects(&mut file["steps"]).into_iter().flatten() {
        let mut transfers = Vec::new();
        for transfer in step["pattern"].as_array().into_iter().flatten() {
            let [from, to] = ["from", "to"].map(|key| transfer[key].as_u64().expect("a number") as usize);
            let of_rank_0 = transfer["chunks"].as_array().into_iter().flatten();
            let of_rank_0 = of_rank_0.filter_map(|value| task.chunk(value, &mut Faults::default()));
            let of_rank_0: Vec<usize> = of_rank_0.collect();
            for &chunk in &cell {
                let owner = shift.owner(chunk);
                if !of_rank_0.iter().any(|&one| shift.chunk(one, owner) == chunk) {
                    continue;
                }
                let (from, to) = (shift.rank(from, owner), shift.rank(to, owner));
                // As seen from where the sender is in the first cell.
                let by = back(from, first(from));
                let chunk = plans::chunk(dice, task, shift.chunk(chunk, by));
                let mut one = transfer.clone();
                (one["from"], one["to"]) = (json!(shift.rank(from, by)), json!(shift.rank(to, by)));
                one["chunks"] = json!([chunk]);
                transfers.push(one);
            }
        }
        step["cell"] = json!(transfers);
    }
    (file["period"], file["cell"]) = (json!(period), json!(cell));
}

/// One change; what does not apply leaves the file as it is.
pub fn change(dice: &mut Dice, file: &mut Value) {
    match dice.below(13) {
        0 => anywhere::change(dice, file),
        1 => numbers::change(dice, file),
        2 | 3 => exceptions(dice, file),
        4 if dice.chance(50) => machines::fail_switch(dice, &mut file["topology"]),
        4 => machines::fail(dice, &mut file["topology"]),
        5 => {
            let Some(steps) = objects(&mut file["steps"]) else { return };
            let at = dice.below(steps.len());
            match dice.chance(50) {
                true => steps[at]["pattern"] = json!([]),
                false => drop(steps[at].as_object_mut().map(|keys| keys.remove("pattern"))),
            }
        }
        6 if dice.chance(20) => groups::change(dice, file),
        7 if dice.chance(20) => drop(file.as_object_mut().map(|keys| keys.remove("exceptions"))),
        8 if dice.chance(50) => changes::change(dice, file),
        8 => swapped(dice, file, "without"),
        9 => cells(dice, file),
        12 => listings::change(dice, file),
        _ => swapped(dice, file, "pattern"),
    }
    for step in objects(&mut file["steps"]).into_iter().flatten() {
        step.as_object_mut().into_iter().for_each(|keys| keys.retain(|_, value| !value.is_null()));
    }
}

/// A change to what repeats with the period.
fn cells(dice: &mut Dice, file: &mut Value) {
    match dice.below(6) {
        0 => drop(file.as_object_mut().map(|keys| keys.remove("period"))),
        1 => drop(file.as_object_mut().map(|keys| keys.remove("cell"))),
        2 => file["period"] = dice.pick(&[json!([1]), json!([2, 1]), json!([0]), json!([2])]).clone(),
        3 => list(dice, &mut file["cell"]),
        _ => swapped(dice, file, "cell"),
    }
    file.as_object_mut().into_iter().for_each(|keys| keys.retain(|_, value| !value.is_null()));
}

/// A change to transfers, but to those under another key.
fn swapped(dice: &mut Dice, file: &mut Value, key: &str) {
    let swap = |file: &mut Value| {
        for step in objects(&mut file["steps"]).into_iter().flatten() {
            let (others, transfers) = (step[key].take(), step["transfers"].take());
            (step[key], step["transfers"]) = (transfers, others);
        }
    };
    swap(file);
    changes::change(dice, file);
    swap(file);
}

fn exceptions(dice: &mut Dice, file: &mut Value) {
    list(dice, &mut file["exceptions"]);
}

/// A change to a list of chunks.
fn list(dice: &mut Dice, list: &mut Value) {
    let Some(list) = list.as_array_mut() else { return };
    let any = json!(dice.below(24));
    let at = dice.below(list.len() + 1);
    match dice.below(4) {
        0 => list.insert(at, any),
        1 if list.len() > 1 => {
            let other = dice.below(list.len());
            list.swap(at.min(other), other);
        }
        _ if at < list.len() => drop(list.remove(at)),
        _ => list.push(any),
    }
    if dice.chance(70) {
        list.sort_by_key(Value::as_u64);
    }
}

/// A torus that looks the same from every rank, intact, and with failures that leave it connected.
fn machine(dice: &mut Dice, extents: &[usize]) -> (Value, Value) {
    let mut topology = json!({"torus": extents});
    if dice.chance(40) {
        topology["wrap"] = extents.iter().map(|&extent| extent > 2 || dice.chance(50)).collect();
    }
    if dice.chance(30) && extents.len() > 1 {
        let mut twisted = topology.clone();
        let (dim, other) = (dice.below(extents.len()), dice.below(extents.len()));
        let mut rows = vec![vec![0; extents.len()]; extents.len()];
        rows[dim][other] = dice.below(extents[other]);
        twisted["twist"] = json!(rows);
        if machines::read(&twisted).is_some() {
            topology = twisted;
        }
    }
    if dice.chance(30) {
        topology["capacity"] = extents.iter().map(|_| dice.between(1, 3)).collect();
    }
    let mut failed = topology.clone();
    for _ in 0..dice.below(3) {
        let mut worse = failed.clone();
        match dice.chance(30) {
            true => machines::fail_switch(dice, &mut worse),
            false => machines::fail(dice, &mut worse),
        }
        if machines::read(&worse).is_some_and(|machine| machines::connected(&machine)) {
            failed = worse;
        }
    }
    (topology, failed)
}

/// How a chunk of rank 0 gets to where it is needed.
fn routes(dice: &mut Dice, machine: &Machine, task: &Task, number: usize) -> Vec<Slot> {
    let chunk = &task.chunks[number];
    let root = if task.combining == Combining::Never { chunk.before[0] } else { chunk.dest.unwrap_or(0) };
    let mut slots = Vec::new();
    let mut begin = 0;
    if task.combining != Combining::Never {
        let tree = plans::tree(dice, machine, root, false);
        let depth = depths(machine, &tree, root, false);
        let deepest = depth.iter().copied().max().unwrap_or(0);
        slots.extend(tree.iter().zip(&depth).map(|(&link, depth)| (deepest - depth, link, number, true)));
        begin = deepest;
    }
    if chunk.after != [root] {
        let tree = plans::tree(dice, machine, root, true);
        let depth = depths(machine, &tree, root, true);
        let mut wanted = chunk.after.clone();
        for &link in tree.iter().rev() {
            if wanted.contains(&machine.links[link].to) {
                wanted.push(machine.links[link].from);
            }
        }
        let used = tree.iter().zip(&depth).filter(|(link, _)| wanted.contains(&machine.links[**link].to));
        slots.extend(used.map(|(&link, depth)| (begin + depth - 1, link, number, false)));
    }
    slots
}

/// Two or all of three ranks receive from both others and add; another has a copy from one of them.
fn exchange(dice: &mut Dice, machine: &Machine, chunk: usize) -> Vec<Slot> {
    let other = dice.below(4);
    let copies = (0..machine.links.len()).find(|&link| machine.links[link].to == other);
    let sums = (0..machine.links.len()).filter(|&link| machine.links[link].to != other);
    sums.map(|link| (0, link, chunk, true)).chain(copies.map(|link| (1, link, chunk, false))).collect()
}

/// How many links of a tree lie between its root and the far end of each, itself included.
fn depths(machine: &Machine, tree: &[usize], root: usize, outward: bool) -> Vec<usize> {
    let mut depth = vec![0; machine.ranks()];
    let mut all = Vec::new();
    for &link in tree {
        let link = &machine.links[link];
        let (near, far) = if outward { (link.from, link.to) } else { (link.to, link.from) };
        depth[far] = if near == root { 1 } else { depth[near] + 1 };
        all.push(depth[far]);
    }
    all
}

/// The steps of a pattern, as wide as they must be.
fn pattern(dice: &mut Dice, machine: &Machine, task: &Task, slots: &[Slot]) -> Vec<Value> {
    let count = slots.iter().map(|&(step, ..)| step + 1).max().unwrap_or(0);
    let mut steps = Vec::new();
    for at in 0..count {
        let here: Vec<_> = slots.iter().filter(|&&(step, ..)| step == at).collect();
        let alike = |link: usize, other: usize| machine.links[link].direction == machine.links[other].direction;
        // Directions of a line of two turn around with the ranks.
        let load =
            |link: usize| here.iter().filter(|&&&(_, other, ..)| alike(link, other) || lines(machine)).count() as u64;
        let width = (0..machine.links.len()).map(|link| load(link).div_ceil(machine.links[link].capacity)).max();
        let mut transfers = Vec::new();
        let mut links: Vec<usize> = here.iter().map(|&&(_, link, ..)| link).collect();
        links.sort();
        links.dedup();
        for link in links {
            for combines in [false, true] {
                let moved: Vec<_> = here.iter().filter(|&&&(_, l, _, sum)| l == link && sum == combines).collect();
                if moved.is_empty() {
                    continue;
                }
                let chunks: Vec<_> = moved.iter().map(|(_, _, chunk, _)| plans::chunk(dice, task, *chunk)).collect();
                let ends = &machine.links[link];
                let mut transfer = json!({"from": ends.from, "to": ends.to, "chunks": chunks});
                if combines {
                    transfer["op"] = json!("reduce");
                }
                let twins = machine.links.iter().filter(|l| (l.from, l.to) == (ends.from, ends.to)).count();
                if let Some((dim, grows)) = ends.direction.filter(|_| twins > 1) {
                    transfer["via"] = json!(machines::direction(dim, grows));
                }
                transfers.push(transfer);
            }
        }
        steps.push(json!({"width": width.unwrap_or(1).max(1), "pattern": transfers, "transfers": []}));
    }
    steps
}

fn lines(machine: &Machine) -> bool {
    machine.torus.iter().flatten().zip(&machine.wraps).any(|(&extent, &wraps)| extent == 2 && !wraps)
}
