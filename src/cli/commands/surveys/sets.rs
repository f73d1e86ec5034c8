//! Sets of failures, as options state them, and their classes.

use clap::Args;
use collsynth::symmetry::{self, Canonical, Class, ClassError, Group, LooseUnits, Unit, Units};
use collsynth::topology::{RankId, Switch, Topology};

use super::failing::name;
use crate::cli::ending::Failure;

/// All sets of these sizes.
#[derive(Args)]
#[command(next_help_heading = "Failures")]
pub struct SetsOptions {
    /// All sets of N cables (1,2: single cables and pairs)
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = number)]
    cables: Vec<usize>,
    /// All sets of N single directions of cables
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = number)]
    links: Vec<usize>,
    /// All sets of N ranks
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = number)]
    ranks: Vec<usize>,
    /// All sets of N switches between the cells of a pod, as --fail-switch names them; --period has the extents of a
    /// cell
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = number)]
    switches: Vec<usize>,
}

/// The same without what was there before.
pub fn once<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let is_first = |at: &usize| !all[..*at].contains(&all[*at]);
    (0..all.len()).filter(is_first).map(|at| all[at].clone()).collect()
}

/// A number of things that fail at once.
fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("`{word}` is no number: 1 takes single ones, 1,2 pairs too"))
}

/// A family of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Both directions of a cable, or the one that is left.
    Cable,
    /// One direction.
    Link,
    /// A rank with its links.
    Rank,
    /// The cables of a switch.
    Switch,
}

/// Does a map of the ranks, given the image of each, keep what is planned?
pub type Keeps<'k> = dyn Fn(&dyn Fn(RankId) -> RankId) -> bool + 'k;

/// Units and their classes.
pub enum Sorted<'a> {
    /// Every symmetry carries units onto units, or those do that are looked at.
    Kept(Units<'a>),
    /// Symmetries carry some units onto units.
    Loose(LooseUnits<'a>),
}

impl SetsOptions {
    /// The families of which sets are stated, with their sizes, each once.
    pub fn stated(&self) -> Vec<(Family, Vec<usize>)> {
        let Self { cables, links, ranks, switches } = self;
        let all = [(Family::Cable, cables), (Family::Link, links), (Family::Rank, ranks), (Family::Switch, switches)];
        all.into_iter().map(|(family, sizes)| (family, once(sizes))).filter(|(_, sizes)| !sizes.is_empty()).collect()
    }

    /// The options, as typed.
    pub fn words(&self) -> Vec<String> {
        let words = |(family, sizes): (Family, Vec<usize>)| {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            [family.option().to_owned(), sizes.join(",")]
        };
        self.stated().into_iter().flat_map(words).collect()
    }
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cable, Self::Link, Self::Rank, Self::Switch];

    /// The singular.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cable => "cable",
            Self::Link => "link",
            Self::Rank => "rank",
            Self::Switch => "switch",
        }
    }

    /// The option that states sizes of sets.
    pub fn option(self) -> &'static str {
        match self {
            Self::Cable => "--cables",
            Self::Link => "--links",
            Self::Rank => "--ranks",
            Self::Switch => "--switches",
        }
    }

    /// All live units of a machine, with their names; of switches, those between cells of a period.
    pub fn units(self, topology: &Topology, period: &[u32]) -> Result<Vec<(String, Unit)>, Failure> {
        let named =
            |units: Vec<Unit>, sign| units.into_iter().map(|unit| (name(topology, &unit, sign), unit)).collect();
        Ok(match self {
            Self::Cable => named(symmetry::cables(topology), '-'),
            Self::Link => named(symmetry::links(topology), '>'),
            Self::Rank => named(symmetry::ranks(topology), ' '),
            Self::Switch => {
                let wrong =
                    |error| Failure::usage(error).hint("--period states the extents of a cell, as in --period 2x2x2");
                let mut units = Vec::new();
                for switch in Switch::all(topology, period).map_err(wrong)? {
                    let unit = symmetry::switch(topology, &switch, period).map_err(wrong)?;
                    units.extend((!unit.links.is_empty()).then(|| (switch.to_string(), unit)));
                }
                units
            }
        })
    }

    /// These units of a machine, for their classes under the symmetries that keep what is planned; `None`: all do.
    pub fn sorted<'a>(
        self,
        topology: &'a Topology,
        period: &[u32],
        units: Vec<Unit>,
        keeps: Option<&Keeps<'_>>,
    ) -> Sorted<'a> {
        match self {
            Self::Switch => {
                let is_intact = topology.live_links().count() == topology.links().len();
                let torus = topology.as_torus().filter(|torus| is_intact && torus.is_symmetric());
                // Translations by multiples of the period keep every switch: of symmetries that differ by one, the
                // first will do, if all are kept.
                let is_first = |image: &dyn Fn(RankId) -> RankId| {
                    let at = image(RankId(0));
                    torus.is_none_or(|torus| (0..period.len()).all(|dim| torus.position(at, dim) < period[dim]))
                };
                Sorted::Loose(LooseUnits::new(Group::affine(topology, keeps.unwrap_or(&is_first)), units))
            }
            Self::Cable | Self::Link | Self::Rank => {
                Sorted::Kept(Units::of_all(Group::new(topology, keeps.unwrap_or(&|_| true)), units))
            }
        }
    }
}

impl<'a> Sorted<'a> {
    /// The units, by number.
    pub fn units(&self) -> &[Unit] {
        match self {
            Self::Kept(units) => units.units(),
            Self::Loose(units) => units.units(),
        }
    }

    /// The symmetries of the machine.
    pub fn group(&self) -> &Group<'a> {
        match self {
            Self::Kept(units) => units.group(),
            Self::Loose(units) => units.group(),
        }
    }

    /// The canonical set of the class of a set of units, ascending.
    pub fn canonical(&self, set: &[u32]) -> Canonical {
        match self {
            Self::Kept(units) => units.canonical(set),
            Self::Loose(units) => units.canonical(set),
        }
    }

    /// The classes of all sets of `size` units.
    pub fn classes(&self, size: usize) -> Result<Vec<Class>, ClassError> {
        match self {
            Self::Kept(units) => units.classes(size),
            Self::Loose(units) => units.classes(size),
        }
    }
}
