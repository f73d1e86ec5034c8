//! Changes to schedule files that know the format.

use serde_json::{Value, json};

use super::anywhere::{self, objects};
use super::{groups, listings, machines, numbers};
use crate::dice::Dice;
use crate::naive::problem::machine::{Link, Machine};
use crate::naive::problem::task::{KINDS, Task};
use crate::naive::reader::Faults;

/// One change; what does not apply leaves the file as it is.
pub fn change(dice: &mut Dice, file: &mut Value) {
    match dice.below(24) {
        0 => anywhere::change(dice, file),
        20 => numbers::change(dice, file),
        21 => groups::change(dice, file),
        22 | 23 => listings::change(dice, file),
        1..=3 => steps(dice, file),
        4..=14 => transfers(dice, file),
        15 => machine(dice, &mut file["topology"]),
        16 => machines::fail(dice, &mut file["topology"]),
        17 | 18 => collective(dice, file),
        _ => {
            if dice.chance(30) {
                file["format"] = dice.pick(&[json!("collective-schedule/2"), json!(1), json!("")]).clone();
            }
        }
    }
}

/// One change to the machine.
pub fn machine(dice: &mut Dice, topology: &mut Value) {
    if !topology.is_object() {
        return;
    }
    let key = *dice.pick(&["torus", "wrap", "capacity", "links", "ranks", "failed_links", "failed_ranks"]);
    let Some(value) = topology.get_mut(key) else {
        if dice.chance(30) {
            topology[key] = dice.pick(&[json!([true, false]), json!([2, 2]), json!(9), json!([])]).clone();
        }
        return;
    };
    let Some(list) = value.as_array_mut().filter(|list| !list.is_empty()) else { return };
    let at = dice.below(list.len());
    match (&mut list[at], dice.below(4)) {
        (_, 0) => drop(list.remove(at)),
        (_, 1) => {
            let again = list[at].clone();
            list.push(again);
        }
        (Value::Bool(flag), _) => *flag = !*flag,
        (Value::Object(entry), 2) => {
            let both = entry.get("both") == Some(&json!(false));
            entry.insert("both".into(), json!(both));
        }
        (Value::Object(entry), _) => {
            let key = *dice.pick(&["from", "to", "dim", "capacity"]);
            let value = match key {
                "dim" => json!(dice.pick(&["x", "y", "x+", "x-", "z", "d6", "d5", "xy"])),
                _ => json!(dice.below(8)),
            };
            entry.insert(key.into(), value);
        }
        (number, _) => *number = json!(dice.below(7)),
    }
}

fn steps(dice: &mut Dice, file: &mut Value) {
    let Some(steps) = objects(&mut file["steps"]) else { return };
    let (at, other) = (dice.below(steps.len()), dice.below(steps.len()));
    match dice.below(8) {
        0 => drop(steps.remove(at)),
        1 => {
            let again = steps[at].clone();
            steps.insert(other, again);
        }
        2 => steps.swap(at, other),
        3 => steps.insert(at, json!({"transfers": []})),
        4 => steps[at]["width"] = json!(dice.below(4)),
        5 if at + 1 < steps.len() => merge_with_next(steps, at),
        6 if dice.chance(25) => steps.iter_mut().for_each(|step| step["transfers"] = json!([])),
        _ => {
            if let Some(transfers) = steps[at]["transfers"].as_array_mut() {
                dice.shuffle(transfers);
            }
        }
    }
}

fn merge_with_next(steps: &mut Vec<Value>, at: usize) {
    let next = steps.remove(at + 1);
    let width = |step: &Value| step.get("width").and_then(Value::as_u64).unwrap_or(1);
    steps[at]["width"] = json!(width(&steps[at]).saturating_add(width(&next)));
    if let (Some(all), Some(more)) = (steps[at]["transfers"].as_array_mut(), next["transfers"].as_array()) {
        all.extend(more.iter().cloned());
    }
}

fn transfers(dice: &mut Dice, file: &mut Value) {
    let (machine, task) = read(file).unzip();
    let Some(steps) = objects(&mut file["steps"]) else { return };
    let count = steps.len();
    let mut at = dice.below(count);
    let other = dice.below(count);
    // Steps without transfers have nothing to change.
    for _ in 0..count {
        if steps[at]["transfers"].as_array().is_none_or(Vec::is_empty) {
            at = (at + 1) % count;
        }
    }
    let Some(list) = objects(&mut steps[at]["transfers"]) else { return };
    let which = dice.below(list.len());
    match dice.below(15) {
        0 => drop(list.remove(which)),
        1 => {
            let again = list[which].clone();
            list.push(again);
        }
        2 | 3 => {
            let moved = list.remove(which);
            if let Some(list) = steps[other]["transfers"].as_array_mut() {
                list.push(moved);
            }
        }
        4 => {
            let again = list[which].clone();
            if let Some(list) = steps[other]["transfers"].as_array_mut() {
                list.push(again);
            }
        }
        5 => {
            let key = *dice.pick(&["from", "to"]);
            list[which][key] = json!(dice.below(8));
        }
        6 => {
            let (from, to) = (list[which]["from"].clone(), list[which]["to"].clone());
            (list[which]["from"], list[which]["to"]) = (to, from);
        }
        7 => list[which]["op"] = json!(if list[which]["op"] == "reduce" { "copy" } else { "reduce" }),
        8 => list[which]["via"] = json!(dice.pick(&["x+", "x-", "y+", "y-", "z+", "w-", "d6+", "x", "+"])),
        9 => {
            if let Some(transfer) = list[which].as_object_mut() {
                transfer.remove("via");
            }
        }
        10 => {
            let from = list[which]["chunks"].take();
            let target = dice.below(list.len());
            if let (Some(from), Some(to)) = (from.as_array(), list[target]["chunks"].as_array_mut()) {
                to.extend(from.iter().cloned());
            }
            if list[which]["chunks"].is_null() {
                list[which]["chunks"] = json!([]);
            }
        }
        11 => reroute(dice, machine.as_ref(), &mut list[which]),
        _ => chunks(dice, task.as_ref(), &mut list[which]["chunks"]),
    }
}

/// Sends a transfer over another link, dead or alive, from the same sender or to the same receiver.
fn reroute(dice: &mut Dice, machine: Option<&Machine>, transfer: &mut Value) {
    let touches = |link: &&Link| transfer["from"] == link.from || transfer["to"] == link.to;
    let links: Vec<&Link> = machine.iter().flat_map(|machine| &machine.links).filter(touches).collect();
    if links.is_empty() {
        return;
    }
    let link = *dice.pick(&links);
    (transfer["from"], transfer["to"]) = (json!(link.from), json!(link.to));
    match (link.direction, transfer.as_object_mut()) {
        (Some((dim, grows)), _) => transfer["via"] = json!(machines::direction(dim, grows)),
        (None, Some(keys)) => drop(keys.remove("via")),
        (None, None) => {}
    }
}

fn chunks(dice: &mut Dice, task: Option<&Task>, chunks: &mut Value) {
    let Some(chunks) = chunks.as_array_mut() else { return };
    let all = task.map_or(3, |task| task.chunks.len());
    let outside = usize::from(all == 0 || dice.chance(5));
    let any = json!(dice.below(all + outside));
    match (dice.below(6), chunks.is_empty()) {
        (0 | 1, _) | (_, true) => chunks.push(any),
        (2, _) => {
            let again = dice.pick(chunks).clone();
            chunks.push(again);
        }
        (3, _) => {
            let at = dice.below(chunks.len());
            chunks.remove(at);
        }
        (4, _) if dice.chance(20) => {
            let labels = ["0>1", "0>1/0", "1>0/1", "0/0", "1/1", "0", "01", "0>", ">0", "0>1/", "-1", "9>9", "+1", "a"];
            chunks.push(json!(dice.pick(&labels)));
        }
        _ => {
            let at = dice.below(chunks.len());
            chunks[at] = any;
        }
    }
}

/// One change to the collective.
pub fn collective(dice: &mut Dice, file: &mut Value) {
    let collective = &mut file["collective"];
    if !collective.is_object() {
        return;
    }
    match dice.below(5) {
        0 => collective["kind"] = json!(dice.pick(&KINDS).0),
        1 => collective["parts"] = json!(dice.pick(&[0, 1, 2, 3, 4, u32::MAX, 1 << 31])),
        2 => {
            if collective.get("root").is_some() || dice.chance(20) {
                collective["root"] = json!(dice.below(7));
            }
        }
        3 => {
            // Kinds of the same form, so that chunks keep their names.
            let pairs = [("reduce", "broadcast"), ("scatter", "gather"), ("all_gather", "reduce_scatter")];
            let more = [("all_reduce", "barrier"), ("all_gather", "all_reduce_gathered")];
            for (one, other) in pairs.into_iter().chain(more) {
                if collective["kind"] == one || collective["kind"] == other {
                    collective["kind"] = json!(if collective["kind"] == one { other } else { one });
                    break;
                }
            }
        }
        _ => {
            if let Some(row) = collective["demand"].get_mut(dice.below(4)).and_then(Value::as_array_mut)
                && !row.is_empty()
            {
                let at = dice.below(row.len());
                row[at] = dice.pick(&[json!(0), json!(1), json!(4), json!(u32::MAX)]).clone();
            }
        }
    }
}

fn read(file: &Value) -> Option<(Machine, Task)> {
    let mut faults = Faults::default();
    let machine = Machine::read(&file["topology"], &mut faults)?;
    let groups = (file.get("groups"), file.get("relays"));
    let task = Task::read(&file["collective"], groups, Some(&machine), &mut faults)?;
    Some((machine, task))
}
