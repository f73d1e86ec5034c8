//! Programs that schedules are lowered to: read back, they hold; changed, both judges say the same of them.

use collsynth_core::program::Barriers;
use collsynth_runtime::lower::{LowerError, Target, lower};
use collsynth_verify::json::{parse_solution, program_to_string};
use collsynth_verify::verify::{Options, Verified};
use serde_json::Value;

use super::{Disagreement, Seen, agree};
use crate::dice::Dice;
use crate::mutate;
use crate::naive::program::place::Placing;
use crate::naive::{self, opinion::Opinion, reader::to_text};

/// More of them are left to the judge alone.
const MOST_OPERATIONS: usize = 150;

/// The program that a schedule was lowered to.
struct Lowered {
    program: Value,
    barriers: Barriers,
    /// What the naive judge says of the program, or that it is too large.
    opinion: fn(&Value) -> Opinion,
}

/// Lowers a schedule, explicit or compact, if it holds, and asks both judges of the program.
pub fn compare_lowered(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let schedule = if dice.chance(70) { mutate::unchanged(dice) } else { mutate::compact(dice) };
    let Lowered { program, barriers, opinion } = match lowered(dice, &schedule) {
        Ok(lowered) => lowered,
        Err(instead) => return instead,
    };
    let mut seen = agree(&program, &opinion(&program))?;
    if seen.verdict != "holds" {
        let judge = format!("lowered to what is {}: {:?}", seen.verdict, seen.codes);
        let (file, naive) = (to_text(&schedule), "it holds".to_owned());
        return Err(Box::new(Disagreement { file, placing: Placing::default(), judge, naive }));
    }
    let relays = if schedule["relays"] == false { ", without relays" } else { "" };
    seen.reached.push(format!("lowered with barriers {}{relays}", barriers.name()));
    Ok(seen)
}

/// Asks both judges of a lowered program with one to three changes.
pub fn compare_changed(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let schedule = mutate::unchanged(dice);
    let Lowered { mut program, opinion, .. } = match lowered(dice, &schedule) {
        Ok(lowered) => lowered,
        Err(instead) => return instead,
    };
    for _ in 0..dice.between(1, 3) {
        mutate::change_program(dice, &mut program);
    }
    agree(&program, &opinion(&program))
}

/// Lowers a schedule; if that cannot be done, what is met instead.
fn lowered(dice: &mut Dice, schedule: &Value) -> Result<Lowered, Result<Seen, Box<Disagreement>>> {
    let barriers = *dice.pick(&[Barriers::None, Barriers::Neighbor, Barriers::Global]);
    let target = Target { barriers, in_place: dice.chance(30), ..Target::default() };
    let read = parse_solution(&to_text(schedule)).ok();
    let Some(solution) = read.and_then(|solution| Verified::new(solution, &Options::default()).ok()) else {
        return Err(agree(schedule, &naive::judge(schedule)));
    };
    let refused = |why: &str| Err(Ok(Seen { verdict: why.into(), ..Seen::default() }));
    let program = match lower(&solution, &target) {
        Ok(program) => program,
        Err(LowerError::NotInPlace { .. }) => return refused("not lowered in place"),
        Err(_) => return refused("not lowered with barriers"),
    };
    let is_large = program.operations().len() > MOST_OPERATIONS;
    let opinion = if is_large { |_: &Value| Opinion { large: true, ..Opinion::default() } } else { naive::judge };
    let program = serde_json::from_str(&program_to_string(&program)).expect("a program is JSON");
    Ok(Lowered { program, barriers, opinion })
}
