//! The options that say what is to be done on the machine, shared by several commands.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use collsynth::collective::{Demand, Kind};
use collsynth::format::{demand, file};
use collsynth::topology::{RankId, Topology};

use super::Failure;
use super::topology_options::TopologyOptions;

/// Which collective.
#[derive(Args)]
#[command(next_help_heading = "Collective")]
pub struct CollectiveOptions {
    /// What is to be done
    #[arg(long, value_name = "NAME", value_enum, default_value = "all_to_all", hide_possible_values = true,
        long_help = NAMES)]
    collective: Name,
    /// The root of broadcast, reduce, scatter and gather: 5 or 1.1.0 [default: 0]
    #[arg(long, allow_negative_numbers = true, value_name = "RANK")]
    root: Option<String>,
    /// How many chunks each rank has for each rank, for all_to_allv: a CSV matrix, a row for each origin, or a JSON
    /// list of lists (- for standard input)
    #[arg(long, value_name = "FILE")]
    demand: Option<PathBuf>,
}

const NAMES: &str = "What is to be done: all_to_all, all_to_allv, all_gather, reduce_scatter, all_reduce, broadcast, \
                     reduce, scatter, gather, barrier or all_reduce_gathered";

/// The kinds of collectives, under the names they have in files.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Name {
    AllToAll,
    #[value(name = "all_to_allv")]
    AllToAllV,
    AllGather,
    ReduceScatter,
    AllReduce,
    Broadcast,
    Reduce,
    Scatter,
    Gather,
    Barrier,
    AllReduceGathered,
}

impl CollectiveOptions {
    /// The kind of collective, its root or demand read as this machine's.
    pub fn kind(&self, machine: &TopologyOptions, topology: &Topology) -> Result<Kind, Failure> {
        let with_root = |kind: fn(RankId) -> Kind| {
            let root = self.root.as_ref().map(|text| machine.rank(topology, text)).transpose()?;
            Ok::<Kind, Failure>(kind(root.unwrap_or(RankId(0))))
        };
        let kind = match self.collective {
            Name::AllToAll => Kind::AllToAll,
            Name::AllToAllV => Kind::AllToAllV(self.read_demand(machine, topology)?),
            Name::AllGather => Kind::AllGather,
            Name::ReduceScatter => Kind::ReduceScatter,
            Name::AllReduce => Kind::AllReduce,
            Name::Broadcast => with_root(Kind::Broadcast)?,
            Name::Reduce => with_root(Kind::Reduce)?,
            Name::Scatter => with_root(Kind::Scatter)?,
            Name::Gather => with_root(Kind::Gather)?,
            Name::Barrier => Kind::Barrier,
            Name::AllReduceGathered => Kind::AllReduceGathered,
        };
        if self.root.is_some() && kind.root().is_none() {
            return Err(Failure::usage(format!("{} has no root", kind.name()))
                .hint("leave --root out, or choose broadcast, reduce, scatter or gather"));
        }
        if self.demand.is_some() && !matches!(kind, Kind::AllToAllV(_)) {
            return Err(Failure::usage(format!("{} has no demand matrix", kind.name()))
                .hint("leave --demand out, or choose --collective all_to_allv"));
        }
        Ok(kind)
    }

    /// The options as they would be typed again; defaults are left out.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(value) = self.collective.to_possible_value().filter(|_| self.collective != Name::AllToAll) {
            words.extend(["--collective".to_owned(), value.get_name().to_owned()]);
        }
        if let Some(root) = &self.root {
            words.extend(["--root".to_owned(), root.clone()]);
        }
        if let Some(path) = &self.demand {
            words.extend(["--demand".to_owned(), path.display().to_string()]);
        }
        words
    }

    fn read_demand(&self, machine: &TopologyOptions, topology: &Topology) -> Result<Demand, Failure> {
        let form = "a demand is a CSV matrix of chunk counts, a row for each origin, or a JSON list of lists";
        let path = self
            .demand
            .as_ref()
            .ok_or_else(|| Failure::usage("all_to_allv needs a demand: use --demand FILE").hint(form))?;
        if path == Path::new("-") && machine.reads_standard_input() {
            return Err(Failure::usage("--topology and --demand cannot both be read from standard input"));
        }
        let text = file::read_text(path)?;
        demand::parse_demand(&text, topology.rank_count() as u32)
            .map_err(|error| Failure::usage(format!("{}:{error}", path.display())).hint(form))
    }
}
