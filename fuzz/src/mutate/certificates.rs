//! Claims with evidence: random, set to exactly what it proves, or more, or forged.

use serde_json::{Map, Value, json};

use super::{anywhere, machines, plans, tasks};
use crate::dice::Dice;
use crate::naive::certificate;
use crate::naive::file::File;
use crate::naive::fraction::Fraction;
use crate::naive::machine::Machine;
use crate::naive::reader::Faults;
use crate::naive::task::Task;

/// A file with one to three claims; its schedule may be missing.
pub fn certificate(dice: &mut Dice) -> Value {
    let (topology, machine) = machines::machine(dice);
    let (collective, task) = tasks::task(dice, &machine);
    let mut file = match dice.chance(15) {
        true => plans::file(dice),
        false => json!({
            "format": "collective-schedule/1", "topology": topology, "collective": collective, "steps": []
        }),
    };
    if file["steps"].as_array().is_some_and(Vec::is_empty) {
        task.state_groups(&mut file);
        if task.grouped && dice.chance(30) {
            file["relays"] = json!(dice.chance(20));
        }
    }
    let mut bounds = Map::new();
    for _ in 0..dice.between(1, 3) {
        let sort = *dice.pick(&["volume", "steps", "joint"]);
        let mut claim = evidence(dice, sort, &machine, &task);
        if dice.chance(35) {
            forge(dice, &mut claim);
        }
        if dice.chance(8) {
            anywhere::change(dice, &mut claim);
        }
        value(dice, &file, sort, &mut claim);
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
    if dice.chance(5) {
        machines::fail(dice, &mut file["topology"]);
    }
    file
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

fn weights(dice: &mut Dice, machine: &Machine) -> Vec<Value> {
    if dice.chance(40) {
        return across(dice, machine).into_iter().map(|(from, to)| json!([from, to, 1])).collect();
    }
    pairs(dice, machine).into_iter().map(|(from, to)| json!([from, to, length(dice)])).collect()
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
    let big = [json!(0), json!(1), json!(u32::MAX), json!(1u64 << 31), json!(1u64 << 32)];
    match dice.below(6) {
        0 => {
            if claim.get("width").is_some() {
                claim["width"] = dice.pick(&big).clone();
            } else if claim.get("steps").is_some() {
                claim["steps"] = dice.pick(&big).clone();
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
                    entry[place] = if dice.chance(40) { dice.pick(&big).clone() } else { json!(dice.below(9)) };
                }
                (_, None) => list[at] = json!(dice.below(9)),
            }
        }
    }
}

/// Claims exactly what is proven, a little more or less, or anything.
fn value(dice: &mut Dice, file: &Value, sort: &str, claim: &mut Value) {
    let any = [json!(0), json!(1), json!("0/5"), json!("170141183460469231731687303715884105727"), json!(u64::MAX)];
    let proven = File::read(file).ok().and_then(|file| {
        certificate::proven(&file, sort, claim, &mut Faults::default()).and_then(|claim| claim.proven)
    });
    let Some(Fraction { top, bottom }) = proven.filter(|_| claim.get("at_least").is_some() && !dice.chance(8)) else {
        if claim.get("at_least").is_some() {
            claim["at_least"] = dice.pick(&any).clone();
        }
        return;
    };
    if sort == "steps" {
        let hops = u64::try_from(top).unwrap_or(9);
        claim["at_least"] = json!(hops.saturating_add_signed(*dice.pick(&[0, 0, 1, -1])));
        return;
    }
    let times = dice.between(1, 3) as u128;
    let (top, bottom) = (top * times, bottom * times);
    let fraction = |top: u128, bottom: u128| json!(format!("{top}/{bottom}"));
    // By so little more or less that rounding would not show it.
    let fine = 1u128 << 40;
    claim["at_least"] = match dice.below(6) {
        0 if bottom < 1 << 80 && top < 1 << 80 => fraction(top * fine + 1, bottom * fine),
        1 if bottom < 1 << 80 && top < 1 << 80 => fraction((top * fine).saturating_sub(1), bottom * fine),
        2 => fraction(top + 1, bottom),
        3 if top % bottom == 0 && top / bottom < 1 << 60 => json!((top / bottom) as u64),
        _ => fraction(top, bottom),
    };
}
