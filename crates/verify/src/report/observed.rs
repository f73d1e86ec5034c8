//! What running a schedule showed: the room for chunks, and how sums are formed.

use serde_json::{Value, json};

use super::figures::count;
use super::table::Table;
use crate::verify::{Observed, Peak, Sums};
use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;

/// The longest order of additions shown to people.
const LONGEST_ORDER: usize = 60;

/// Adds a row for the chunks held at a time, and one for sums.
pub fn add_rows(table: &mut Table, problem: &Problem, observed: Option<&Observed>) {
    let Some(observed) = observed else { return };
    table.remark("held", held(problem, observed.held));
    if let Some(sums) = &observed.sums {
        table.remark("sums", describe(problem, sums));
    }
}

/// Adds the keys `held` and `sums`.
pub fn add_json(summary: &mut Value, observed: Option<&Observed>) {
    let Some(observed) = observed else { return };
    let Peak { chunks, rank, step } = observed.held;
    summary["held"] = json!({ "chunks": chunks, "rank": rank.0, "step": step });
    summary["sums"] = observed.sums.as_ref().map_or(Value::Null, |sums| {
        let Sums { chunks, alike, orders, depth, first } = sums;
        json!({ "chunks": chunks, "alike": alike, "orders": orders, "depth": depth, "first": first })
    });
}

fn held(problem: &Problem, peak: Peak) -> String {
    let when = peak.step.map_or("at the start".to_owned(), |step| format!("in step {step}"));
    let rank = problem.topology().rank_label(peak.rank);
    format!("at most {} at a time: rank {rank}, {when}", count(peak.chunks as usize, "chunk"))
}

/// `bitwise the same at every rank; one order: 0+1+2`.
fn describe(problem: &Problem, sums: &Sums) -> String {
    let everywhere = problem.rule(ChunkId(0)).after;
    let everywhere = matches!(everywhere, Holders::Every | Holders::Group(_));
    let mut words = String::new();
    if everywhere {
        words += &match sums.chunks - sums.alike {
            0 => "bitwise the same at every rank; ".to_owned(),
            unlike => format!("not the same at every rank in {unlike} of {}; ", count(sums.chunks as usize, "chunk")),
        };
    }
    words += &match (sums.orders, sums.chunks) {
        (1, 1) => "added in one order".to_owned(),
        (1, chunks) => format!("{chunks} chunks added in one order"),
        (orders, chunks) => format!("{} added in {orders} orders", count(chunks as usize, "chunk")),
    };
    words += &format!(", {} deep", sums.depth);
    if sums.orders == 1 && sums.first.len() <= LONGEST_ORDER {
        words += &format!(": {}", sums.first);
    }
    words
}
