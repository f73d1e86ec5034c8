//! The options that say which ranks take part together.

use std::path::{Path, PathBuf};

use super::extents::{Extents, join};
use super::failures::listed;
use super::topology::TopologyOptions;
use crate::cli::ending::Failure;
use crate::cli::io::input;
use clap::Args;
use collsynth::collective::{Groups, GroupsError};
use collsynth::grouping::{self, GroupingError};
use collsynth::topology::{RankId, Topology};

/// Which groups of ranks carry out the collective, each for itself and all at once.
#[derive(Args)]
pub struct GroupOptions {
    /// In groups: all that these dimensions span (xy: the planes; x: the rows), or those of a JSON file, a list of
    /// lists of ranks
    #[arg(long, value_name = "DIMENSIONS|FILE")]
    groups: Option<String>,
    /// In a group of these ranks: 0-15,20. Repeat it for more groups
    #[arg(long, allow_negative_numbers = true, value_name = "RANKS")]
    group: Vec<String>,
    /// In groups: the torus cut in boxes of these extents
    #[arg(long, allow_negative_numbers = true, value_name = "EXTENTS")]
    blocks: Option<Extents>,
    /// May ranks outside a group relay its data? [default: yes]
    #[arg(long, value_name = "YES/NO", value_parser = yes_or_no)]
    relays: Option<bool>,
}

impl GroupOptions {
    /// The groups on this machine, if any are stated.
    pub fn groups(&self, machine: &TopologyOptions, topology: &Topology) -> Result<Option<Groups>, Failure> {
        let members = match (&self.groups, &self.blocks) {
            (Some(text), _) => match grouping::dimensions(text) {
                Some(dims) => grouping::spanned(topology, &dims).map_err(|error| match error {
                    GroupingError::NoTorus => misfit("--groups", &error),
                    _ => misfit(&format!("--groups {text}"), &error),
                })?,
                None => of_file(topology, Path::new(text))?,
            },
            (None, Some(Extents(extents))) => {
                grouping::boxes(topology, extents).map_err(|error| misfit("--blocks", &error))?
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

    /// The options: files as typed, all else in its one spelling.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(text) = &self.groups {
            let lower = grouping::dimensions(text).map(|_| text.to_ascii_lowercase());
            words.extend(["--groups".to_owned(), lower.unwrap_or_else(|| text.clone())]);
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
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("write yes or no".to_owned()),
    }
}

/// What is wrong with the groups of an option.
fn misfit(option: &str, error: &GroupingError) -> Failure {
    match error {
        GroupingError::NoTorus => Failure::usage(format!("{option}: {error}"))
            .hint("list the ranks of each group with --group, or of all in a file with --groups"),
        GroupingError::UnequalBoxes { .. } => {
            Failure::usage(format!("{option} {error}")).hint("write an extent for each dimension that divides it")
        }
        _ => Failure::usage(format!("{option}: {error}")).hint("a file of that name is ./NAME"),
    }
}

/// A JSON list of lists of ranks: numbers, or coordinates as text.
fn of_file(topology: &Topology, path: &Path) -> Result<Vec<Vec<RankId>>, Failure> {
    let path = PathBuf::from(path);
    let name = path.display();
    let text = input::read_text(&path).map_err(|failure| {
        failure.hint("--groups takes dimensions, as in xy, or a file; --group takes ranks, as in 0-15,20")
    })?;
    let form = "groups are a list of lists of ranks, as in [[0,1],[2,3]]";
    let lists: Vec<Vec<serde_json::Value>> =
        serde_json::from_str(&text).map_err(|error| Failure::usage(input::placed(&name, &error)).hint(form))?;
    let rank = |value: &serde_json::Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        topology.parse_rank(&text).map_err(|error| Failure::usage(format!("{name}: {error}")))
    };
    lists.iter().map(|list| list.iter().map(rank).collect()).collect()
}
