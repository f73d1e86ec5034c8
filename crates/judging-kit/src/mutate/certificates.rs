//! Claims with evidence: random, set to exactly what it proves, or more, or forged.

use serde_json::{Map, Value, json};

use super::{anywhere, machines, numbers, plans};
use crate::dice::Dice;
use crate::naive::evidence::certificate;
use crate::naive::problem::machine::Machine;
use crate::naive::problem::task::Task;
use crate::naive::reader::Faults;
use crate::naive::stated::file::File;

/// A file with one to three claims; its schedule may be missing.
pub fn certificate(dice: &mut Dice) -> Value {
    let plan = plans::plan(dice);
    let (machine, task) = (plan.machine.clone(), plan.task.clone());
    let mut file = plans::write(dice, plan);
    if task.grouped && dice.chance(15) {
        file["relays"] = json!(dice.chance(20));
    }
    if dice.chance(50) {
        file["steps"] = json!([]);
    }
    claim(dice, &mut file, &machine, &task);
    if dice.chance(5) {
        machines::fail(dice, &mut file["topology"]);
    }
    file
}

/// A schedule that holds, with evidence of every sort that claims nothing yet.
pub fn evident(dice: &mut Dice) -> Value {
    let plan = plans::plan(dice);
    let (machine, task) = (plan.machine.clone(), plan.task.clone());
    let mut file = plans::write(dice, plan);
    let mut evidence = |sort| evidence(dice, sort, &machine, &task);
    file["bounds"] = json!({"steps": evidence("steps"), "volume": evidence("volume"), "joint": [evidence("joint")]});
    file
}

/// Puts one to three claims into a schedule file.
pub fn claim(dice: &mut Dice, file: &mut Value, machine: &Machine, task: &Task) {
    let mut bounds = Map::new();
    for _ in 0..dice.between(1, 3) {
        let sort = *dice.pick(&["volume", "steps", "joint"]);
        let mut claim = evidence(dice, sort, machine, task);
        if dice.chance(35) {
            forge(dice, &mut claim);
        }
        if dice.chance(8) {
            anywhere::change(dice, &mut claim);
        }
        value(dice, file, sort, &mut claim);
        match sort {
            "joint" => {
                if let Some(list) = bounds.entry("joint").or_insert(json!([])).as_array_mut() {
                    list.push(claim);
                }
            }
            _ => drop(bounds.insert(sort.into(), claim)),
        }
    }
    file["bounds"] = bounds.into();
}

/// Evidence of a sort, mostly of a kind that fits the collective.
fn evidence(dice: &mut Dice, sort: &str, machine: &Machine, task: &Task) -> Value {
    if sort == "steps" {
        let needed: Vec<_> = machine
            .live_ranks()
            .into_iter()
            .flat_map(|from| machine.live_ranks().into_iter().map(move |to| (from, to)))
            .filter(|&(from, to)| task.needs(from, to))
            .collect();
        let (from, to) = match needed.is_empty() || dice.chance(10) {
            true => (dice.below(machine.ranks()), dice.below(machine.ranks())),
            false => *dice.pick(&needed),
        };
        return json!({"at_least": 0, "from": plans::rank(dice, machine, from), "to": to});
    }
    let paths = ["all_to_all", "all_to_allv", "scatter", "gather"].contains(&&task.kind[..]);
    if sort == "joint" {
        let steps = dice.between(1, 6);
        let mut claim = json!({"steps": steps, "at_least": 0, "weights": weights_over_time(dice, machine, steps)});
        name_a_rank(dice, machine, paths, &mut claim);
        return claim;
    }
    let kinds: &[&str] = match &task.kind[..] {
        _ if dice.chance(10) => &["metric", "cut", "partition", "metric_over_time"],
        "all_reduce" => &["cut", "partition", "metric_over_time"],
        _ if paths => &["metric", "metric_over_time"],
        _ => &["metric", "cut", "metric_over_time"],
    };
    match *dice.pick(kinds) {
        "metric" if machine.looks_alike() && dice.chance(40) => repeated(dice, machine),
        "metric" => json!({"at_least": 0, "kind": "metric", "weights": weights(dice, machine)}),
        "cut" => {
            let mut ranks: Vec<_> = machine.live_ranks();
            dice.shuffle(&mut ranks);
            ranks.truncate(dice.below(ranks.len() + 1));
            json!({"at_least": 0, "kind": "cut", "ranks": ranks})
        }
        "partition" => {
            let mut blocks = vec![Vec::new(); dice.between(2, 4)];
            for rank in machine.live_ranks() {
                let block = dice.below(blocks.len());
                blocks[block].push(rank);
            }
            blocks.retain(|block| !block.is_empty() || dice.chance(5));
            json!({"at_least": 0, "kind": "partition", "blocks": blocks})
        }
        _ => {
            let width = *dice.pick(&[0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16]);
            let weights = weights_over_time(dice, machine, width);
            let mut claim = json!({"at_least": 0, "kind": "metric_over_time", "width": width, "weights": weights});
            name_a_rank(dice, machine, paths, &mut claim);
            claim
        }
    }
}

/// Names the rank whose chunks count, mostly where one is needed.
fn name_a_rank(dice: &mut Dice, machine: &Machine, paths: bool, claim: &mut Value) {
    if paths == dice.chance(5) {
        claim["rank"] = json!(dice.pick(&machine.live_ranks()));
    }
}

/// Pairs of ranks that a link joins, each once.
fn pairs(dice: &mut Dice, machine: &Machine) -> Vec<(usize, usize)> {
    let mut pairs: Vec<_> = machine.links.iter().map(|link| (link.from, link.to)).collect();
    pairs.sort();
    pairs.dedup();
    let live = |pair: &(usize, usize)| machine.live_links().any(|link| (link.from, link.to) == *pair);
    let all = if dice.chance(50) { 100 } else { 60 };
    let dead = if dice.chance(10) { 50 } else { 0 };
    pairs.retain(|pair| dice.chance(if live(pair) { all } else { dead }));
    pairs
}

fn length(dice: &mut Dice) -> u64 {
    let most = if dice.chance(5) { u64::from(u32::MAX) } else { 3 };
    [0, 1, 1, 2, most][dice.below(5)]
}

/// The pairs that lead out of some set of ranks: what must leave the set then comes close to what they offer.
fn across(dice: &mut Dice, machine: &Machine) -> Vec<(usize, usize)> {
    let inside: Vec<_> = (0..machine.ranks()).map(|_| dice.chance(50)).collect();
    let mut pairs: Vec<_> = machine.live_links().map(|link| (link.from, link.to)).collect();
    pairs.retain(|&(from, to)| inside[from] && !inside[to]);
    pairs.sort();
    pairs.dedup();
    pairs
}

/// Weights of links.
pub fn weights(dice: &mut Dice, machine: &Machine) -> Vec<Value> {
    if dice.chance(40) {
        return across(dice, machine).into_iter().map(|(from, to)| json!([from, to, 1])).collect();
    }
    pairs(dice, machine).into_iter().map(|(from, to)| json!([from, to, length(dice)])).collect()
}

/// A metric with a period; seldom one that the machine does not have, or weights of links of other cells or of none.
fn repeated(dice: &mut Dice, machine: &Machine) -> Value {
    let extents = machine.torus.as_deref().unwrap_or_default();
    let divisor = |dice: &mut Dice, extent: usize| {
        let divisors: Vec<u64> = (1..=extent as u64).filter(|part| (extent as u64).is_multiple_of(*part)).collect();
        *dice.pick(&divisors)
    };
    let mut period: Vec<u64> = extents.iter().map(|&extent| divisor(dice, extent)).collect();
    let mut weights = weights(dice, machine);
    let is_first = |weight: &Value| machine.is_first(weight[0].as_u64().unwrap_or(0) as usize, &period);
    weights.retain(|weight| is_first(weight) || dice.chance(1));
    if dice.chance(8) {
        let dim = dice.below(period.len());
        period[dim] = dice.between(0, 9) as u64;
    }
    if !weights.is_empty() && dice.chance(5) {
        // No rank, at the position of one.
        let (at, end) = (dice.below(weights.len()), dice.below(2));
        let end = &mut weights[at][end];
        *end = json!(end.as_u64().unwrap_or(0) + machine.ranks() as u64);
    }
    json!({"at_least": 0, "kind": "metric", "period": period, "weights": weights})
}

fn weights_over_time(dice: &mut Dice, machine: &Machine, end: usize) -> Vec<Value> {
    if end > 0 && dice.chance(50) {
        let late = dice.below(end);
        let early = dice.below(end - late);
        let weight = |(from, to)| json!([from, to, 1 + late, end - early, 1]);
        return across(dice, machine).into_iter().map(weight).collect();
    }
    let mut weights = Vec::new();
    for (from, to) in pairs(dice, machine) {
        for _ in 0..dice.between(1, 2).min(end) {
            let first = dice.between(1, end);
            let last = dice.between(first, end);
            weights.push(json!([plans::rank(dice, machine, from), to, first, last, length(dice)]));
        }
    }
    weights
}

/// Changes evidence so that it may no longer fit, or not be readable.
fn forge(dice: &mut Dice, claim: &mut Value) {
    match dice.below(8) {
        6 => late(dice, claim),
        7 => {
            if claim.get("period").is_some() {
                claim["period"] = dice.pick(&[json!([1]), json!([2, 1]), json!([0]), json!([]), json!([-1])]).clone();
            }
        }
        0 => {
            if claim.get("width").is_some() {
                claim["width"] = numbers::whole(&numbers::near_a_power(dice));
            } else if claim.get("steps").is_some() {
                claim["steps"] = numbers::whole(&numbers::near_a_power(dice));
            }
        }
        1 => {
            let key = *dice.pick(&["rank", "from", "to"]);
            if claim.get(key).is_some() {
                claim[key] = json!(dice.below(9));
            }
        }
        _ => {
            let key = *dice.pick(&["weights", "weights", "ranks", "blocks"]);
            let Some(list) = claim.get_mut(key).and_then(Value::as_array_mut).filter(|list| !list.is_empty()) else {
                return;
            };
            let at = dice.below(list.len());
            match (dice.below(4), list[at].as_array_mut().filter(|entry| !entry.is_empty())) {
                (0, _) => drop(list.remove(at)),
                (1, _) => {
                    let again = list[at].clone();
                    list.push(again);
                }
                (_, Some(entry)) => {
                    let place = dice.below(entry.len());
                    entry[place] = if dice.chance(40) {
                        numbers::whole(&numbers::near_a_power(dice))
                    } else {
                        json!(dice.below(9))
                    };
                }
                (_, None) => list[at] = json!(dice.below(9)),
            }
        }
    }
}

/// Moves weights over time to the last units that there are.
fn late(dice: &mut Dice, claim: &mut Value) {
    let end = u64::try_from(numbers::near_a_power(dice)).unwrap_or(u64::from(u32::MAX)).min(u64::from(u32::MAX));
    let key = if claim.get("width").is_some() { "width" } else { "steps" };
    let Some(by) = claim.get(key).and_then(Value::as_u64).and_then(|now| end.checked_sub(now)) else { return };
    claim[key] = json!(end);
    for entry in claim["weights"].as_array_mut().into_iter().flatten().filter_map(Value::as_array_mut) {
        for unit in entry.iter_mut().skip(2).take(2) {
            *unit = json!(unit.as_u64().unwrap_or(1) + by);
        }
    }
}

/// Claims exactly what is proven, a little more or less, or anything.
fn value(dice: &mut Dice, file: &Value, sort: &str, claim: &mut Value) {
    if claim.get("at_least").is_none() {
        return;
    }
    let proven = File::read(file).ok().and_then(|file| {
        certificate::proven(&file, sort, claim, &mut Faults::default()).and_then(|claim| claim.proven)
    });
    claim["at_least"] = match proven.filter(|_| !dice.chance(8)) {
        None if dice.chance(30) => dice.pick(&[json!(0), json!(1), json!("0/5")]).clone(),
        None => numbers::fraction(dice),
        Some(hops) if sort == "steps" => {
            let hops = u64::try_from(hops.top).unwrap_or(9);
            json!(hops.saturating_add_signed(*dice.pick(&[0, 0, 1, -1])))
        }
        Some(proven) => numbers::near(dice, &proven),
    };
}
