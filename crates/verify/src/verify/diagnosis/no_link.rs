//! Why a transfer has no live link.

use crate::verify::run::routes::links_that_fit;
use collsynth_core::schedule::Transfer;
use collsynth_core::topology::{LinkId, RankId, Topology};

/// T001 to T003: the ranks, then the links that leave the sender.
pub(super) fn no_link(topology: &Topology, transfer: &Transfer) -> String {
    for (what, rank) in [("sender", transfer.from), ("receiver", transfer.to)] {
        if rank.index() >= topology.rank_count() {
            let last = topology.rank_count() - 1;
            return format!("the {what} is rank {rank}, which is out of range: ranks are 0 to {last}");
        }
        if !topology.is_alive(rank) {
            return format!("the {what} is rank {}, which failed", topology.rank_label(rank));
        }
    }
    let (from, to) = (topology.rank_label(transfer.from), topology.rank_label(transfer.to));
    let joining: Vec<LinkId> = topology.links_between(transfer.from, transfer.to).collect();
    let directions: Vec<String> =
        joining.iter().filter_map(|&id| topology.link(id).direction).map(|direction| direction.to_string()).collect();
    let fitting = links_that_fit(topology, transfer).next();
    match (fitting, transfer.via, &joining[..]) {
        (_, _, []) if transfer.from == transfer.to => format!("rank {from} sends to itself; chunks move between ranks"),
        (_, _, []) => {
            let neighbors = neighbor_list(topology, transfer.from);
            format!("there is no link from rank {from} to rank {to}; rank {from} has live links to {neighbors}")
        }
        (None, Some(via), _) if directions.is_empty() => {
            format!("`via` says {via}, but the links of an explicit graph have no direction: leave `via` out")
        }
        (None, Some(via), _) => {
            let directions = directions.join(" or ");
            format!("there is no link from rank {from} to rank {to} in direction {via}: it goes {directions}")
        }
        (Some(_), None, [_, _, ..]) => {
            format!("two links join rank {from} to rank {to}: say which one with `via`, {}", directions.join(" or "))
        }
        (fitting, ..) => {
            let link = fitting.map(|id| topology.link_label(id)).unwrap_or_default();
            let neighbors = neighbor_list(topology, transfer.from);
            format!("link {link} has failed; rank {from} has live links to {neighbors}")
        }
    }
}

/// The live neighbors of a rank, each once, at most eight.
fn neighbor_list(topology: &Topology, rank: RankId) -> String {
    let live = topology.links_from(rank).map(|id| topology.link(id)).filter(|link| link.alive);
    let mut neighbors: Vec<RankId> = live.map(|link| link.to).collect();
    neighbors.dedup();
    let mut names: Vec<String> = neighbors.iter().take(8).map(|&rank| topology.rank_label(rank)).collect();
    if neighbors.len() > names.len() {
        names.push("...".to_owned());
    }
    if names.is_empty() { "no rank".to_owned() } else { names.join(", ") }
}
