//! The options that name the collective, shared by several commands.

use std::path::PathBuf;

use clap::Args;
use collsynth::collective::{Demand, Kind};
use collsynth::format::demand;
use collsynth::topology::{RankId, Topology};

use super::group::GroupOptions;
use super::topology::TopologyOptions;
use crate::cli::ending::Failure;
use crate::cli::io::input;
use crate::cli::options::Given;
use crate::cli::options::suggest::{OneOf, spelled};

/// Which collective.
#[derive(Args)]
#[command(next_help_heading = "Collective")]
pub struct CollectiveOptions {
    /// What is to be done
    #[arg(long, value_name = "NAME", value_parser = kind_names(), default_value = DEFAULT, hide_possible_values = true,
        long_help = NAMES)]
    collective: String,
    /// The root of broadcast, reduce, scatter and gather: 5 or 1.1.0 [default: 0]. In groups: the place of a member in
    /// its group, from 0
    #[arg(long, allow_negative_numbers = true, value_name = "RANK")]
    root: Option<String>,
    /// How many chunks each rank has for each rank, for all_to_allv: a CSV matrix, a row for each origin, or a JSON
    /// list of lists (- for standard input)
    #[arg(long, value_name = "FILE")]
    demand: Option<PathBuf>,
    #[command(flatten)]
    groups: GroupOptions,
}

const NAMES: &str = "What is to be done: all_to_all, all_to_allv, all_gather, reduce_scatter, all_reduce, broadcast, \
                     reduce, scatter, gather, barrier or all_reduce_gathered";

const DEFAULT: &str = "all_to_all";

/// The names of all kinds.
pub fn kind_names() -> OneOf {
    OneOf::new("collective", names().to_vec())
}

fn names() -> [&'static str; 11] {
    Kind::every(RankId(0), Demand::default()).map(|kind| kind.name())
}

/// The name of the collective that a word spells.
pub fn spelled_kind(word: &str) -> Option<&'static str> {
    spelled(word, &names())
}

impl CollectiveOptions {
    /// The kind of collective, with its root or demand on this machine.
    pub fn kind(&self, machine: &TopologyOptions, topology: &Topology, given: &Given) -> Result<Kind, Failure> {
        self.kind_with(machine, topology, given, None)
    }

    /// The same with a demand that takes the place of a file.
    pub fn kind_with(
        &self,
        machine: &TopologyOptions,
        topology: &Topology,
        given: &Given,
        demand: Option<Demand>,
    ) -> Result<Kind, Failure> {
        let some = self.as_named();
        given.kind(&some)?;
        let root = self.root.as_ref().map(|text| self.root(machine, topology, text)).transpose()?.unwrap_or(RankId(0));
        let demand = some.demand().map(|_| demand.map_or_else(|| self.read_demand(topology, some.name()), Ok));
        let demand = demand.transpose()?.unwrap_or_default();
        let kind = self.with(root, demand);
        Ok(match self.groups.groups(machine, topology)? {
            Some(groups) => kind.in_groups(groups),
            None => kind,
        })
    }

    /// The name of the collective.
    pub fn name(&self) -> &str {
        &self.collective
    }

    /// The kind as far as its name says it: from rank 0, without a demand.
    pub fn as_named(&self) -> Kind {
        self.with(RankId(0), Demand::default())
    }

    fn with(&self, root: RankId, demand: Demand) -> Kind {
        Kind::named(&self.collective, root, demand).expect("one of the names it parses")
    }

    /// The root, on a machine that nobody stated: a number.
    pub fn root_number(&self) -> Result<Option<u32>, Failure> {
        let number = |text: &String| {
            let number = text.parse();
            number.map_err(|_| Failure::usage(format!("--root {text}: without a machine, a root is a number")))
        };
        self.root.as_ref().map(number).transpose()
    }

    fn root(&self, machine: &TopologyOptions, topology: &Topology, text: &str) -> Result<RankId, Failure> {
        if !self.groups.is_stated() {
            return machine.rank(topology, text);
        }
        let place = text.parse().map(RankId);
        place.map_err(|_| Failure::usage(format!("--root {text}: in groups, a root is the place of a member, from 0")))
    }

    /// The options as they would be typed again; defaults are left out.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.collective != DEFAULT {
            words.extend(["--collective".to_owned(), self.collective.clone()]);
        }
        if let Some(root) = &self.root {
            words.extend(["--root".to_owned(), root.clone()]);
        }
        if let Some(path) = &self.demand {
            words.extend(["--demand".to_owned(), path.display().to_string()]);
        }
        words.extend(self.groups.words());
        words
    }

    fn read_demand(&self, topology: &Topology, name: &str) -> Result<Demand, Failure> {
        let form = "a demand is a CSV matrix of chunk counts, a row for each origin, or a JSON list of lists";
        let path = self
            .demand
            .as_ref()
            .ok_or_else(|| Failure::usage(format!("{name} needs a demand: use --demand FILE")).hint(form))?;
        let text = input::read_text(path)?;
        demand::parse_demand(&text, topology.rank_count() as u32)
            .map_err(|error| Failure::usage(format!("{}:{error}", path.display())).hint(form))
    }
}
