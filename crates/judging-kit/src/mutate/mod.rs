//! Files for both judges: valid ones from simple generators, and changes to them that know the format.

mod anywhere;
mod certificates;
mod changes;
mod compact;
mod groups;
mod jobs;
mod listings;
mod machines;
mod numbers;
mod plans;
mod programs;
mod tasks;

use serde_json::Value;

use crate::dice::Dice;

pub use certificates::{certificate, evident};
pub use numbers::powers_in;
pub use programs::maps::placing;
pub use programs::rewrites::change as change_program;

/// A schedule file. It holds, but for a few: their way back is not stated, or leads over links that failed.
pub fn unchanged(dice: &mut Dice) -> Value {
    let mut file = plans::file(dice);
    if dice.chance(50) {
        listings::mirror(dice, &mut file);
    }
    if dice.chance(20) {
        listings::plant(dice, &mut file);
    }
    if dice.chance(20) {
        listings::op_of_steps(dice, &mut file);
    }
    file
}

/// A schedule file, with none to three changes.
pub fn schedule(dice: &mut Dice) -> Value {
    let mut file = unchanged(dice);
    for _ in 0..dice.below(4) {
        changes::change(dice, &mut file);
    }
    file
}

/// A schedule file in the compact form, with none to three changes.
pub fn compact(dice: &mut Dice) -> Value {
    let mut file = compact::file(dice);
    if dice.chance(50) {
        listings::mirror(dice, &mut file);
    }
    if dice.chance(40) {
        listings::op_of_steps(dice, &mut file);
    }
    for _ in 0..dice.below(4) {
        compact::change(dice, &mut file);
    }
    file
}

/// A job, with none to three changes.
pub fn job(dice: &mut Dice) -> Value {
    let mut file = jobs::file(dice);
    for _ in 0..dice.below(4) {
        jobs::change(dice, &mut file);
    }
    file
}

/// A rank program, with none to three changes.
pub fn program(dice: &mut Dice) -> Value {
    let mut file = programs::file(dice);
    for _ in 0..dice.below(4) {
        programs::rewrites::change(dice, &mut file);
    }
    file
}

/// A text that is no JSON any more, or has a key twice, and the code of that.
pub fn broken(dice: &mut Dice, text: &str) -> (String, &'static str) {
    match dice.below(4) {
        // An empty file has a message of its own, and no code.
        0 => (text[..1 + dice.below(text.len() - 1)].to_string(), "F001"),
        1 => (format!("{text}{}", dice.pick(&["{}", "]", "0", ",", "x"])), "F001"),
        2 => (text.replacen(*dice.pick(&[":", "[", "\"", "{"]), "", 1), "F001"),
        _ => (format!("{{\"steps\":[],{}", &text[1..]), "F002"),
    }
}
