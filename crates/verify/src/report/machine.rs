//! A machine in words and tables.

use collsynth_core::exact::{dimension, narrow};
use std::fmt::Write;

use super::figures::{count, shortened};
use super::table::Table;
use collsynth_core::topology::{
    Direction, Distances, FailedLink, LinkId, RankId, Topology, dim_name, format_coordinates,
};

/// Components listed of a disconnected network, and ranks of each.
const LISTED: usize = 8;
/// The most ranks for which all distances are measured, at two bytes per pair.
const MEASURED_RANKS: usize = 8192;

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
    let mut text = format!("{topology}\n");
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
    let switches = topology.dead_switches();
    for (switch, cables) in &switches {
        let _ = writeln!(text, "  switch {switch}: {}", count(*cables, "cable"));
    }
    for &FailedLink { from, to, dim, both } in topology.failed_beside(&switches) {
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
    use collsynth_core::topology::TopologySpec;

    #[test]
    fn failures_in_words() {
        let spec = TopologySpec::torus(&[4]).without_cables(&[(0, 1)]).without_ranks(&[3]);
        let topology = Topology::new(spec).expect("a machine");
        assert_eq!(topology.to_string(), "ring of 4 ranks with 1 failed cable, 1 failed rank");
        let text = to_text(&topology);
        assert!(text.contains("not connected: 2 parts"), "{text}");
        assert!(text.contains("  part 1: 1 rank: 0\n  part 2: 2 ranks: 1, 2\n"), "{text}");
        assert!(text.contains("\n3!    2!  0!\n(! failed)\n"), "{text}");
    }
}
