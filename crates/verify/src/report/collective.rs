//! A collective in words.

use super::figures::count;
use collsynth_core::collective::Groups;
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
    let name = match (kind.root(), kind.stated_root()) {
        (Some(root), _) => format!("{} {preposition} {}", kind.name(), problem.topology().rank_label(root)),
        (None, Some(place)) => format!("{} {preposition} member {place}", kind.name()),
        (None, None) => kind.name().to_owned(),
    };
    match kind.groups() {
        Some(groups) => format!("{name} in {}", name_groups(groups)),
        None => name,
    }
}

/// `8 groups of 4`, `3 groups of 2 to 5 without relays`.
fn name_groups(groups: &Groups) -> String {
    let sizes = groups.members().iter().map(Vec::len);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let relays = if groups.may_relay() { "" } else { " without relays" };
    format!("{} of {range}{relays}", count(groups.members().len(), "group"))
}
