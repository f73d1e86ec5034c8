//! A machine in words and tables.

use collsynth_core::exact::{dimension, narrow};
use std::fmt::Write;

use super::figures::{count, shortened};
use super::table::Table;
use collsynth_core::topology::{
    Direction, Distances, FailedLink, LinkId, RankId, Topology, Torus, dim_name, format_coordinates,
};

/// Components listed of a disconnected network, and ranks of each.
const LISTED: usize = 8;
/// The most ranks for which all distances are measured, at two bytes per pair.
const MEASURED_RANKS: usize = 8192;

/// The machine in a few words: `4x4x4 torus with 1 failed cable`.
pub fn describe(topology: &Topology) -> String {
    let mut text = describe_shape(topology);
    let spec = topology.spec();
    let cables = spec.failed_links.iter().filter(|failed| failed.both).count();
    let failed = [
        (cables, "failed cable"),
        (spec.failed_links.len() - cables, "failed link"),
        (spec.failed_ranks.len(), "failed rank"),
    ];
    for (index, (number, noun)) in failed.into_iter().filter(|(number, _)| *number > 0).enumerate() {
        text += if index == 0 { " with " } else { ", " };
        text += &count(number, noun);
    }
    text
}

/// The components of a disconnected network, one per line, long lists shortened.
pub fn describe_components(topology: &Topology, components: &[Vec<RankId>]) -> String {
    let describe = |(index, ranks): (usize, &Vec<RankId>)| {
        let names = shortened(ranks.iter().map(|&rank| topology.rank_label(rank)), LISTED, ", ");
        format!("  part {}: {}: {names}", index + 1, count(ranks.len(), "rank"))
    };
    shortened(components.iter().enumerate().map(describe), LISTED, "\n")
}

/// The machine: its shape, failures, diameter, and a table of ranks with their neighbors.
pub fn to_text(topology: &Topology) -> String {
    let mut text = format!("{}\n", describe(topology));
    let live_links = topology.live_links().count();
    let _ = writeln!(
        text,
        "{} ({} live), {} ({live_links} live)",
        count(topology.rank_count(), "rank"),
        topology.live_rank_count(),
        count(topology.links().len(), "link"),
    );
    text.push_str(&connection(topology));
    text.push_str(&dimensions(topology));
    text.push_str(&failures(topology));
    text.push('\n');
    text.push_str(&ranks(topology));
    text
}

fn describe_shape(topology: &Topology) -> String {
    let Some(torus) = topology.as_torus() else {
        return format!("graph of {}", count(topology.rank_count(), "rank"));
    };
    if let ([extent], [wrap]) = (&torus.extents[..], &torus.wrap[..]) {
        return format!("{} of {}", if *wrap { "ring" } else { "line" }, count(*extent as usize, "rank"));
    }
    let extents: Vec<String> = torus.extents.iter().map(u32::to_string).collect();
    let extents = extents.join("x");
    let unusual: Vec<String> = torus
        .wrap
        .iter()
        .zip(torus.default_wrap())
        .enumerate()
        .filter(|(_, (wrap, usual))| *wrap != usual)
        .map(|(dim, (wrap, _))| format!("{} {}", dim_name(dimension(dim)), if *wrap { "closed" } else { "open" }))
        .collect();
    if torus.is_twisted() {
        return twisted(torus, &extents, unusual);
    }
    match unusual.len() {
        0 => format!("{extents} torus"),
        _ if !torus.wrap.contains(&true) => format!("{extents} mesh"),
        _ => format!("{extents} torus ({})", unusual.join(", ")),
    }
}

/// The doubled tori in one word, other twists and wraps one by one.
fn twisted(torus: &Torus, extents: &str, mut unusual: Vec<String>) -> String {
    if Torus::twisted(&torus.extents).is_some_and(|usual| (&usual.twist, &usual.wrap) == (&torus.twist, &torus.wrap)) {
        return format!("twisted {extents} torus");
    }
    for (dim, row) in torus.twist.iter().enumerate() {
        let shifts = row.iter().enumerate().filter(|(_, shift)| **shift > 0);
        let name = |dim: usize| dim_name(dimension(dim));
        unusual.extend(shifts.map(|(shifted, shift)| format!("{} shifts {} by {shift}", name(dim), name(shifted))));
    }
    format!("{extents} torus ({})", unusual.join(", "))
}

fn connection(topology: &Topology) -> String {
    let components = topology.components();
    if components.len() > 1 {
        let parts = describe_components(topology, &components);
        return format!("not connected: {} parts whose ranks cannot all reach each other\n{parts}\n", components.len());
    }
    if topology.rank_count() > MEASURED_RANKS {
        return "connected\n".to_owned();
    }
    let distances = Distances::new(topology);
    let farthest = topology
        .live_ranks()
        .flat_map(|from| topology.live_ranks().map(move |to| (from, to)))
        .max_by_key(|&(from, to)| (distances.get(from, to), std::cmp::Reverse((from, to))));
    match farthest {
        Some((from, to)) if from != to => format!(
            "connected, diameter {} (from rank {} to rank {})\n",
            distances.get(from, to),
            topology.rank_label(from),
            topology.rank_label(to)
        ),
        _ => "a single live rank\n".to_owned(),
    }
}

fn dimensions(topology: &Topology) -> String {
    let Some(torus) = topology.as_torus() else { return String::new() };
    let mut table = Table::new(&["dimension", "extent", "closed", "capacity"]);
    for (dim, extent) in torus.extents.iter().enumerate() {
        let closed = if torus.wrap[dim] { "yes" } else { "no" };
        table.row([dim_name(dimension(dim)), extent.to_string(), closed.to_owned(), torus.capacity[dim].to_string()]);
    }
    format!("\n{table}")
}

fn failures(topology: &Topology) -> String {
    let spec = topology.spec();
    if spec.failed_links.is_empty() && spec.failed_ranks.is_empty() {
        return String::new();
    }
    let mut text = "\nfailed:\n".to_owned();
    for &FailedLink { from, to, dim, both } in &spec.failed_links {
        let dim = dim.map(|dim| format!(" in {dim}")).unwrap_or_default();
        let (what, arrow) = if both { ("cable", "-") } else { ("link", "->") };
        let (from, to) = (topology.rank_label(from), topology.rank_label(to));
        let _ = writeln!(text, "  {what} {from} {arrow} {to}{dim}");
    }
    for &rank in &spec.failed_ranks {
        let _ = writeln!(text, "  rank {}", topology.rank_label(rank));
    }
    text
}

/// A line per rank; on a torus, a column per direction with the neighbor there.
fn ranks(topology: &Topology) -> String {
    let mut directions: Vec<Direction> = topology.links().iter().filter_map(|link| link.direction).collect();
    directions.sort_unstable();
    directions.dedup();
    let names: Vec<String> = directions.iter().map(Direction::to_string).collect();
    let mut headings = vec!["rank"];
    match topology.as_torus() {
        Some(torus) => {
            // A single coordinate is the number of the rank.
            headings.extend((torus.extents.len() > 1).then_some("at"));
            headings.extend(names.iter().map(String::as_str));
        }
        None => headings.push("links to"),
    }
    if !topology.spec().names.is_empty() {
        headings.insert(1, "name");
    }
    let mut table = Table::new(&headings);
    let mut any_failed = false;
    for rank in (0..narrow(topology.rank_count())).map(RankId) {
        let mut neighbor = |id: LinkId| {
            let link = topology.link(id);
            any_failed |= !link.alive;
            format!("{}{}", link.to, if link.alive { "" } else { "!" })
        };
        let mut row = vec![format!("{rank}{}", if topology.is_alive(rank) { "" } else { "!" })];
        row.extend(topology.rank_name(rank).map(str::to_owned));
        match topology.coordinates(rank) {
            Some(position) => {
                row.extend((position.len() > 1).then(|| format_coordinates(&position)));
                for direction in &directions {
                    let over = topology.links_from(rank).find(|&id| topology.link(id).direction == Some(*direction));
                    row.push(over.map(&mut neighbor).unwrap_or_else(|| "-".to_owned()));
                }
            }
            None => {
                let all: Vec<String> = topology.links_from(rank).map(neighbor).collect();
                row.push(if all.is_empty() { "-".to_owned() } else { all.join(" ") });
            }
        }
        table.row(row);
    }
    let legend = if any_failed { "(! failed)\n" } else { "" };
    format!("{table}{legend}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::topology::{Shape, TopologySpec};

    fn torus(extents: &[u32], wrap: &[bool]) -> Topology {
        let torus = Torus { wrap: wrap.to_vec(), ..Torus::new(extents) };
        Topology::new(TopologySpec::new(Shape::Torus(torus))).expect("a machine")
    }

    #[test]
    fn shapes_in_words() {
        assert_eq!(describe(&torus(&[4, 4], &[])), "4x4 torus");
        assert_eq!(describe(&torus(&[4, 4], &[false, false])), "4x4 mesh");
        assert_eq!(describe(&torus(&[4, 2], &[true, true])), "4x2 torus (y closed)");
        assert_eq!(describe(&torus(&[4, 4], &[true, false])), "4x4 torus (y open)");
        let of = |torus: Torus| describe(&Topology::new(TopologySpec::new(Shape::Torus(torus))).expect("a machine"));
        let twisted = Torus::twisted(&[4, 4, 8]).expect("a doubled torus");
        assert_eq!(of(twisted.clone()), "twisted 4x4x8 torus");
        let once = vec![vec![0, 0, 4], vec![0; 3], vec![0; 3]];
        assert_eq!(of(Torus { twist: once, ..twisted }), "4x4x8 torus (x shifts z by 4)");
    }

    #[test]
    fn failures_in_words() {
        let spec = TopologySpec::torus(&[4]).without_cables(&[(0, 1)]).without_ranks(&[3]);
        let topology = Topology::new(spec).expect("a machine");
        assert_eq!(describe(&topology), "ring of 4 ranks with 1 failed cable, 1 failed rank");
        let text = to_text(&topology);
        assert!(text.contains("not connected: 2 parts"), "{text}");
        assert!(text.contains("  part 1: 1 rank: 0\n  part 2: 2 ranks: 1, 2\n"), "{text}");
        assert!(text.contains("\n3!    2!  0!\n(! failed)\n"), "{text}");
    }
}
