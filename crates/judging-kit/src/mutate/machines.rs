//! Small machines of all sorts, whose live ranks can all reach each other.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::naive::evidence::distance::reaches;
use crate::naive::problem::machine::Machine;
use crate::naive::reader::Faults;

const TORI: [&[usize]; 13] =
    [&[3], &[1], &[2], &[4], &[5], &[2, 2], &[3, 2], &[3, 3], &[2, 2, 2], &[4, 2], &[6], &[1, 4], &[3, 1, 2]];

/// A topology, and the machine it describes.
pub fn machine(dice: &mut Dice) -> (Value, Machine) {
    let mut topology = if dice.chance(30) { graph(dice) } else { torus(dice) };
    for _ in 0..dice.below(4) {
        let mut worse = topology.clone();
        fail(dice, &mut worse);
        if read(&worse).is_some_and(|machine| connected(&machine)) {
            topology = worse;
        }
    }
    let machine = read(&topology).expect("a machine was made");
    (topology, machine)
}

/// A machine in which all ranks are joined.
pub fn complete(dice: &mut Dice) -> (Value, Machine) {
    let ranks = dice.between(3, 4);
    let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let topology = json!({"links": pairs.map(|(from, to)| json!({"from": from, "to": to})).collect::<Vec<_>>()});
    let machine = read(&topology).expect("a machine was made");
    (topology, machine)
}

/// The machine of a topology, if it is one.
pub fn read(topology: &Value) -> Option<Machine> {
    let mut faults = Faults::default();
    Machine::read(topology, &mut faults).filter(|_| faults.codes.is_empty())
}

/// A failure of something, stated in one of the ways there are.
pub fn fail(dice: &mut Dice, topology: &mut Value) {
    let Some(machine) = read(topology) else { return };
    let list = |topology: &mut Value, key: &str, failure: Value| match topology[key].as_array_mut() {
        Some(list) => list.push(failure),
        None => topology[key] = json!([failure]),
    };
    if machine.links.is_empty() || dice.chance(25) {
        return list(topology, "failed_ranks", json!(dice.below(machine.ranks())));
    }
    let link = dice.pick(&machine.links);
    let mut failure = json!({"from": link.from, "to": link.to});
    let twins = machine.links.iter().filter(|other| (other.from, other.to) == (link.from, link.to)).count();
    if let Some((dim, grows)) = link.direction {
        match (twins > 1, dice.chance(50)) {
            (true, _) => failure["dim"] = json!(direction(dim, grows)),
            (false, true) => failure["dim"] = json!(direction(dim, grows)[..1]),
            (false, false) => {}
        }
    }
    if dice.chance(40) {
        failure["both"] = json!(dice.chance(30));
    }
    list(topology, "failed_links", failure);
}

/// Another dead switch of a torus, which may not be there; the first states a period, which may be none.
pub fn fail_switch(dice: &mut Dice, topology: &mut Value) {
    let Some(extents) = read(topology).and_then(|machine| machine.torus) else { return };
    if topology.get("failed_switches").is_none() {
        topology["failed_switches"] = json!([]);
        topology["period"] = extents.iter().map(|&extent| dice.between(1, extent)).collect();
    }
    let dim = dice.below(extents.len());
    let at: Vec<String> = (1..extents.len()).map(|_| dice.below(2).to_string()).collect();
    let switch = json!(format!("{}:{}", &direction(dim, true)[..1], at.join(",")));
    topology["failed_switches"].as_array_mut().expect("a list").push(switch);
}

/// `x+`, for the small dimensions used here.
pub fn direction(dim: usize, grows: bool) -> String {
    format!("{}{}", ["x", "y", "z"][dim.min(2)], if grows { "+" } else { "-" })
}

/// Can every live rank reach every other?
pub fn connected(machine: &Machine) -> bool {
    let live = machine.live_ranks();
    live.iter().all(|&from| live.iter().all(|&to| reaches(machine, from, to)))
}

fn torus(dice: &mut Dice) -> Value {
    let extents = *dice.pick(&TORI);
    let mut topology = json!({"torus": extents});
    if dice.chance(40) {
        topology["wrap"] = extents.iter().map(|_| dice.chance(60)).collect();
    }
    if dice.chance(25) {
        let mut twisted = topology.clone();
        let (dim, other) = (dice.below(extents.len()), dice.below(extents.len()));
        let mut rows = vec![vec![0; extents.len()]; extents.len()];
        rows[dim][other] = dice.below(extents[other]);
        twisted["twist"] = json!(rows);
        if read(&twisted).is_some() {
            topology = twisted;
        }
    }
    if dice.chance(25) {
        topology["capacity"] = extents.iter().map(|_| dice.between(1, 3)).collect();
    }
    topology
}

/// A ring in one direction, and some more links.
fn graph(dice: &mut Dice) -> Value {
    let ranks = dice.between(2, 6);
    let mut links = Vec::new();
    for from in 0..ranks {
        for to in 0..ranks {
            if to == (from + 1) % ranks || from != to && dice.chance(35) {
                let capacity = dice.between(1, 3);
                links.push(match capacity {
                    1 => json!({"from": from, "to": to}),
                    _ => json!({"from": from, "to": to, "capacity": capacity}),
                });
            }
        }
    }
    dice.shuffle(&mut links);
    match dice.chance(30) {
        true => json!({"links": links, "ranks": ranks}),
        false => json!({"links": links}),
    }
}
