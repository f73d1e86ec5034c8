//! Transfers as CSV: a line for each chunk that moves, for spreadsheets, data frames, and schedules typed by hand.
//!
//! | column | meaning |
//! |---|---|
//! | `schedule` | of a job: its number, from 0 |
//! | `step` | from 1 |
//! | `from`, `to` | ranks |
//! | `via` | the direction of the link, `x+`; empty on machines without directions |
//! | `op` | `copy` or `reduce` |
//! | `chunk`, `label` | its number, and its readable name, `3>7/1` |
//!
//! Widths and bounds are left out. A table of one schedule has no column `schedule`; only such a table is read, and may
//! leave out other columns: see [`parse_within`].

mod read;

pub use read::{parse, parse_within};

use std::io::{self, Write};

use collsynth_core::schedule::{Choice, Op, Solution, Timetable};

/// Writes the table of the wanted transfers, all their chunks included, in the order of the steps: of a schedule, or of
/// those of a job. O(chunk moves) time, and memory for the transfers of a step.
///
/// # Errors
///
/// Those of `out`.
pub fn write<S: Timetable>(out: &mut dyn Write, solutions: &[Solution<S>], choice: &Choice) -> io::Result<()> {
    let is_job = solutions.len() > 1;
    writeln!(out, "{}step,from,to,via,op,chunk,label", if is_job { "schedule," } else { "" })?;
    let steps = solutions.iter().map(|solution| solution.schedule.step_count()).max().unwrap_or(0);
    for step in (1..).take(steps) {
        for (number, solution) in solutions.iter().enumerate().filter(|(_, one)| one.schedule.numbers().contains(&step))
        {
            let schedule = if is_job { format!("{number},") } else { String::new() };
            write_step(out, solution, step, choice, &schedule)?;
        }
    }
    Ok(())
}

fn write_step<S: Timetable>(
    out: &mut dyn Write,
    Solution { problem, schedule, .. }: &Solution<S>,
    step: u32,
    choice: &Choice,
    before: &str,
) -> io::Result<()> {
    let topology = problem.topology();
    for slot in schedule.slots(step, choice) {
        let (from, to) = (slot.from, slot.to);
        let link = topology.links_between(from, to).find_map(|id| topology.link(id).direction);
        let via = slot.via.or(link).map(|direction| direction.to_string()).unwrap_or_default();
        let op = match slot.op {
            Op::Copy => "copy",
            Op::Reduce => "reduce",
        };
        for &chunk in schedule.chunks_of(&slot).iter() {
            writeln!(out, "{before}{step},{from},{to},{via},{op},{chunk},{}", problem.chunk_label(chunk))?;
        }
    }
    Ok(())
}
