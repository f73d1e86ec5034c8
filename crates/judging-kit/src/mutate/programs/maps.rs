//! Where a program runs: the machine of `--topology`, and the ranks of it of `--rank-map`.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::mutate::{machines, numbers};
use crate::naive::problem::machine::Machine;
use crate::naive::program::place::Placing;

/// A machine, and mostly a map, for a program: its own ranks in any order, or anything.
pub fn placing(dice: &mut Dice, file: &Value) -> Placing {
    let contention_free = dice.chance(30);
    if dice.chance(25) {
        return Placing { contention_free, ..Placing::default() };
    }
    let own = machines::read(&file["topology"]);
    let ranks = file["programs"].as_array().map_or(3, Vec::len).clamp(1, 16);
    let (mut topology, mut map) = match own {
        Some(machine) if dice.chance(70) => {
            let mut map: Vec<u64> = (0..machine.ranks() as u64).collect();
            match dice.chance(40) {
                true => (file["topology"].clone(), map),
                false => {
                    dice.shuffle(&mut map);
                    (moved(dice, &machine, &map), map)
                }
            }
        }
        _ => {
            let (topology, machine) = match dice.chance(50) {
                true => complete(ranks + dice.below(2)),
                false => machines::machine(dice),
            };
            let mut places: Vec<u64> = (0..machine.ranks() as u64).collect();
            if dice.chance(70) {
                dice.shuffle(&mut places);
            }
            (topology, (0..ranks).map(|rank| places.get(rank).copied().unwrap_or(rank as u64)).collect())
        }
    };
    if dice.chance(20) {
        let mut worse = topology.clone();
        machines::fail(dice, &mut worse);
        if machines::read(&worse).is_some() {
            topology = worse;
        }
    }
    let at = dice.below(map.len());
    match dice.below(14) {
        0 => map[at] = map[dice.below(map.len())],
        1 => map.push(map[at]),
        2 => map.push(map.len() as u64),
        3 => drop(map.remove(at)),
        4 => map[at] = u64::try_from(numbers::near_a_power(dice)).unwrap_or(99) % (1 << 32),
        5 => map[at] += 1,
        6 => {
            let other = dice.below(map.len());
            map.swap(at, other);
        }
        _ => {}
    }
    let identity = map.iter().enumerate().all(|(rank, &at)| rank as u64 == at);
    // An empty map is none.
    let map = (!(map.is_empty() || identity && dice.chance(50))).then_some(map);
    Placing { machine: Some(topology), map, contention_free }
}

/// All ranks joined.
fn complete(ranks: usize) -> (Value, Machine) {
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let links: Vec<_> = pairs.map(|(from, to)| json!({"from": from, "to": to})).collect();
    let topology = json!({"links": links, "ranks": ranks});
    let machine = machines::read(&topology).expect("a machine was made");
    (topology, machine)
}

/// The same machine as a graph, its ranks named anew; two links between the same ranks become one, or neither.
fn moved(dice: &mut Dice, machine: &Machine, map: &[u64]) -> Value {
    let mut links = Vec::new();
    for link in machine.live_links() {
        let (from, to) = (map[link.from], map[link.to]);
        let entry = json!({"from": from, "to": to, "capacity": link.capacity});
        if !links.iter().any(|other: &Value| other["from"] == from && other["to"] == to) {
            links.push(entry);
        }
    }
    dice.shuffle(&mut links);
    let failed = (0..machine.ranks()).filter(|&rank| !machine.live[rank]).map(|rank| map[rank]);
    json!({"links": links, "ranks": machine.ranks(), "failed_ranks": failed.collect::<Vec<_>>()})
}
