//! Changes that fit any JSON: a value, a key or an entry of a list somewhere in the file.

use serde_json::{Value, json};

use crate::dice::Dice;

/// Changes a value, a key or an entry anywhere in the file, except `format` itself.
pub fn change(dice: &mut Dice, file: &mut Value) {
    let place = place(dice, file, 0);
    match dice.below(6) {
        0 => {
            if let Some(keys) = place.as_object_mut() {
                keys.insert((*dice.pick(&["chunk", "With", "", "ranks", "capacity", "via", "root"])).into(), json!(1));
            }
        }
        1 => {
            if let Some(keys) = place.as_object_mut().filter(|keys| !keys.is_empty()) {
                let key = dice.pick(&keys.keys().cloned().collect::<Vec<_>>()).clone();
                keys.remove(&key);
            }
        }
        2 => {
            if let Some(list) = place.as_array_mut().filter(|list| !list.is_empty()) {
                let at = dice.below(list.len());
                list.remove(at);
            }
        }
        3 => {
            if let Some(list) = place.as_array_mut().filter(|list| !list.is_empty()) {
                let again = dice.pick(list).clone();
                list.push(again);
            }
        }
        4 => {
            if let Some(number) = place.as_u64() {
                *place = json!(number.wrapping_add_signed(*dice.pick(&[-1, 1, 2, 1 << 31, 1 << 32])));
            }
        }
        _ => *place = odd(dice),
    }
}

/// A list of objects that is not empty: other lists were changed before, and are left alone.
pub fn objects(value: &mut Value) -> Option<&mut Vec<Value>> {
    value.as_array_mut().filter(|list| !list.is_empty() && list.iter().all(Value::is_object))
}

fn odd(dice: &mut Dice) -> Value {
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(7),
        json!(1.0),
        json!(0.5),
        json!(u32::MAX),
        json!(1u64 << 32),
        json!(u64::MAX),
        json!("1"),
        json!("01"),
        json!("x+"),
        json!("0>1"),
        json!("-1"),
        json!("1/0"),
        json!("0.0"),
        json!("9.9"),
        json!([]),
        json!({}),
        json!([1, 1]),
    ];
    dice.pick(&odd).clone()
}

fn place<'v>(dice: &mut Dice, value: &'v mut Value, depth: usize) -> &'v mut Value {
    let names: Vec<_> = value.as_object().into_iter().flat_map(|keys| keys.keys().cloned()).collect();
    let names: Vec<_> = names.into_iter().filter(|name| name != "format").collect();
    let entries = value.as_array().map_or(0, Vec::len);
    if depth > 8 || depth > 0 && dice.chance(20) || names.is_empty() && entries == 0 {
        return value;
    }
    match entries {
        0 => {
            let name = dice.pick(&names);
            place(dice, &mut value[name], depth + 1)
        }
        _ => {
            let at = dice.below(entries);
            place(dice, &mut value[at], depth + 1)
        }
    }
}
