//! From a machine in a file to a topology.

use std::collections::BTreeSet;

use super::entry::{FailedLinkEntry, GraphLinkEntry, TopologyFile};
use crate::guard::limits::MEMORY_WORD;
use crate::json::code::FormatCode;
use crate::json::error::Fault;
use crate::json::locate::PathItem;
use crate::json::object::Object;
use crate::json::scalar::{RankEntry, SwitchEntry};
use collsynth_core::topology::{
    FailedLink, GraphLink, MAX_RANKS, RankId, Shape, SwitchError, Topology, TopologyError, TopologySpec, Torus,
};

/// Builds the topology: first the intact machine, then its failures, so that an error can be located. A machine that
/// would take more than `room` bytes is refused.
pub(in crate::json) fn machine(mut file: TopologyFile, room: u64) -> Result<Topology, Fault> {
    let mut spec = TopologySpec::new(shape(&mut file)?);
    check_size(&spec.shape, room)?;
    if let Some(names) = file.names.take() {
        let ranks = spec.rank_count().map_err(|error| shape_fault(&spec.shape, error))?;
        if names.len() != ranks as usize {
            let error = TopologyError::WrongNameCount { names: names.len(), ranks };
            return Err(Fault::new(FormatCode::F008, error).at("names"));
        }
        spec.names = names.into_iter().map(String::from).collect();
    }
    let built = Topology::new(spec.clone()).map_err(|error| shape_fault(&spec.shape, error))?;
    if file.failed_switches.is_empty() && file.period.is_some() {
        let message = "`period` belongs to `failed_switches`: it states the cells that they join";
        return Err(Fault::new(FormatCode::F002, message).at("period"));
    }
    if file.failed_ranks.is_empty() && file.failed_links.is_empty() && file.failed_switches.is_empty() {
        return Ok(built);
    }

    for (index, entry) in file.failed_ranks.iter().enumerate() {
        let at = |fault: Fault| fault.within(PathItem::Index(index)).at("failed_ranks");
        spec.failed_ranks.push(rank(&built, entry, FormatCode::F008).map_err(at)?);
    }
    let with_ranks = |count: usize| TopologySpec { failed_ranks: spec.failed_ranks[..count].to_vec(), ..spec.clone() };
    check_failures(spec.failed_ranks.len(), "failed_ranks", with_ranks)?;

    for (index, Object(FailedLinkEntry { from, to, dim, both })) in file.failed_links.iter().enumerate() {
        let at = |fault: Fault| fault.within(PathItem::Index(index)).at("failed_links");
        let end = |entry, key| rank(&built, entry, FormatCode::F008).map_err(|fault| at(fault.at(key)));
        let dim = dim.as_ref().map(|entry| entry.0);
        let failed = FailedLink { from: end(from, "from")?, to: end(to, "to")?, dim, both: *both };
        spec.failed_links.push(failed);
    }
    let with_links = |count: usize| TopologySpec { failed_links: spec.failed_links[..count].to_vec(), ..spec.clone() };
    let built = check_failures(spec.failed_links.len(), "failed_links", with_links)?;
    match file.failed_switches.is_empty() {
        true => Ok(built),
        false => without_switches(&built, &file.failed_switches, file.period),
    }
}

/// The machine without the cables of these switches as well.
fn without_switches(built: &Topology, switches: &[SwitchEntry], period: Option<Vec<u32>>) -> Result<Topology, Fault> {
    let at = |error: SwitchError, index| match error {
        SwitchError::Period(_) if period.is_some() => Fault::new(FormatCode::F008, error).at("period"),
        _ => Fault::new(FormatCode::F008, error).within(PathItem::Index(index)).at("failed_switches"),
    };
    let usual = || built.as_torus().map(Torus::default_period).unwrap_or_default();
    let cells = period.clone().unwrap_or_else(usual);
    let mut spec = built.spec().clone();
    let mut ends = vec![spec.failed_links.len()];
    let mut known = BTreeSet::new();
    for (index, SwitchEntry(switch)) in switches.iter().enumerate() {
        // No cable belongs to two switches, so there are no more than links. What failed already is found below.
        if known.insert(switch) {
            spec.failed_links.extend(switch.cables(built, &cells).map_err(|error| at(error, index))?);
        } else {
            let message = format!("switch {switch} is stated as failed twice");
            return Err(Fault::new(FormatCode::F008, message).within(PathItem::Index(index)).at("failed_switches"));
        }
        ends.push(spec.failed_links.len());
    }
    let with_switches =
        |count: usize| TopologySpec { failed_links: spec.failed_links[..ends[count]].to_vec(), ..spec.clone() };
    check_failures(switches.len(), "failed_switches", with_switches)
}

/// A few words of a file can name a large machine.
fn check_size(shape: &Shape, room: u64) -> Result<(), Fault> {
    /// About what a rank takes in a topology and in findings that list ranks, and a link while a topology is built.
    const RANK: u64 = 256;
    const LINK: u64 = 48;
    let (key, ranks, links) = match shape {
        Shape::Torus(Torus { extents, .. }) => {
            let ranks = extents.iter().fold(1, |product: u64, &extent| product.saturating_mul(u64::from(extent)));
            // Links are listed dimension by dimension, those of extent 1 too.
            ("torus", ranks, ranks.saturating_mul(2 * extents.len() as u64))
        }
        Shape::Graph { ranks, links } => ("ranks", u64::from(*ranks), links.len() as u64),
    };
    let bytes = ranks.saturating_mul(RANK).saturating_add(links.saturating_mul(LINK));
    if ranks > MAX_RANKS || bytes <= room {
        return Ok(());
    }
    let message = format!(
        "a machine of {ranks} ranks and up to {links} links takes about {} MiB, more than a file of this size may: \
         {MEMORY_WORD} allows more",
        bytes >> 20
    );
    Err(Fault::new(FormatCode::F008, message).at(key))
}

/// The rank that an entry names. Numbers are not checked for range; coordinates must name a rank.
pub(in crate::json) fn rank(topology: &Topology, entry: &RankEntry, code: FormatCode) -> Result<RankId, Fault> {
    match entry {
        RankEntry::Number(rank) => Ok(RankId(*rank)),
        RankEntry::Text(text) => topology.rank_at(text).map_err(|error| Fault::new(code, error)),
    }
}

fn shape(file: &mut TopologyFile) -> Result<Shape, Fault> {
    match (file.torus.take(), file.links.take()) {
        (Some(_), Some(_)) => {
            let message = "`torus` and `links` exclude each other: a machine is a torus or an explicit graph";
            Err(Fault::new(FormatCode::F002, message).at("links"))
        }
        (None, None) => Err(Fault::new(FormatCode::F002, "missing field: a machine has `torus` or `links`")),
        (Some(_), None) if file.ranks.is_some() => {
            Err(Fault::new(FormatCode::F002, "`ranks` belongs to `links`; a torus has as many as its extents say")
                .at("ranks"))
        }
        (Some(extents), None) => {
            let lengths = [
                ("wrap", file.wrap.as_ref().map(Vec::len)),
                ("capacity", file.capacity.as_ref().map(Vec::len)),
                ("twist", file.twist.as_ref().map(Vec::len)),
            ];
            if let Some((what, _)) = lengths.into_iter().find(|&(_, length)| length == Some(0)) {
                let error = TopologyError::WrongLength { what, length: 0, dims: extents.len() };
                return Err(Fault::new(FormatCode::F008, error).at(what));
            }
            let (wrap, capacity) = (file.wrap.take().unwrap_or_default(), file.capacity.take().unwrap_or_default());
            Ok(Shape::Torus(Torus { extents, wrap, capacity, twist: file.twist.take().unwrap_or_default() }))
        }
        (None, Some(_)) if file.wrap.is_some() => {
            Err(Fault::new(FormatCode::F002, "`wrap` belongs to `torus`, not to `links`").at("wrap"))
        }
        (None, Some(_)) if file.twist.is_some() => {
            Err(Fault::new(FormatCode::F002, "`twist` belongs to `torus`, not to `links`").at("twist"))
        }
        (None, Some(_)) if file.capacity.is_some() => {
            let message = "`capacity` belongs to `torus`; with `links`, each link states its own";
            Err(Fault::new(FormatCode::F002, message).at("capacity"))
        }
        (None, Some(links)) => graph(file.ranks.map(|ranks| ranks.get()), &links),
    }
}

fn graph(ranks: Option<u32>, entries: &[Object<GraphLinkEntry>]) -> Result<Shape, Fault> {
    let mut links = Vec::with_capacity(entries.len());
    for (index, Object(GraphLinkEntry { from, to, capacity })) in entries.iter().enumerate() {
        let end = |entry: &RankEntry, key| match entry {
            RankEntry::Number(rank) => Ok(RankId(*rank)),
            RankEntry::Text(text) => {
                let error = TopologyError::NoCoordinates { text: text.to_string() };
                Err(Fault::new(FormatCode::F008, error).at(key).within(PathItem::Index(index)).at("links"))
            }
        };
        links.push(GraphLink { from: end(from, "from")?, to: end(to, "to")?, capacity: *capacity });
    }
    let highest = links.iter().map(|link| link.from.0.max(link.to.0)).max();
    let ranks = ranks.unwrap_or_else(|| highest.map_or(0, |highest| highest.saturating_add(1)));
    Ok(Shape::Graph { ranks, links })
}

/// The fault of a machine that cannot be built, with its key.
fn shape_fault(shape: &Shape, error: TopologyError) -> Fault {
    if let TopologyError::NotAName { rank, .. } | TopologyError::NameTwice { rank, .. } = error {
        return Fault::new(FormatCode::F008, error).within(PathItem::Index(rank.index())).at("names");
    }
    let key = match (&error, shape) {
        (TopologyError::WrongLength { what, .. }, _) => what,
        (TopologyError::ZeroCapacity { .. }, Shape::Torus(_)) => "capacity",
        (_, Shape::Torus(_)) => "torus",
        (TopologyError::TooManyRanks | TopologyError::NoRankLeft, Shape::Graph { .. }) => "ranks",
        (_, Shape::Graph { .. }) => "links",
    };
    Fault::new(FormatCode::F008, error).at(key)
}

/// Builds the machine with all of its `count` failures; otherwise finds the first one at fault.
fn check_failures(
    count: usize,
    key: &'static str,
    with_first: impl Fn(usize) -> TopologySpec,
) -> Result<Topology, Fault> {
    let error = match Topology::new(with_first(count)) {
        Ok(topology) => return Ok(topology),
        Err(error) => error,
    };
    // A list with a bad prefix is bad: bisect for the shortest one.
    let (mut good, mut bad) = (0, count);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        match Topology::new(with_first(middle)) {
            Ok(_) => good = middle,
            Err(_) => bad = middle,
        }
    }
    Err(Fault::new(FormatCode::F008, error).within(PathItem::Index(bad.saturating_sub(1))).at(key))
}
