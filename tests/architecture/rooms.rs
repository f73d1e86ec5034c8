//! The rooms of each crate, and who may use whom.

use std::collections::BTreeSet;

use crate::paths::packages;
use crate::sources::sources;

/// Rooms of the crates, each with the other rooms of its crate that it may use. Manifests rule between crates.
const MAY_USE: &[(&str, &str, &[&str])] = &[
    ("crates/core", "exact", &[]),
    ("crates/core", "topology", &["exact"]),
    ("crates/core", "collective", &["exact", "topology"]),
    ("crates/core", "problem", &["exact", "topology", "collective"]),
    ("crates/core", "layout", &["exact", "topology", "collective", "problem"]),
    ("crates/core", "certificate", &["exact", "topology", "collective", "problem"]),
    ("crates/core", "schedule", &["exact", "topology", "collective", "problem", "certificate"]),
    ("crates/core", "program", &["exact", "topology", "collective", "problem", "schedule", "layout"]),
    ("crates/verify", "claim", &[]),
    ("crates/verify", "code", &[]),
    ("crates/verify", "guard", &[]),
    ("crates/verify", "verdict", &["guard"]),
    ("crates/verify", "explain", &[]),
    ("crates/verify", "verify", &["code", "guard", "verdict"]),
    ("crates/verify", "audit", &["code", "guard", "verdict"]),
    ("crates/verify", "shrink", &["verdict", "verify", "audit"]),
    ("crates/verify", "file", &["guard"]),
    ("crates/verify", "json", &["code", "guard"]),
    ("crates/verify", "report", &["claim", "verdict", "verify", "audit", "json", "guard", "explain"]),
    ("crates/verify", "judge", &["guard", "file", "json", "verdict", "verify", "audit", "report"]),
    ("crates/bound", "pace", &[]),
    ("crates/bound", "finding", &[]),
    ("crates/bound", "machine", &[]),
    ("crates/bound", "divided_trees", &[]),
    ("crates/bound", "cuts", &["machine", "pace"]),
    ("crates/bound", "words", &["cuts"]),
    ("crates/bound", "flows", &["finding", "machine", "words"]),
    ("crates/bound", "time", &["finding", "machine", "words", "flows"]),
    ("crates/bound", "trees", &["finding", "divided_trees", "words", "flows"]),
    ("crates/bound", "job", &["pace", "cuts", "flows"]),
    ("crates/bound", "find", &["finding", "pace", "cuts", "words", "flows"]),
    ("crates/plan", "model", &[]),
    ("crates/plan", "search", &["model"]),
    ("crates/plan", "planners", &["model", "search"]),
    ("crates/plan", "engine", &["model", "search", "planners"]),
    ("crates/baselines", "broken_rings", &[]),
    ("crates/baselines", "butterflies", &[]),
    ("crates/baselines", "router", &[]),
    ("crates/baselines", "dor", &["router"]),
    ("crates/baselines", "wfr", &["router"]),
    ("crates/baselines", "phased", &["broken_rings"]),
    ("crates/formats", "names", &[]),
    ("crates/formats", "xml", &[]),
    ("crates/formats", "waits", &[]),
    ("crates/formats", "csv", &[]),
    ("crates/formats", "demand", &[]),
    ("crates/formats", "goal", &[]),
    ("crates/formats", "trace", &[]),
    ("crates/formats", "teccl", &[]),
    ("crates/formats", "chakra", &["waits"]),
    ("crates/formats", "forestcoll", &["xml"]),
    ("crates/formats", "sccl", &["names"]),
    ("crates/formats", "msccl", &["names", "waits", "xml"]),
    ("crates/runtime", "lower", &[]),
    ("crates/runtime", "transports", &[]),
    ("crates/runtime", "playing", &["transports"]),
    ("crates/runtime", "calls", &["transports", "playing"]),
    ("crates/runtime", "compression", &["transports", "playing", "calls"]),
    ("crates/runtime", "trial", &["transports", "playing", "calls", "compression"]),
    ("crates/judging-kit", "dice", &[]),
    ("crates/judging-kit", "naive", &["dice"]),
    ("crates/judging-kit", "mutate", &["dice", "naive"]),
    ("crates/judging-kit", "compare", &["dice", "naive", "mutate"]),
    ("crates/view", "columns", &[]),
    ("crates/view", "layout", &[]),
    ("crates/view", "map", &[]),
    ("crates/view", "marks", &[]),
    ("crates/view", "machine", &["columns", "layout"]),
    ("crates/view", "packed", &["columns"]),
    ("crates/view", "page", &["columns", "layout", "machine", "packed"]),
    ("crates/view", "picture", &["layout", "marks"]),
    ("solvers/lp", "error", &[]),
    ("solvers/lp", "limit", &["error"]),
    ("solvers/lp", "network", &["error"]),
    ("solvers/lp", "model", &["error", "limit"]),
    ("solvers/lp", "orbits", &["error", "network"]),
    ("solvers/lp", "allocation", &["error", "limit", "model"]),
    ("solvers/lp", "flow", &["error", "limit", "network", "model", "orbits"]),
    ("solvers/lp", "stepped", &["error", "limit", "network", "model", "orbits"]),
    ("solvers/lp", "ends", &["error", "limit", "network", "model", "orbits"]),
    ("solvers/smt", "solver", &[]),
    ("solvers/smt", "cnf", &[]),
    ("solvers/smt", "instance", &[]),
    ("solvers/smt", "schedule", &["instance"]),
    ("solvers/smt", "symmetry", &["instance"]),
    ("solvers/smt", "pruning", &["instance", "schedule"]),
    ("solvers/smt", "lex", &["cnf"]),
    ("solvers/smt", "cadical", &["cnf", "solver"]),
    ("solvers/smt", "z3", &["cnf", "solver"]),
    ("solvers/smt", "sends", &["cnf", "instance", "lex", "symmetry"]),
    ("solvers/smt", "moves", &["cnf", "instance", "schedule", "symmetry", "sends"]),
    ("solvers/smt", "sums", &["cnf", "instance", "schedule", "symmetry", "sends", "pruning"]),
    (
        "solvers/smt",
        "search",
        &["solver", "cnf", "instance", "schedule", "symmetry", "sends", "moves", "sums", "cadical", "z3"],
    ),
    (".", "form", &[]),
    (".", "request", &["form"]),
    (".", "grouping", &[]),
    (".", "plan", &[]),
    (".", "relabel", &[]),
    (".", "renumber", &[]),
    (".", "report", &[]),
    (".", "cli", &[]),
];

#[test]
fn rooms_use_only_what_they_may() {
    let mut broken = Vec::new();
    for package in packages() {
        for used in package.uses.iter().filter(|used| !used.by.is_empty() && !used.module.is_empty()) {
            let (room, other) = (&used.by[0], &used.module[0]);
            let rule = MAY_USE.iter().find(|(of, name, _)| *of == package.name && name == room);
            let may = rule.is_some_and(|(.., others)| others.contains(&other.as_str()));
            if room != other && !may {
                broken.push(format!(
                    "{}: {} may not use crate::{}",
                    package.name,
                    used.by.join("::"),
                    used.written.join("::")
                ));
            }
        }
    }
    broken.sort();
    broken.dedup();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_room_is_known() {
    let sources = sources();
    let rooms = sources.iter().filter(|source| !source.modules.is_empty());
    let rooms: BTreeSet<(&str, &str)> = rooms.map(|source| (source.package.as_str(), source.room.as_str())).collect();
    let known: BTreeSet<(&str, &str)> = MAY_USE.iter().map(|&(package, room, _)| (package, room)).collect();
    assert_eq!(rooms, known);
    assert_eq!(known.len(), MAY_USE.len(), "a room has two rules");
}
