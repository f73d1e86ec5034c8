//! Writes transfers as CSV: a line for each chunk that moves, for spreadsheets and data frames.
//!
//! | column | meaning |
//! |---|---|
//! | `step` | from 1 |
//! | `from`, `to` | ranks |
//! | `via` | the direction of the link, `x+`; empty on machines without directions |
//! | `op` | `copy` or `reduce` |
//! | `chunk`, `label` | its number, and its readable name, `3>7/1` |
//!
//! Widths and bounds are left out.

use std::fmt::Write;

use collsynth_core::schedule::{Op, Solution};

/// The text of the table, in the order of the schedule. O(chunk moves).
pub fn to_string(solution: &Solution) -> String {
    let (problem, schedule) = (&solution.problem, &solution.schedule);
    let topology = problem.topology();
    let mut out = String::from("step,from,to,via,op,chunk,label\n");
    for step in schedule.steps() {
        for transfer in step.transfers {
            let (from, to) = (transfer.from, transfer.to);
            let link = topology.links_between(from, to).find_map(|id| topology.link(id).direction);
            let via = transfer.via.or(link).map(|direction| direction.to_string()).unwrap_or_default();
            let op = match transfer.op {
                Op::Copy => "copy",
                Op::Reduce => "reduce",
            };
            for &chunk in schedule.chunks(transfer) {
                let label = problem.chunk_label(chunk);
                let _ = writeln!(out, "{},{from},{to},{via},{op},{chunk},{label}", step.number);
            }
        }
    }
    out
}
