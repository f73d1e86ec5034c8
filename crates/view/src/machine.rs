//! The machine and the collective of a file, for the page.

use collsynth_core::collective::{Groups, Kind, Who};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Topology};
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::layout::Layout;

/// How finely places are stated: in thousandths of a unit.
const FINE: f64 = 1000.0;

/// What the page knows of a machine beside its columns.
pub(crate) fn machine(topology: &Topology, layout: &Layout) -> Value {
    let torus = topology.as_torus();
    let names = &topology.spec().names;
    json!({
        "name": topology.to_string(),
        "names": (!names.is_empty()).then_some(names),
        "ranks": topology.rank_count(),
        "extents": torus.map(|torus| &torus.extents),
        "flat": layout.is_flat,
        "stubs": layout.stubs,
    })
}

/// The columns of a machine: places (x, y, z of each rank in turn), which ranks live, and of each link its ends, its
/// capacity, its direction (0: none; `1 + 2 * dim + positive`), and whether it lives (1), is a stub (2), and may carry
/// chunks (4): a live link may not where it leaves a group that has no relays.
pub(crate) fn machine_columns(problem: &Problem, layout: &Layout, columns: &mut Columns) {
    let (topology, allowed) = (problem.machine(), problem.topology());
    let places = layout.ranks.iter().flatten();
    columns.add_signed(places.map(|along| (along * FINE).round() as i64));
    columns.add((0..topology.rank_count() as u32).map(|rank| u64::from(topology.is_alive(RankId(rank)))));
    let links = topology.links();
    columns.add(links.iter().map(|link| u64::from(link.from.0)));
    columns.add(links.iter().map(|link| u64::from(link.to.0)));
    columns.add(links.iter().map(|link| u64::from(link.capacity)));
    columns.add(links.iter().map(|link| {
        link.direction.map_or(0, |direction| 1 + 2 * u64::from(direction.dim) + u64::from(direction.positive))
    }));
    let ids = (0..links.len() as u32).map(LinkId);
    columns.add(ids.map(|id| {
        let flags = [topology.link(id).alive, layout.stub(topology, id).is_some(), allowed.link(id).alive];
        flags.into_iter().rev().fold(0, |sum, flag| 2 * sum + u64::from(flag))
    }));
}

/// What the page knows of a collective: enough to name chunks and to know who begins with them and who needs them.
pub(crate) fn collective(problem: &Problem) -> Value {
    let kind: &Kind = &problem.collective().kind;
    json!({
        "kind": kind.name(),
        "parts": if kind.has_volume() { problem.parts() } else { 1 },
        "unit": kind.unit().name(),
        "chunks": problem.chunk_count(),
        "before": who(kind.before()),
        "after": who(kind.after()),
        "owners": kind.owners(),
        "root": kind.stated_root().map(|root| root.0),
        "demand": kind.demand().is_some(),
        "groups": kind.groups().map(members),
    })
}

/// The chunks of each pair, row by row, where a demand states them.
pub(crate) fn demand_column(problem: &Problem, columns: &mut Columns) {
    let demand = problem.collective().kind.demand();
    columns.add(demand.into_iter().flat_map(|demand| demand.counts()).map(u64::from));
}

fn members(groups: &Groups) -> Vec<Vec<u32>> {
    groups.members().iter().map(|members| members.iter().map(|rank| rank.0).collect()).collect()
}

fn who(who: Who) -> &'static str {
    match who {
        Who::Owner => "owner",
        Who::Root(_) => "root",
        Who::Every => "every",
    }
}
