//! Numbers at the ends of their types, and fractions that differ by as little as the format can say.

use num_bigint::BigUint;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::naive::fraction::Fraction;
use crate::naive::reader::number_beyond;

const POWERS: [u32; 11] = [7, 8, 15, 16, 31, 32, 53, 63, 64, 127, 128];

/// A power of two where some type ends, or one more or less.
pub fn near_a_power(dice: &mut Dice) -> BigUint {
    let power = BigUint::from(1u8) << *dice.pick(&POWERS);
    match dice.below(3) {
        0 => power,
        1 => power - 1u8,
        _ => power + 1u8,
    }
}

/// The powers of two, from 2^31 on, that a file has a number near.
pub fn powers_in(text: &str) -> Vec<u32> {
    let near = |power: u32| {
        let number = BigUint::from(1u8) << power;
        [&number - 1u8, number.clone(), number + 1u8].iter().any(|number| text.contains(&number.to_string()))
    };
    POWERS.into_iter().filter(|&power| power > 16 && near(power)).collect()
}

/// A whole number, however large.
pub fn whole(number: &BigUint) -> Value {
    u64::try_from(number).map_or_else(|_| number_beyond(&number.to_string()), |number| json!(number))
}

/// Puts a number near a power of two in the place of some number of the file: mostly of one that counts something.
pub fn change(dice: &mut Dice, file: &mut Value) {
    let (mut counts, mut names) = (Vec::new(), Vec::new());
    places(file, String::new(), &mut counts, &mut names);
    let places = if names.is_empty() || !counts.is_empty() && dice.chance(75) { counts } else { names };
    if places.is_empty() {
        return;
    }
    let number = near_a_power(dice);
    let place = dice.pick(&places).clone();
    if let Some(place) = file.pointer_mut(&place) {
        *place = whole(&number);
    }
}

/// The places of all numbers: what counts something, and what names a rank or a chunk.
fn places(value: &Value, path: String, counts: &mut Vec<String>, names: &mut Vec<String>) {
    match value {
        Value::Number(_) => {
            let named = ["/from", "/to", "/chunks/", "/groups/"].iter().any(|key| path.contains(key));
            if named { names.push(path) } else { counts.push(path) }
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, entry)| places(entry, format!("{path}/{at}"), counts, names));
        }
        Value::Object(keys) => {
            keys.iter().for_each(|(key, entry)| places(entry, format!("{path}/{key}"), counts, names));
        }
        _ => {}
    }
}

/// A fraction of numbers near powers of two.
pub fn fraction(dice: &mut Dice) -> Value {
    let most = if dice.chance(10) { 128 } else { 127 };
    let mut number = || loop {
        let number = near_a_power(dice);
        if number.bits() <= most {
            return number;
        }
    };
    let (top, bottom) = (number(), number());
    match dice.chance(20) {
        true => whole(&top),
        false => json!(format!("{top}/{bottom}")),
    }
}

/// What is proven, or as little more or less as can be said, or a whole number beside it.
pub fn near(dice: &mut Dice, proven: &Fraction) -> Value {
    let Fraction { top, bottom } = proven;
    let fraction = |top: BigUint, bottom: BigUint| json!(format!("{top}/{bottom}"));
    let largest = (BigUint::from(1u8) << 127) - 1u8;
    let times = largest / (top + 1u8).max(bottom.clone());
    let one = |number: BigUint| if number > BigUint::ZERO { number - 1u8 } else { number };
    match dice.below(9) {
        _ if times == BigUint::ZERO => fraction(top.clone(), bottom.clone()),
        0 => fraction(top * &times + 1u8, bottom * &times),
        1 => fraction(one(top * &times), bottom * &times),
        2 => fraction(top * &times, bottom * &times),
        3 => fraction(top + 1u8, bottom.clone()),
        4 => fraction(one(top.clone()), bottom.clone()),
        5 => whole(&(top / bottom)),
        6 => whole(&((top + bottom - 1u8) / bottom)),
        7 => {
            let times = dice.between(1, 3);
            fraction(top * times, bottom * times)
        }
        _ => fraction(top.clone(), bottom.clone()),
    }
}
