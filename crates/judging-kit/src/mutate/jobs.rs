//! Jobs that hold, with bounds of all kinds of evidence, and changes to them.

use serde_json::{Value, json};

use super::anywhere::{self, objects};
use super::{certificates, changes, groups, machines, numbers, plans};
use crate::dice::Dice;
use crate::naive::problem::machine::Machine;
use crate::naive::reader::INTEGERS;
use crate::naive::schedule::together::Job;

/// A job of one to three schedules that holds, but for its bounds.
pub fn file(dice: &mut Dice) -> Value {
    let (topology, machine) = machines::machine(dice);
    let count = dice.between(1, 3);
    let mut all: Vec<_> = (0..count).map(|_| plans::plan_on(dice, &topology, &machine)).collect();
    for plan in &mut all {
        // It begins later, or pauses.
        for _ in 0..dice.below(3) {
            let at = dice.below(plan.steps.len() + 1);
            plan.steps.insert(at, (1, Vec::new()));
        }
    }
    let steps = all.iter().map(|plan| plan.steps.len()).max().unwrap_or(0);
    all.iter_mut().for_each(|plan| plan.steps.resize(steps, (1, Vec::new())));
    for at in 0..steps {
        let carried = |link: usize| {
            let moves = all.iter().flat_map(|plan| &plan.steps[at].1);
            moves.filter(|m| m.link == link).count() as u64
        };
        let needed = |link: usize| carried(link).div_ceil(machine.links[link].capacity);
        let width = (0..machine.links.len()).map(needed).max().unwrap_or(0).max(1);
        all.iter_mut().for_each(|plan| plan.steps[at].0 = width);
    }
    let mut schedules = Vec::new();
    for plan in all {
        let task = plan.task.clone();
        let mut schedule = plans::write(dice, plan);
        if dice.chance(30) {
            let mut alone = schedule.clone();
            certificates::claim(dice, &mut alone, &machine, &task);
            schedule["bounds"] = alone["bounds"].clone();
        }
        schedules.push(inner(schedule));
    }
    let mut file = json!({"format": "collective-job/1", "topology": topology, "schedules": schedules});
    if dice.chance(80) {
        file["bound"] = evidence(dice, &machine);
        for _ in 0..dice.below(3) / 2 {
            forge(dice, &mut file["bound"]);
        }
        value(dice, &mut file);
    }
    file
}

/// One change.
pub fn change(dice: &mut Dice, file: &mut Value) {
    match dice.below(12) {
        0 => anywhere::change(dice, file),
        1 => numbers::change(dice, file),
        2 => machines::fail(dice, &mut file["topology"]),
        3 => {
            forge(dice, &mut file["bound"]);
            value(dice, file);
        }
        4 => widen(dice, file),
        _ => schedules(dice, file),
    }
    // Looking for a key that is not there leaves null behind.
    if let Some(keys) = file.as_object_mut() {
        keys.retain(|_, value| !value.is_null());
    }
}

/// What a job has of a schedule file.
fn inner(mut schedule: Value) -> Value {
    if let Some(keys) = schedule.as_object_mut() {
        keys.retain(|key, value| !["format", "topology", "origin"].contains(&&key[..]) && !value.is_null());
    }
    schedule
}

fn schedules(dice: &mut Dice, file: &mut Value) {
    let topology = file["topology"].clone();
    let Some(list) = objects(&mut file["schedules"]) else { return };
    let at = dice.below(list.len());
    match dice.below(10) {
        0 => drop(list.remove(at)),
        1 => {
            let again = list[at].clone();
            list.push(again);
        }
        2 => {
            let other = dice.below(list.len());
            list.swap(at, other);
        }
        3 => {
            // One alone begins later or ends sooner, or all do.
            let (all, later) = (dice.chance(40), dice.chance(60));
            for (number, schedule) in list.iter_mut().enumerate() {
                let Some(steps) = schedule["steps"].as_array_mut().filter(|_| all || number == at) else { continue };
                if later {
                    steps.insert(0, json!({"transfers": []}));
                } else {
                    steps.pop();
                }
            }
        }
        4 => groups::change(dice, &mut list[at]),
        5 => drop(list[at].as_object_mut().map(|keys| keys.remove("bounds"))),
        _ => {
            let mut alone = list[at].clone();
            alone["format"] = json!("collective-schedule/1");
            alone["topology"] = topology;
            changes::change(dice, &mut alone);
            list[at] = inner(alone);
        }
    }
}

/// Widens a step of all schedules: to a number near a power of two, or so far that a claim would be met.
fn widen(dice: &mut Dice, file: &mut Value) {
    let claimed = Job::read(file).ok().and_then(|job| {
        let claimed = job.bound.as_ref()?.at_least.rounded_up(1);
        u64::try_from(claimed).ok()?.checked_sub(job.widths().iter().skip(1).sum())
    });
    let claimed = claimed.filter(|&width| width > 0 && width < INTEGERS && dice.chance(70));
    let width = claimed.map_or_else(|| numbers::whole(&numbers::near_a_power(dice)), |width| json!(width));
    for schedule in objects(&mut file["schedules"]).into_iter().flatten() {
        if let Some(step) = schedule["steps"].get_mut(0).filter(|step| step.is_object()) {
            step["width"] = width.clone();
        }
    }
}

/// Evidence of one to three kinds.
fn evidence(dice: &mut Dice, machine: &Machine) -> Value {
    let mut bound = json!({"at_least": 0});
    let weight = |dice: &mut Dice| {
        let sorts = if dice.chance(10) { 7 } else { 5 };
        [1, 1, 1, 2, 3, 0, u64::from(u32::MAX)][dice.below(sorts)]
    };
    for _ in 0..dice.between(1, 2) {
        let key = *dice.pick(&["weights", "cuts", "partitions", "partitions"]);
        let entries: Vec<Value> = match key {
            "weights" => certificates::weights(dice, machine),
            "cuts" => {
                let count = dice.between(1, 2);
                let mut cut = || {
                    let mut ranks = machine.live_ranks();
                    dice.shuffle(&mut ranks);
                    ranks.truncate(dice.below(ranks.len() + 1));
                    json!({"weight": weight(dice), "ranks": ranks})
                };
                (0..count).map(|_| cut()).collect()
            }
            _ => {
                let mut blocks = match dice.chance(40) {
                    true => machine.live_ranks().into_iter().map(|rank| vec![rank]).collect(),
                    false => {
                        let mut blocks = vec![Vec::new(); dice.between(1, 4)];
                        for rank in machine.live_ranks() {
                            let block = dice.below(blocks.len());
                            blocks[block].push(rank);
                        }
                        blocks
                    }
                };
                blocks.retain(|block| !block.is_empty());
                vec![json!({"weight": weight(dice), "blocks": blocks})]
            }
        };
        bound[key] = json!(entries);
    }
    bound
}

/// Changes evidence so that it may no longer fit.
fn forge(dice: &mut Dice, bound: &mut Value) {
    if !bound.is_object() {
        return;
    }
    if dice.chance(40) {
        return numbers::change(dice, bound);
    }
    let key = *dice.pick(&["weights", "cuts", "partitions"]);
    let Some(list) = bound.get_mut(key).and_then(Value::as_array_mut).filter(|list| !list.is_empty()) else { return };
    let at = dice.below(list.len());
    match (dice.below(4), key) {
        (0, _) => drop(list.remove(at)),
        (1, _) => {
            let again = list[at].clone();
            list.push(again);
        }
        (_, "cuts") => {
            let any = json!(dice.below(7));
            if let Some(ranks) = list[at].get_mut("ranks").and_then(Value::as_array_mut) {
                ranks.push(any);
            }
        }
        (_, "partitions") => {
            if let Some(blocks) =
                list[at].get_mut("blocks").and_then(Value::as_array_mut).filter(|blocks| blocks.len() > 1)
            {
                let merged = blocks.pop().and_then(|block| block.as_array().cloned()).unwrap_or_default();
                if let (Some(first), true) = (blocks[0].as_array_mut(), dice.chance(80)) {
                    first.extend(merged);
                }
            }
        }
        _ => {
            if let Some(number) = list[at].get_mut(dice.below(3)) {
                *number = json!(dice.below(7));
            }
        }
    }
}

/// Claims what is proven, a little more or less, or anything.
fn value(dice: &mut Dice, file: &mut Value) {
    let proven = Job::read(file).ok().and_then(|job| job.bound?.proven(&job.machine, &job.files));
    let at_least = match proven {
        Some(proven) if !dice.chance(20) => numbers::near(dice, &proven),
        _ => numbers::fraction(dice),
    };
    if file["bound"].is_object() {
        file["bound"]["at_least"] = at_least;
    }
}
