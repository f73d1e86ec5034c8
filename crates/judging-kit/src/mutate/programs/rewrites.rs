//! Changes to rank programs that know the format.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::mutate::anywhere::{self, objects};
use crate::mutate::{changes, machines, numbers};

/// One change; what does not apply leaves the file as it is.
pub fn change(dice: &mut Dice, file: &mut Value) {
    match dice.below(19) {
        0 => anywhere::change(dice, file),
        16 => numbers::change(dice, file),
        17 => labels(dice, file),
        18 => add_again(dice, file),
        1..=9 => operations(dice, file),
        10 | 11 => channels(dice, file),
        12 => fuse(dice, file),
        13 => {
            let key = *dice.pick(&["in_place", "contention_free"]);
            file[key] = json!(file[key] != true);
        }
        14 => match dice.chance(50) {
            true => machines::fail(dice, &mut file["topology"]),
            false if file["topology"].is_object() => changes::machine(dice, &mut file["topology"]),
            false => {}
        },
        _ => changes::collective(dice, file),
    }
    // Looking for a key that is not there leaves null behind.
    if let Some(keys) = file.as_object_mut() {
        keys.retain(|_, value| !value.is_null());
    }
}

/// The workers of a rank that has operations.
fn rank<'v>(dice: &mut Dice, file: &'v mut Value) -> Option<(&'v mut Vec<Value>, usize)> {
    let programs = objects(&mut file["programs"])?;
    let busy = |workers: &Value| {
        workers.as_array().is_some_and(|all| all.iter().any(|w| w.as_array().is_some_and(|w| !w.is_empty())))
    };
    let ranks: Vec<_> = (0..programs.len()).filter(|&rank| busy(&programs[rank]["workers"])).collect();
    if ranks.is_empty() {
        return None;
    }
    let workers = programs[*dice.pick(&ranks)]["workers"].as_array_mut()?;
    let busy: Vec<_> =
        (0..workers.len()).filter(|&worker| workers[worker].as_array().is_some_and(|w| !w.is_empty())).collect();
    let worker = *dice.pick(&busy);
    Some((workers, worker))
}

fn operations(dice: &mut Dice, file: &mut Value) {
    let channels = file["channels"].as_array().map_or(0, Vec::len) + 1;
    let Some((workers, worker)) = rank(dice, file) else { return };
    let other = dice.below(workers.len());
    let Some(list) = objects(&mut workers[worker]) else { return };
    let at = dice.below(list.len());
    let operation = &mut list[at];
    match dice.below(14) {
        0 | 1 => {
            list.remove(at);
            shift(workers, worker, at, -1);
        }
        2 => {
            let again = operation.clone();
            list.insert(at, again);
            shift(workers, worker, at, 1);
        }
        3 => {
            let next = dice.below(list.len());
            list.swap(at, next);
        }
        4 => {
            let moved = list.remove(at);
            if let Some(list) = workers[other].as_array_mut() {
                let place = dice.below(list.len() + 1);
                list.insert(place, moved);
            }
        }
        5 | 6 => {
            let key = *dice.pick(&["src", "dst"]);
            if let Some(slot) = operation[key].as_array_mut().filter(|slot| slot.len() == 2) {
                match dice.chance(30) {
                    true => slot[0] = json!(dice.pick(&["i", "o", "s"])),
                    false => slot[1] = json!(dice.below(6)),
                }
            }
        }
        7 => operation["count"] = json!(dice.below(4)),
        8 => operation["channel"] = json!(dice.below(channels)),
        9 => {
            let renamed = match operation["op"].as_str() {
                Some("copy") => "reduce",
                Some("reduce") => "copy",
                Some("recv_reduce") => "recv",
                Some("recv") if !operation["dst"].is_null() => {
                    operation["src"] = operation["dst"].clone();
                    "recv_reduce"
                }
                _ => return tidy(operation),
            };
            operation["op"] = json!(renamed);
            if renamed == "recv" {
                operation["src"].take();
            }
        }
        10 => operation["forward"] = json!(dice.below(channels)),
        11 => {
            let key = *dice.pick(&["src", "dst", "forward", "count"]);
            operation[key].take();
        }
        12 => {
            if operation["op"] == "wait" {
                let key = *dice.pick(&["worker", "operation"]);
                operation[key] = json!(dice.below(5));
            }
        }
        _ => {
            let wait = json!({"op": "wait", "worker": other, "operation": dice.below(5)});
            list.insert(at, wait);
            shift(workers, worker, at, 1);
        }
    }
    for operation in workers.iter_mut().filter_map(Value::as_array_mut).flatten() {
        tidy(operation);
    }
}

/// Adds what was received and added once more.
fn add_again(dice: &mut Dice, file: &mut Value) {
    let mut places = Vec::new();
    for (rank, program) in file["programs"].as_array().into_iter().flatten().enumerate() {
        for (worker, operations) in program["workers"].as_array().into_iter().flatten().enumerate() {
            let adds = |operation: &&Value| operation["op"] == "recv_reduce" && operation["dst"].is_array();
            let operations = operations.as_array().into_iter().flatten().enumerate();
            places.extend(operations.filter(|(_, one)| adds(one)).map(|(at, _)| (rank, worker, at)));
        }
    }
    if places.is_empty() {
        return;
    }
    let (rank, worker, at) = *dice.pick(&places);
    let Some(workers) = file["programs"][rank]["workers"].as_array_mut() else { return };
    let Some(operations) = workers[worker].as_array_mut() else { return };
    let mut again = operations[at].clone();
    again["op"] = json!("reduce");
    ["channel", "forward"].into_iter().for_each(|key| drop(again[key].take()));
    tidy(&mut again);
    operations.insert(at + 1, again);
    shift(workers, worker, at, 1);
}

fn tidy(operation: &mut Value) {
    if let Some(keys) = operation.as_object_mut() {
        keys.retain(|_, value| !value.is_null());
    }
}

/// Keeps waits at their operations when one was put in or taken out before them.
fn shift(workers: &mut [Value], worker: usize, at: usize, by: i64) {
    for operation in workers.iter_mut().filter_map(Value::as_array_mut).flatten() {
        if operation["op"] == "wait"
            && operation["worker"] == worker
            && let Some(number) = operation["operation"].as_u64().filter(|&number| number > at as u64)
        {
            operation["operation"] = json!(number.saturating_add_signed(by));
        }
    }
}

fn channels(dice: &mut Dice, file: &mut Value) {
    let Some(list) = objects(&mut file["channels"]) else { return };
    let at = dice.below(list.len());
    match dice.below(8) {
        0 => list[at]["slots"] = json!(dice.below(3)),
        1 if dice.chance(20) => list[at]["to"] = list[at]["from"].clone(),
        1 => list[at]["from"] = json!(dice.below(6)),
        2 => list[at]["to"] = json!(dice.below(6)),
        3 => list[at]["via"] = json!(dice.pick(&["x+", "x-", "y+", "y-", "z+"])),
        4 => list[at]["transfers"] = (0..dice.below(4)).map(|_| dice.between(1, 2)).collect(),
        5 => {
            let again = list[at].clone();
            list.push(again);
        }
        6 => {
            let other = dice.below(list.len());
            list.swap(at, other);
        }
        _ => {
            let key = *dice.pick(&["via", "transfers"]);
            if let Some(channel) = list[at].as_object_mut() {
                channel.remove(key);
            }
        }
    }
}

/// Directions on all channels, or on none, and no machine to check them: the number of ranks stands in its place.
fn labels(dice: &mut Dice, file: &mut Value) {
    let ranks = file["programs"].as_array().map_or(0, Vec::len);
    let labeled = dice.chance(60);
    for channel in objects(&mut file["channels"]).into_iter().flatten() {
        channel["via"] = if labeled { json!(dice.pick(&["x+", "x-", "y+"])) } else { Value::Null };
        tidy(channel);
    }
    if dice.chance(50) {
        file["topology"].take();
        file["ranks"] = json!(ranks);
    }
}

/// Makes a receive and the next send of the same slots one operation that forwards.
fn fuse(dice: &mut Dice, file: &mut Value) {
    let Some((workers, worker)) = rank(dice, file) else { return };
    let Some(list) = objects(&mut workers[worker]) else { return };
    let fits = |at: &usize| {
        let (one, next) = (&list[*at], &list[*at + 1]);
        one["channel"].is_u64()
            && !one["dst"].is_null()
            && next["op"] == "send"
            && (&one["dst"], &one["count"]) == (&next["src"], &next["count"])
    };
    let places: Vec<_> = (0..list.len() - 1).filter(fits).collect();
    if places.is_empty() {
        return;
    }
    let at = *dice.pick(&places);
    let send = list.remove(at + 1);
    list[at]["forward"] = send["channel"].clone();
    if dice.chance(30) {
        list[at]["dst"].take();
    }
    for operation in list {
        tidy(operation);
    }
    shift(workers, worker, at, -1);
}
