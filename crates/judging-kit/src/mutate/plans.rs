//! Schedules that hold: each chunk goes along a random tree, each tree into the first steps with room.

use serde_json::{Value, json};

use super::{machines, tasks};
use crate::dice::Dice;
use crate::naive::problem::machine::Machine;
use crate::naive::problem::task::{Combining, Task};

/// A chunk that crosses a link.
#[derive(Clone, Debug)]
pub struct Move {
    /// The number of the link in the machine.
    pub link: usize,
    /// The chunk.
    pub chunk: usize,
    /// Combined with what the receiver holds.
    pub reduce: bool,
    /// The moves that must be finished before.
    pub after: Vec<usize>,
}

/// A step: its width and its moves.
pub type Step = (u64, Vec<Move>);

/// A machine, a task on it and how it is carried out.
pub struct Plan {
    /// As it stands in files.
    pub topology: Value,
    /// The same, read.
    pub machine: Machine,
    /// As it stands in files.
    pub collective: Value,
    /// The same, read.
    pub task: Task,
    /// What moves when.
    pub steps: Vec<Step>,
}

/// A schedule that holds.
pub fn plan(dice: &mut Dice) -> Plan {
    let exchanging = dice.chance(2);
    let (topology, machine) = if exchanging { machines::complete(dice) } else { machines::machine(dice) };
    match exchanging {
        true => {
            let task = tasks::of_kind(dice, &machine, "all_reduce", false);
            carried_out(dice, &topology, &machine, task)
        }
        false => plan_on(dice, &topology, &machine),
    }
}

/// A schedule that holds on a machine.
pub fn plan_on(dice: &mut Dice, topology: &Value, machine: &Machine) -> Plan {
    let task = tasks::task(dice, machine);
    carried_out(dice, topology, machine, task)
}

fn carried_out(dice: &mut Dice, topology: &Value, machine: &Machine, (collective, task): (Value, Task)) -> Plan {
    let steps = match exchange(machine, &task) {
        Some(step) if dice.chance(50) => vec![step],
        _ => {
            let moves = moves(dice, machine, &task, |_| true);
            timetable(dice, machine, moves)
        }
    };
    Plan { topology: topology.clone(), machine: machine.clone(), collective, task, steps }
}

/// The file of a schedule that holds.
pub fn file(dice: &mut Dice) -> Value {
    let plan = plan(dice);
    write(dice, plan)
}

/// The file of a plan.
pub fn write(dice: &mut Dice, plan: Plan) -> Value {
    let Plan { topology, machine, collective, task, steps } = plan;
    let mut file = json!({"format": "collective-schedule/1", "topology": topology, "collective": collective});
    task.state_groups(&mut file);
    file["steps"] = written(dice, &machine, &task, steps).into();
    file
}

/// Steps as they stand in a file.
pub fn written(dice: &mut Dice, machine: &Machine, task: &Task, steps: Vec<Step>) -> Vec<Value> {
    let mut written = Vec::new();
    for (width, moves) in steps {
        let mut transfers: Vec<Value> = Vec::new();
        let mut links: Vec<usize> = moves.iter().map(|m| m.link).collect();
        links.sort();
        links.dedup();
        dice.shuffle(&mut links);
        for at in links {
            let link = &machine.links[at];
            let here: Vec<_> = moves.iter().filter(|m| m.link == at).collect();
            let chunks: Vec<_> = here.iter().map(|m| chunk(dice, task, m.chunk)).collect();
            let mut transfer = json!({
                "from": rank(dice, machine, link.from),
                "to": rank(dice, machine, link.to),
                "chunks": chunks,
            });
            if here[0].reduce {
                transfer["op"] = json!("reduce");
            }
            let twins = machine.links.iter().filter(|l| (l.from, l.to) == (link.from, link.to)).count();
            if let Some((dim, grows)) = link.direction
                && (twins > 1 || dice.chance(10))
            {
                transfer["via"] = json!(machines::direction(dim, grows));
            }
            transfers.push(transfer);
        }
        written.push(match width {
            1 => json!({"transfers": transfers}),
            _ => json!({"width": width, "transfers": transfers}),
        });
    }
    written
}

/// A chunk by number or label.
pub fn chunk(dice: &mut Dice, task: &Task, chunk: usize) -> Value {
    let label = &task.chunks[chunk].label;
    match dice.below(4) {
        0 => json!(label),
        1 => json!(label.strip_suffix("/0").unwrap_or(label)),
        _ => json!(chunk),
    }
}

/// A rank by number, text or coordinates.
pub fn rank(dice: &mut Dice, machine: &Machine, rank: usize) -> Value {
    match (&machine.torus, dice.below(8)) {
        (_, 0) => json!(rank.to_string()),
        (Some(extents), 1) => {
            let position = extents.iter().scan(rank, |rest, &extent| {
                let at = *rest % extent;
                *rest /= extent;
                Some(at.to_string())
            });
            json!(position.collect::<Vec<_>>().join("."))
        }
        _ => json!(rank),
    }
}

/// All ranks combine with all others in one step, where all are joined: each in an order of its own.
fn exchange(machine: &Machine, task: &Task) -> Option<Step> {
    if !["all_reduce", "barrier"].contains(&&task.kind[..]) || !task.moves_data() {
        return None;
    }
    let live = machine.live_ranks();
    let mut moves = Vec::new();
    for &from in &live {
        for &to in live.iter().filter(|&&to| to != from) {
            let link = machine.links.iter().position(|link| link.live && (link.from, link.to) == (from, to))?;
            let ours = |chunk: &usize| [from, to].iter().all(|rank| task.chunks[*chunk].before.contains(rank));
            let chunks = (0..task.chunks.len()).filter(ours);
            moves.extend(chunks.map(|chunk| Move { link, chunk, reduce: true, after: Vec::new() }));
        }
    }
    Some((task.parts, moves))
}

/// The moves of some chunks.
pub fn moves(dice: &mut Dice, machine: &Machine, task: &Task, wanted: impl Fn(usize) -> bool) -> Vec<Move> {
    let machine = &task.usable(machine);
    let mut moves: Vec<Move> = Vec::new();
    for (number, chunk) in task.chunks.iter().enumerate().filter(|(number, _)| wanted(*number)) {
        let (Some(&first), Some(&last)) = (chunk.before.first(), chunk.after.first()) else { continue };
        let mut finished = Vec::new();
        let root = match task.combining {
            Combining::Never => first,
            // Up a tree to the root first.
            _ => {
                let root = if chunk.after.len() == 1 { last } else { *dice.pick(&chunk.after) };
                let tree = tree(dice, machine, root, false);
                // Ranks without a contribution pass on what they receive.
                let mut holding = chunk.before.clone();
                for &link in tree.iter().rev() {
                    let from = machine.links[link].from;
                    if !holding.contains(&from) {
                        continue;
                    }
                    holding.push(machine.links[link].to);
                    let after = moves.iter().enumerate().filter(|(_, m)| m.chunk == number);
                    let after = after.filter(|(_, m)| machine.links[m.link].to == from).map(|(at, _)| at).collect();
                    finished.push(moves.len());
                    moves.push(Move { link, chunk: number, reduce: true, after });
                }
                root
            }
        };
        let tree = tree(dice, machine, root, true);
        let mut wanted = chunk.after.clone();
        for &link in tree.iter().rev() {
            if wanted.contains(&machine.links[link].to) {
                wanted.push(machine.links[link].from);
            }
        }
        let begin = moves.len();
        for link in tree.into_iter().filter(|&link| wanted.contains(&machine.links[link].to)) {
            let from = machine.links[link].from;
            let before = moves.iter().enumerate().skip(begin).find(|(_, m)| machine.links[m.link].to == from);
            let after = before.map_or(finished.clone(), |(at, _)| vec![at]);
            let reduce = task.combining == Combining::Joins && dice.chance(50);
            moves.push(Move { link, chunk: number, reduce, after });
        }
    }
    moves
}

/// The links of a random tree from a root to all live ranks, or from all live ranks to a root; near the root first.
pub fn tree(dice: &mut Dice, machine: &Machine, root: usize, outward: bool) -> Vec<usize> {
    let (mut reached, mut tree) = (vec![root], Vec::new());
    loop {
        let ends = |link: &crate::naive::problem::machine::Link| {
            if outward { (link.from, link.to) } else { (link.to, link.from) }
        };
        let next: Vec<_> = (0..machine.links.len())
            .filter(|&at| {
                let (near, far) = ends(&machine.links[at]);
                machine.links[at].live && reached.contains(&near) && !reached.contains(&far)
            })
            .collect();
        if next.is_empty() {
            return tree;
        }
        let link = *dice.pick(&next);
        reached.push(ends(&machine.links[link]).1);
        tree.push(link);
    }
}

/// Each move in the first step with room for it, after those that it needs.
pub fn timetable(dice: &mut Dice, machine: &Machine, moves: Vec<Move>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut waiting: Vec<usize> = (0..moves.len()).collect();
    while !waiting.is_empty() {
        let width = [1, 1, 2, 3][dice.below(4)];
        let mut ready: Vec<_> = waiting.to_vec();
        ready.retain(|&at| !moves[at].after.iter().any(|before| waiting.contains(before)));
        dice.shuffle(&mut ready);
        let mut now: Vec<usize> = Vec::new();
        for at in ready {
            let here = now.iter().filter(|&&other| moves[other].link == moves[at].link);
            let room = (here.clone().count() as u64) < width * machine.links[moves[at].link].capacity;
            let alike = here.clone().all(|&other| moves[other].reduce == moves[at].reduce);
            if now.is_empty() || room && alike && !dice.chance(15) {
                now.push(at);
            }
        }
        waiting.retain(|at| !now.contains(at));
        steps.push((width, now.iter().map(|&at| moves[at].clone()).collect()));
    }
    steps
}
