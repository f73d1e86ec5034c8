//! What may fail, by name: the cables, links and ranks of a machine, and groups of them from a file.

use std::path::Path;

use collsynth::symmetry::Unit;
use collsynth::topology::{LinkId, RankId, Topology};
use serde::Deserialize;

use crate::cli::ending::Failure;
use crate::cli::io::input;

/// Groups that fail together, as in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    units: Vec<Stated>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    name: String,
    #[serde(default)]
    ranks: Vec<u32>,
    #[serde(default)]
    cables: Vec<[u32; 2]>,
    #[serde(default)]
    links: Vec<[u32; 2]>,
}

/// The name of a unit of a family: `2-3` for a cable, `2>3` for a link, `5` for a rank. Of two cables between the same
/// ranks, the direction tells: `0-1,x+`. Where ranks have names, they follow: `2-3 (node2-node3)`. The sign stands
/// between ranks.
pub fn name(topology: &Topology, unit: &Unit, sign: char) -> String {
    let one = |id: LinkId| {
        let link = topology.link(id);
        let doubled = topology.links_between(link.from, link.to).count() > 1;
        let direction = link.direction.filter(|_| doubled).map(|direction| format!(",{direction}")).unwrap_or_default();
        let names = topology.rank_name(link.from).zip(topology.rank_name(link.to));
        let names = names.map(|(from, to)| format!(" ({from}{sign}{to})")).unwrap_or_default();
        format!("{}{sign}{}{direction}{names}", link.from, link.to)
    };
    // A cable is called the same, whichever of its directions are left.
    let lower = |link: LinkId| topology.opposite(link).filter(|_| sign == '-').map_or(link, |back| link.min(back));
    match (unit.links.first(), unit.ranks.first()) {
        (Some(&link), _) => one(lower(link)),
        (None, rank) => rank.map(|&rank| topology.numbered_name(rank)).unwrap_or_default(),
    }
}

/// Reads groups that fail together, with their names.
pub fn read(path: &Path, topology: &Topology) -> Result<Vec<(String, Unit)>, Failure> {
    let form =
        "write {\"units\": [{\"name\": \"host 0\", \"ranks\": [0, 1], \"cables\": [[2, 3]], \"links\": [[4, 5]]}]}";
    let wrong = |why: String| Failure::usage(format!("{}: {why}", path.display())).hint(form);
    let text = input::read_text(path)?;
    let groups: Groups = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let one = |stated: Stated| {
        let mut unit = Unit::default();
        for &rank in &stated.ranks {
            if rank as usize >= topology.rank_count() {
                return Err(wrong(format!("{}: there is no rank {rank}", stated.name)));
            }
            unit.ranks.push(RankId(rank));
        }
        for (&[from, to], both) in
            stated.cables.iter().map(|ends| (ends, true)).chain(stated.links.iter().map(|ends| (ends, false)))
        {
            let links: Vec<LinkId> = topology.links_between(RankId(from), RankId(to)).collect();
            if links.is_empty() {
                return Err(wrong(format!("{}: no link joins ranks {from} and {to}", stated.name)));
            }
            for link in links {
                unit.links.push(link);
                unit.links.extend(topology.opposite(link).filter(|_| both));
            }
        }
        unit.links.sort_unstable();
        unit.links.dedup();
        unit.ranks.sort_unstable();
        unit.ranks.dedup();
        match unit == Unit::default() {
            true => Err(wrong(format!("{}: nothing fails in it", stated.name))),
            false => Ok((stated.name, unit)),
        }
    };
    let units: Vec<(String, Unit)> = groups.units.into_iter().map(one).collect::<Result<_, _>>()?;
    for (index, (name, unit)) in units.iter().enumerate() {
        let Some((other, _)) = units[..index].iter().find(|(other, same)| other == name || same == unit) else {
            continue;
        };
        return Err(wrong(match other == name {
            true => format!("{name} is there twice"),
            false => format!("{name} fails the same as {other}"),
        }));
    }
    Ok(units)
}
