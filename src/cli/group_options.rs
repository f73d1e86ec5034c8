//! The options that say which ranks take part together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::failures::listed;
use super::topology_options::{Extents, TopologyOptions, join};
use super::{Failure, input};
use clap::Args;
use collsynth::collective::{Groups, GroupsError};
use collsynth::topology::{DimRef, RankId, Topology, Torus};

/// Which groups of ranks carry out the collective, each for itself and all at once.
#[derive(Args)]
pub struct GroupOptions {
    /// In groups: all that these dimensions span (xy: the planes; x: the rows), or those of a JSON file, a list of
    /// lists of ranks
    #[arg(long, value_name = "DIMENSIONS|FILE", conflicts_with_all = ["group", "blocks"])]
    groups: Option<String>,
    /// In a group of these ranks: 0-15,20. Repeat it for more groups
    #[arg(long, allow_negative_numbers = true, value_name = "RANKS", conflicts_with = "blocks")]
    group: Vec<String>,
    /// In groups: the torus cut in boxes of these extents
    #[arg(long, allow_negative_numbers = true, value_name = "EXTENTS")]
    blocks: Option<Extents>,
    /// May ranks outside a group relay its data?
    #[arg(long, value_name = "YES/NO", value_parser = yes_or_no)]
    relays: Option<bool>,
}

impl GroupOptions {
    /// The groups on this machine, if any are stated.
    pub fn groups(&self, machine: &TopologyOptions, topology: &Topology) -> Result<Option<Groups>, Failure> {
        let members = match (&self.groups, &self.blocks) {
            (Some(text), _) => match dimensions(text) {
                Some(dims) => spanned(topology, &dims, text)?,
                None => of_file(topology, Path::new(text))?,
            },
            (None, Some(Extents(extents))) => blocks(topology, extents)?,
            (None, None) if self.group.is_empty() && self.relays.is_some() => {
                return Err(Failure::usage("--relays is about groups, and none are stated")
                    .hint("state them with --groups, --group or --blocks"));
            }
            (None, None) if self.group.is_empty() => return Ok(None),
            (None, None) => {
                let ranks = |text: &String| listed(text, topology).map_err(|error| machine.explain_ranks(error));
                self.group.iter().map(ranks).collect::<Result<_, _>>()?
            }
        };
        let groups = Groups::new(members).map_err(|error: GroupsError| Failure::usage(error))?;
        Ok(Some(groups.with_relays(self.relays.unwrap_or(true))))
    }

    /// True if groups are stated.
    pub fn is_stated(&self) -> bool {
        self.groups.is_some() || !self.group.is_empty() || self.blocks.is_some()
    }

    /// The options, as typed.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(text) = &self.groups {
            words.extend(["--groups".to_owned(), text.clone()]);
        }
        for ranks in &self.group {
            words.extend(["--group".to_owned(), ranks.clone()]);
        }
        if let Some(Extents(extents)) = &self.blocks {
            words.extend(["--blocks".to_owned(), join(extents, "x")]);
        }
        if let Some(relays) = self.relays {
            words.extend(["--relays".to_owned(), if relays { "yes" } else { "no" }.to_owned()]);
        }
        words
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("write yes or no".to_owned()),
    }
}

/// The dimensions of a text that names nothing else: `xy`, `d6`, `x,d6`.
fn dimensions(text: &str) -> Option<Vec<u8>> {
    let dim = |word: &str| match word.parse() {
        Ok(DimRef::Dim(dim)) => Some(dim),
        _ => None,
    };
    let by_letter = || text.chars().map(|letter| dim(&letter.to_string())).collect();
    text.split(',').map(dim).collect::<Option<Vec<u8>>>().or_else(by_letter).filter(|dims| !dims.is_empty())
}

/// The ranks that differ only in these dimensions, for all positions in the others.
fn spanned(topology: &Topology, dims: &[u8], text: &str) -> Result<Vec<Vec<RankId>>, Failure> {
    let torus = torus(topology, "--groups")?;
    if let Some(&dim) = dims.iter().find(|&&dim| usize::from(dim) >= torus.extents.len()) {
        let (name, count) = (collsynth::topology::dim_name(dim), torus.extents.len());
        return Err(Failure::usage(format!("--groups {text}: there is no dimension {name}: the torus has {count}"))
            .hint("a file of that name is ./NAME"));
    }
    let others = (0..torus.extents.len()).filter(|&dim| !dims.iter().any(|&of| usize::from(of) == dim));
    let others: Vec<usize> = others.collect();
    Ok(classes(topology, |rank| others.iter().map(|&dim| torus.position(rank, dim)).collect()))
}

/// The ranks with the same key, by their first.
fn classes(topology: &Topology, key: impl Fn(RankId) -> Vec<u32>) -> Vec<Vec<RankId>> {
    let ranks = (0..topology.rank_count() as u32).map(RankId);
    let mut groups: BTreeMap<Vec<u32>, Vec<RankId>> = BTreeMap::new();
    ranks.for_each(|rank| groups.entry(key(rank)).or_default().push(rank));
    let mut groups: Vec<Vec<RankId>> = groups.into_values().collect();
    groups.sort_unstable();
    groups
}

fn blocks(topology: &Topology, extents: &[u32]) -> Result<Vec<Vec<RankId>>, Failure> {
    let torus = torus(topology, "--blocks")?;
    let divides = |(&block, &whole): (&u32, &u32)| block > 0 && whole % block == 0;
    if extents.len() != torus.extents.len() || !extents.iter().zip(&torus.extents).all(divides) {
        let (block, whole) = (join(extents, "x"), join(&torus.extents, "x"));
        return Err(Failure::usage(format!("--blocks {block} does not cut {whole} in equal boxes"))
            .hint("write an extent for each dimension that divides it"));
    }
    Ok(classes(topology, |rank| (0..extents.len()).map(|dim| torus.position(rank, dim) / extents[dim]).collect()))
}

fn torus<'a>(topology: &'a Topology, option: &str) -> Result<&'a Torus, Failure> {
    topology.as_torus().ok_or_else(|| {
        Failure::usage(format!("{option}: an explicit graph has no dimensions"))
            .hint("list the ranks of each group with --group, or of all in a file with --groups")
    })
}

/// A JSON list of lists of ranks: numbers, or coordinates as text.
fn of_file(topology: &Topology, path: &Path) -> Result<Vec<Vec<RankId>>, Failure> {
    let path = PathBuf::from(path);
    let name = path.display();
    let text = input::read_text(&path).map_err(|failure| {
        failure.hint("--groups takes dimensions, as in xy, or a file; --group takes ranks, as in 0-15,20")
    })?;
    let form = "groups are a list of lists of ranks, as in [[0,1],[2,3]]";
    let lists: Vec<Vec<serde_json::Value>> = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{name}:{}:{}: {error}", error.line(), error.column())).hint(form))?;
    let rank = |value: &serde_json::Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        topology.parse_rank(&text).map_err(|error| Failure::usage(format!("{name}: {error}")))
    };
    lists.iter().map(|list| list.iter().map(rank).collect()).collect()
}
