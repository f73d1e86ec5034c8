//! Collectives that fit a machine.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::naive::evidence::distance::reaches;
use crate::naive::problem::machine::Machine;
use crate::naive::problem::task::{KINDS, Task};
use crate::naive::reader::Faults;

/// A collective, and the task it describes.
pub fn task(dice: &mut Dice, machine: &Machine) -> (Value, Task) {
    let (kind, rooted, _) = *dice.pick(&KINDS);
    of_kind(dice, machine, kind, rooted)
}

/// A collective of a kind, and the task it describes, sometimes in groups; see [`Task::state_groups`].
pub fn of_kind(dice: &mut Dice, machine: &Machine, kind: &str, rooted: bool) -> (Value, Task) {
    let mut collective = json!({"kind": kind});
    if dice.chance(50) {
        collective["parts"] = json!(dice.between(1, 3));
    }
    let groups = (kind != "all_to_allv" && dice.chance(35)).then(|| groups(dice, machine));
    if rooted {
        collective["root"] = match &groups {
            // The first members are live.
            Some(_) => json!(0),
            None => json!(dice.pick(&machine.live_ranks())),
        };
    }
    if kind == "all_to_allv" {
        let ranks = machine.ranks();
        let row = |dice: &mut Dice| (0..ranks).map(|_| [0, 0, 1, 1, 2, 3][dice.below(6)]).collect::<Vec<_>>();
        collective["demand"] = (0..ranks).map(|_| row(dice)).collect();
    }
    let mut faults = Faults::default();
    let mut read = |relays: Option<&Value>| {
        let task = Task::read(&collective, (groups.as_ref(), relays), Some(machine), &mut faults);
        task.expect("the collective fits")
    };
    let free = read(None);
    if groups.is_none() || dice.chance(50) {
        return (collective, free);
    }
    let confined = read(Some(&json!(false)));
    let inside = confined.usable(machine);
    let alone = |members: &Vec<usize>| {
        let live: Vec<usize> = members.iter().copied().filter(|&rank| machine.live[rank]).collect();
        live.iter().all(|&from| live.iter().all(|&to| reaches(&inside, from, to)))
    };
    let task = if confined.groups.iter().all(alone) { confined } else { free };
    (collective, task)
}

/// One to three disjoint lists of ranks, each with a live one first.
fn groups(dice: &mut Dice, machine: &Machine) -> Value {
    let mut live = machine.live_ranks();
    dice.shuffle(&mut live);
    let count = dice.between(1, live.len().min(3));
    let mut groups: Vec<Vec<usize>> = live.iter().take(count).map(|&rank| vec![rank]).collect();
    let mut rest: Vec<usize> = (0..machine.ranks()).filter(|rank| !live[..count].contains(rank)).collect();
    dice.shuffle(&mut rest);
    for rank in rest {
        // Some ranks are in no group.
        if let Some(members) = groups.get_mut(dice.below(count + 1)) {
            members.push(rank);
        }
    }
    json!(groups)
}
