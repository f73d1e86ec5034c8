//! What schedules are lowered to is read back, and holds.

use collsynth_core::program::Barriers;
use collsynth_runtime::lower::{LowerError, Target, lower};
use collsynth_verify::json::{parse_solution, program_to_string};
use collsynth_verify::verify::{Options, Verified};

use super::{Disagreement, Seen, agree};
use crate::dice::Dice;
use crate::mutate;
use crate::naive::{self, opinion::Opinion, reader::to_text};

/// More of them are left to the judge alone.
const MOST_OPERATIONS: usize = 60;

/// Lowers a schedule, explicit or compact, if it holds, and asks both judges of the program.
pub fn compare_lowered(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = if dice.chance(70) { mutate::unchanged(dice) } else { mutate::compact(dice) };
    let text = to_text(&file);
    let barriers = *dice.pick(&[Barriers::None, Barriers::Neighbor, Barriers::Global]);
    let target = Target { barriers, in_place: dice.chance(30), ..Target::default() };
    let solution = parse_solution(&text).ok().and_then(|solution| Verified::new(solution, &Options::default()).ok());
    let Some(solution) = solution else { return agree(&file, &naive::judge(&file)) };
    let refused = |why: &str| Ok(Seen { verdict: why.into(), ..Seen::default() });
    let program = match lower(&solution, &target) {
        Ok(program) => program,
        Err(LowerError::NotInPlace { .. }) => return refused("not lowered in place"),
        Err(_) => return refused("not lowered with barriers"),
    };
    let many = program.operations().len() > MOST_OPERATIONS;
    let program = serde_json::from_str(&program_to_string(&program)).expect("a program is JSON");
    let opinion = if many { Opinion { large: true, ..Opinion::default() } } else { naive::judge(&program) };
    let mut seen = agree(&program, &opinion)?;
    if seen.verdict != "holds" {
        return Err(Box::new(Disagreement::of(
            &text,
            format!("lowered to what is {}: {:?}", seen.verdict, seen.codes),
        )));
    }
    let relays = if file["relays"] == false { ", without relays" } else { "" };
    seen.reached.push(format!("lowered with barriers {}{relays}", barriers.name()));
    Ok(seen)
}
