//! The options that describe a machine, shared by several commands.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use collsynth::format::json::{self, ParseError};
use collsynth::report::foreign::foreign;
use collsynth::topology::{RankId, Shape, SwitchError, Topology, TopologyError, TopologySpec, Torus};

use super::extents::{Extents, join};
use super::failures::{FailureOptions, WrongRanks};
use crate::cli::ending::Failure;
use crate::cli::io::console::note;
use crate::cli::io::input;

/// Which machine, and what failed in it.
#[derive(Args)]
#[command(next_help_heading = "Machine")]
pub struct TopologyOptions {
    /// A torus of these extents, the dimension that runs fastest first: 4x4x4 (a ring: 8)
    #[arg(long, allow_negative_numbers = true, value_name = "EXTENTS")]
    torus: Option<Extents>,
    /// Read the machine from a JSON file (- for standard input): one that `synth topology --format json` writes, or a
    /// schedule, a job or a rank program, which state theirs
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Host names of the ranks: a file with one per line, in the order of the ranks, or a JSON list. Options then take
    /// names (--fail node17,node18), answers state them, and files carry them
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    #[command(flatten)]
    failures: FailureOptions,
    /// Which dimensions of --torus close to rings: yes or no, for all (no: a mesh) or one per dimension (yes,no,yes).
    /// Unless stated, extents of 3 and more do
    #[arg(long, allow_negative_numbers = true, value_name = "YES/NO")]
    wrap: Option<Wrap>,
    /// Twist the torus, whose extents are some k and 2k (4x8, 4x4x8, 4x8x8): the wrap of each short dimension leads k
    /// positions along each long one, as on TPU pods
    #[arg(long)]
    twist: bool,
    /// Use only a box of these extents of --torus, from position 0: no wrap in the dimensions that it cuts (4x4x2)
    #[arg(long, allow_negative_numbers = true, value_name = "EXTENTS")]
    slice: Option<Extents>,
    /// Chunks a link of --torus carries in a step of width 1: for all (2) or one per dimension (2,1,1) [default: 1]
    #[arg(long, allow_negative_numbers = true, value_name = "CHUNKS")]
    capacity: Option<Capacity>,
}

/// `yes,no,yes`
#[derive(Clone)]
struct Wrap(Vec<bool>);

/// `2,1,1`
#[derive(Clone)]
struct Capacity(Vec<u32>);

impl TopologyOptions {
    /// Builds the machine, and notes failures that were stated twice. Failures stated here add to those of a file.
    pub fn topology(&self) -> Result<Topology, Failure> {
        let (topology, notes) = self.topology_and_notes()?;
        notes.iter().for_each(|line| note(&format!("note: {line}")));
        Ok(topology)
    }

    /// The same with the notes.
    pub fn topology_and_notes(&self) -> Result<(Topology, Vec<String>), Failure> {
        let mut left = None;
        let mut spec = match (&self.torus, &self.topology) {
            (Some(extents), _) => self.torus_spec(extents)?,
            (None, Some(path)) => {
                let (spec, what) = read_stated(path)?;
                left = what.map(|what| format!("{}: {what}; only its machine is taken", path.display()));
                spec
            }
            (None, None) => {
                return Err(Failure::usage("no machine is given: use --torus EXTENTS or --topology FILE")
                    .hint("try `synth --torus 4x4x4 --fail 2,3,x`, or `synth --help`"));
            }
        };
        if let Some(path) = &self.names {
            spec.names = read_names(path)?;
        }
        let (topology, mut notes) = self.failures.apply(spec, |error| self.explain(error))?;
        notes.splice(..0, left);
        Ok((topology, notes))
    }

    /// A machine that a file states, with what failed since; `None`: nothing.
    pub fn failed_since(&self, machine: &Topology) -> Result<Option<Topology>, Failure> {
        if self.failures.is_empty() {
            return Ok(None);
        }
        let (topology, notes) = self.failures.apply(machine.spec().clone(), |error| self.explain(error))?;
        notes.iter().for_each(|line| note(&format!("note: {line}")));
        Ok(Some(topology))
    }

    /// The extents of the cells that switches join.
    pub fn period(&self, topology: &Topology) -> Vec<u32> {
        self.failures.period(topology)
    }

    /// The rank that a text names on this machine.
    pub fn rank(&self, topology: &Topology, text: &str) -> Result<RankId, Failure> {
        topology.parse_rank(text).map_err(|error| self.explain(&error))
    }

    /// What is wrong with a list of ranks.
    pub(crate) fn explain_ranks(&self, error: WrongRanks) -> Failure {
        error.explained(|error| self.explain(error))
    }

    /// Was a machine stated, or something of one?
    pub fn is_stated(&self) -> bool {
        !self.words().is_empty()
    }

    /// The options, as typed.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.machine_words();
        words.extend(self.failures.words());
        words
    }

    /// The machine without what failed.
    fn machine_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(Extents(extents)) = &self.torus {
            words.extend(["--torus".to_owned(), join(extents, "x")]);
        }
        if let Some(path) = &self.topology {
            words.extend(["--topology".to_owned(), path.display().to_string()]);
        }
        if let Some(path) = &self.names {
            words.extend(["--names".to_owned(), path.display().to_string()]);
        }
        if let Some(Wrap(wrap)) = &self.wrap {
            let values: Vec<&str> = wrap.iter().map(|&wraps| if wraps { "yes" } else { "no" }).collect();
            words.extend(["--wrap".to_owned(), join(&values, ",")]);
        }
        if self.twist {
            words.push("--twist".to_owned());
        }
        if let Some(Extents(extents)) = &self.slice {
            words.extend(["--slice".to_owned(), join(extents, "x")]);
        }
        if let Some(Capacity(capacity)) = &self.capacity {
            words.extend(["--capacity".to_owned(), join(capacity, ",")]);
        }
        words
    }

    fn torus_spec(&self, Extents(extents): &Extents) -> Result<TopologySpec, Failure> {
        let per_dim = |length: usize| if length == 1 { extents.len() } else { 1 };
        let wrap = self.wrap.as_ref().map(|Wrap(wrap)| wrap.repeat(per_dim(wrap.len()))).unwrap_or_default();
        let capacity = self.capacity.as_ref().map(|Capacity(c)| c.repeat(per_dim(c.len()))).unwrap_or_default();
        let torus = match self.twist {
            true => Torus::twisted(extents).ok_or_else(|| {
                let extents = join(extents, "x");
                Failure::usage(format!("--twist: {extents} has no twist: its extents must be some k and 2k, from 2"))
                    .hint(
                        "as in 4x8, 4x4x8 or 4x8x8; other twists can be stated in a file: `synth util schema topology`",
                    )
            })?,
            false => Torus { wrap, ..Torus::new(extents) },
        };
        let torus = Torus { capacity, ..torus };
        let torus = match &self.slice {
            Some(slice) => cut(torus, slice)?,
            None => torus,
        };
        Ok(TopologySpec::new(Shape::Torus(torus)))
    }

    /// The error, and how to look at the machine.
    fn explain(&self, error: &TopologyError) -> Failure {
        let failure = Failure::usage(error);
        match error {
            TopologyError::NotARank { text } if self.names.is_none() && text.contains(char::is_alphabetic) => failure
                .hint(format!(
                    "--names FILE gives the ranks names; `synth topology {}` lists them and their links",
                    self.machine_words().join(" ")
                )),
            TopologyError::NotNeighbors { .. }
            | TopologyError::WrongDimension { .. }
            | TopologyError::RankOutOfRange { .. }
            | TopologyError::NotARank { .. }
            | TopologyError::OutsideTorus { .. }
            | TopologyError::NoCoordinates { .. } => failure
                .hint(format!("`synth topology {}` lists the ranks and their links", self.machine_words().join(" "))),
            TopologyError::WrongNameCount { .. } | TopologyError::NotAName { .. } | TopologyError::NameTwice { .. } => {
                match &self.names {
                    Some(path) => Failure::usage(format!("{}: {error}", path.display()))
                        .hint("write the name of each rank on a line, in the order of the ranks"),
                    None => failure,
                }
            }
            TopologyError::Switch(SwitchError::Period(_)) => {
                failure.hint("state the extents of the cells with --period, as in --fail-switch x:1,0 --period 2x2x2")
            }
            TopologyError::AmbiguousCable { .. } => failure.hint("write the direction as the dimension: U,V,x+"),
            _ => failure,
        }
    }
}

impl FromStr for Wrap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = |word: &str| match word.trim() {
            "yes" | "true" => Some(true),
            "no" | "false" => Some(false),
            _ => None,
        };
        let wrap: Option<Vec<bool>> = text.split(',').map(value).collect();
        wrap.map(Self).ok_or_else(|| "write yes or no, once or for every dimension, as in yes,no,yes".to_owned())
    }
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let capacity: Option<Vec<u32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
        capacity.map(Self).ok_or_else(|| "write a number, once or for every dimension, as in 2,1,1".to_owned())
    }
}

/// A box of a torus: a dimension that is cut does not wrap.
fn cut(torus: Torus, Extents(slice): &Extents) -> Result<Torus, Failure> {
    let (whole, part) = (join(&torus.extents, "x"), join(slice, "x"));
    let fits =
        slice.len() == torus.extents.len() && slice.iter().zip(&torus.extents).all(|(part, whole)| part <= whole);
    if !fits {
        return Err(Failure::usage(format!("--slice: {part} does not fit into {whole}"))
            .hint("write an extent for each dimension, none larger than that of --torus"));
    }
    let stated = if torus.wrap.is_empty() { torus.default_wrap() } else { torus.wrap };
    if stated.len() != slice.len() {
        // Building the machine explains it.
        return Ok(Torus { wrap: stated, ..torus });
    }
    let wrap = (0..slice.len()).map(|dim| stated[dim] && slice[dim] == torus.extents[dim]).collect();
    Ok(Torus { extents: slice.clone(), wrap, ..torus })
}

/// The options of a plan on a machine as it is: a torus without names or twist; `None` for any other.
pub fn words_of(machine: &Topology) -> Option<Vec<String>> {
    let (spec, torus) = (machine.spec(), machine.as_torus()?);
    if torus.is_twisted() || !spec.names.is_empty() || torus.capacity.iter().any(|&chunks| chunks != 1) {
        return None;
    }
    let mut words = vec!["--torus".to_owned(), join(&torus.extents, "x")];
    if torus.wrap != torus.default_wrap() {
        let wrap: Vec<&str> = torus.wrap.iter().map(|&wraps| if wraps { "yes" } else { "no" }).collect();
        words.extend(["--wrap".to_owned(), join(&wrap, ",")]);
    }
    let switches = machine.dead_switches();
    for (switch, _) in &switches {
        words.extend(["--fail-switch".to_owned(), switch.to_string()]);
    }
    for failed in machine.failed_beside(&switches) {
        let option = if failed.both { "--fail" } else { "--fail-link" };
        let dim = failed.dim.map(|dim| format!(",{dim}")).unwrap_or_default();
        words.extend([option.to_owned(), format!("{},{}{dim}", failed.from, failed.to)]);
    }
    if !spec.failed_ranks.is_empty() {
        words.extend(["--fail-rank".to_owned(), join(&spec.failed_ranks, ",")]);
    }
    Some(words)
}

/// Reads the machine in a topology file, or in a file that states its machine beside other things.
pub fn read_spec(path: &Path) -> Result<TopologySpec, Failure> {
    Ok(read_stated(path)?.0)
}

/// The same, and what the file is beside a machine.
fn read_stated(path: &Path) -> Result<(TopologySpec, Option<&'static str>), Failure> {
    let (text, limits) = (input::read_text(path)?, input::limits()?);
    let name = path.display();
    let located =
        |error: &ParseError| Failure::usage(format!("{name}:{}:{}: {}", error.line, error.column, error.message));
    if let Some(what) = input::ours(&text) {
        let spec = json::parse_machine_within(&text, &limits).map_err(|error| located(&error))?;
        let spec = spec.ok_or_else(|| Failure::usage(format!("{name}: this is {what} that states no machine")));
        return Ok((spec?, Some(what)));
    }
    let spec = json::parse_topology_within(&text, &limits).map_err(|error| {
        if let Some(what) = foreign(&text).filter(|_| !text.trim_start().starts_with('{')) {
            return Failure::usage(format!("{name}: {what}"));
        }
        located(&error).hint(
            "`synth topology --torus 4x4 --fail 2,3 -o FILE` writes such a file, and `synth util schema topology` \
             prints what it may hold",
        )
    })?;
    Ok((spec, None))
}

/// Reads names of ranks: a line for each, or a JSON list. Comments begin with `#`.
fn read_names(path: &Path) -> Result<Vec<String>, Failure> {
    let text = input::read_text(path)?;
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&text).map_err(|error| Failure::usage(format!("{}: {error}", path.display())));
    }
    let lines = text.trim_end().lines().map(str::trim).filter(|line| !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}
