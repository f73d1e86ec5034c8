//! Collectives that fit a machine.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::naive::machine::Machine;
use crate::naive::reader::Faults;
use crate::naive::task::{KINDS, Task};

/// A collective, and the task it describes.
pub fn task(dice: &mut Dice, machine: &Machine) -> (Value, Task) {
    let (kind, rooted, _) = *dice.pick(&KINDS);
    of_kind(dice, machine, kind, rooted)
}

/// A collective of a kind, and the task it describes.
pub fn of_kind(dice: &mut Dice, machine: &Machine, kind: &str, rooted: bool) -> (Value, Task) {
    let mut collective = json!({"kind": kind});
    if dice.chance(50) {
        collective["parts"] = json!(dice.between(1, 3));
    }
    if rooted {
        collective["root"] = json!(dice.pick(&machine.live_ranks()));
    }
    if kind == "all_to_allv" {
        let ranks = machine.ranks();
        let row = |dice: &mut Dice| (0..ranks).map(|_| [0, 0, 1, 1, 2, 3][dice.below(6)]).collect::<Vec<_>>();
        collective["demand"] = (0..ranks).map(|_| row(dice)).collect();
    }
    let mut faults = Faults::default();
    let task = Task::read(&collective, (None, None), Some(machine), &mut faults).expect("the collective fits");
    (collective, task)
}
