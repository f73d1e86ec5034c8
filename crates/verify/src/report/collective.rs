//! A collective in words.

use collsynth_core::problem::Problem;

/// How the units are cut: `whole messages`, `shards in 5 parts`; with a demand matrix, `messages of 5 chunks`.
pub fn cut(problem: &Problem) -> String {
    let kind = &problem.collective().kind;
    let unit = kind.unit().name();
    match (problem.parts(), kind.demand()) {
        (1, _) => format!("whole {unit}s"),
        (parts, Some(_)) => format!("{unit}s of {parts} chunks"),
        (parts, None) => format!("{unit}s in {parts} parts"),
    }
}

/// The collective with its root: `all_gather`, `broadcast from 5 (1,1,0)`, `gather to 0 (0,0)`.
pub fn name_collective(problem: &Problem) -> String {
    let kind = &problem.collective().kind;
    let preposition = if kind.is_to_root() { "to" } else { "from" };
    match kind.root() {
        Some(root) => format!("{} {preposition} {}", kind.name(), problem.topology().rank_label(root)),
        None => kind.name().to_owned(),
    }
}
