//! Changes to the groups of a file.

use serde_json::{Value, json};

use crate::dice::Dice;

/// Swaps, adds or drops members, or lets ranks relay or not; a file without groups is left as it is, or gets some.
pub fn change(dice: &mut Dice, file: &mut Value) {
    if !file.is_object() {
        return;
    }
    if dice.chance(25) {
        file["relays"] = json!(file["relays"] == json!(false));
        return;
    }
    let Some(groups) = file.get_mut("groups").and_then(Value::as_array_mut).filter(|groups| !groups.is_empty()) else {
        if dice.chance(15) {
            file["groups"] = json!([[0, 1], [2]]);
        }
        return;
    };
    let (one, other) = (dice.below(groups.len()), dice.below(groups.len()));
    match dice.below(6) {
        0 => groups.swap(one, other),
        1 => {
            let any = json!(dice.below(7));
            if let Some(members) = groups[one].as_array_mut() {
                members.push(any);
            }
        }
        2 => {
            if let Some(members) = groups[one].as_array_mut().filter(|members| !members.is_empty()) {
                let at = dice.below(members.len());
                members.remove(at);
            }
        }
        3 => {
            if let Some(members) = groups[one].as_array_mut() {
                dice.shuffle(members);
            }
        }
        4 => drop(groups.remove(one)),
        _ => {
            // A member of one for a member of the other.
            let place = |dice: &mut Dice, groups: &Vec<Value>, at: usize| {
                let members = groups[at].as_array().map_or(0, Vec::len);
                (members > 0).then(|| dice.below(members))
            };
            if let (Some(here), Some(there)) = (place(dice, groups, one), place(dice, groups, other)) {
                let first = groups[one][here].clone();
                let second = groups[other][there].clone();
                (groups[one][here], groups[other][there]) = (second, first);
            }
        }
    }
}
