//! Transfers as CSV: a line for each chunk that moves, for spreadsheets, data frames, and schedules typed by hand.
//!
//! | column | meaning |
//! |---|---|
//! | `step` | from 1 |
//! | `from`, `to` | ranks |
//! | `via` | the direction of the link, `x+`; empty on machines without directions |
//! | `op` | `copy` or `reduce` |
//! | `chunk`, `label` | its number, and its readable name, `3>7/1` |
//!
//! Widths and bounds are left out. What is read may leave out columns, too: see [`parse_within`].

mod read;

pub use read::{parse, parse_within};

use std::io::{self, Write};

use collsynth_core::schedule::{Choice, Op, Solution, Timetable};

/// Writes the table of the wanted transfers, all their chunks included, in the order of the schedule. O(chunk moves)
/// time, and memory for the transfers of a step.
///
/// # Errors
///
/// Those of `out`.
pub fn write<S: Timetable>(out: &mut dyn Write, solution: &Solution<S>, choice: &Choice) -> io::Result<()> {
    let (problem, schedule) = (&solution.problem, &solution.schedule);
    let topology = problem.topology();
    writeln!(out, "step,from,to,via,op,chunk,label")?;
    for step in schedule.numbers() {
        for slot in schedule.slots(step, choice) {
            let (from, to) = (slot.from, slot.to);
            let link = topology.links_between(from, to).find_map(|id| topology.link(id).direction);
            let via = slot.via.or(link).map(|direction| direction.to_string()).unwrap_or_default();
            let op = match slot.op {
                Op::Copy => "copy",
                Op::Reduce => "reduce",
            };
            for &chunk in schedule.chunks_of(&slot).iter() {
                writeln!(out, "{step},{from},{to},{via},{op},{chunk},{}", problem.chunk_label(chunk))?;
            }
        }
    }
    Ok(())
}
