//! `synth fallbacks`: schedules kept ready for failures, one for each class, relabelled when one happens.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use collsynth::Request;
use collsynth::collective::{Collective, Demand, Kind};
use collsynth::format::json;
use collsynth::plan::{Control, Goal, PlanError};
use collsynth::problem::Problem;
use collsynth::relabel::relabel;
use collsynth::report::figures::{count, with_article};
use collsynth::schedule::Origin;
use collsynth::symmetry::{self, Group, Unit, Units};
use collsynth::topology::{LinkId, RankId, Topology};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::failing::{self, Family};
use crate::cli::arguments::collective::kind_names;
use crate::cli::arguments::failures::FailureOptions;
use crate::cli::arguments::plan::{PartsArgument, use_threads};
use crate::cli::arguments::size;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::commands::files::lower::{LowerOptions, SlotOptions};
use crate::cli::commands::planning::plan;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::control;
use crate::cli::io::console::note;
use crate::cli::io::progress::Ticker;
use crate::cli::io::reading::Reading;
use crate::cli::io::{input, output, reading};
use crate::cli::options::Given;

/// What relabelling takes for each move, roughly.
const MOVE_BYTES: u64 = 60;

/// Keep schedules ready for failures before they happen
#[derive(Args)]
pub struct FallbacksCommand {
    #[command(subcommand)]
    command: FallbacksSubcommand,
}

#[derive(Subcommand)]
enum FallbacksSubcommand {
    Build(BuildCommand),
    Get(GetCommand),
}

/// Plan and verify around one set of failures of each class, and keep the schedules in a folder
#[derive(Args)]
struct BuildCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    /// The collective, without root and demand
    #[arg(long, value_name = "NAME", default_value = "all_to_all", value_parser = kind_names(), hide_possible_values = true)]
    collective: String,
    /// Cover all sets of N cables (1,2: single cables and pairs)
    #[arg(long, value_name = "N,..", value_delimiter = ',', help_heading = "Failures")]
    cables: Vec<usize>,
    /// Cover all sets of N single directions of cables
    #[arg(long, value_name = "N,..", value_delimiter = ',', help_heading = "Failures")]
    links: Vec<usize>,
    /// Cover all sets of N ranks
    #[arg(long, value_name = "N,..", value_delimiter = ',', help_heading = "Failures")]
    ranks: Vec<usize>,
    /// Drives the planners' random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Plan")]
    seed: u64,
    /// Equal parts each message is cut in, or `auto`; unless stated, as for planning
    #[arg(long, value_name = "N|auto", help_heading = "Plan")]
    parts: Option<PartsArgument>,
    /// Threads [default: one per core]; their number does not change the schedules
    #[arg(long, value_name = "N", help_heading = "Plan", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// The folder
    #[arg(short, long, value_name = "SET", help_heading = "Output")]
    output: PathBuf,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

/// The schedule around a failure: that of its class, relabelled by a symmetry and verified again
#[derive(Args)]
struct GetCommand {
    /// The folder that `synth fallbacks build` wrote
    #[arg(value_name = "SET")]
    set: PathBuf,
    #[command(flatten)]
    failures: FailureOptions,
    /// Lower the schedule to a rank program
    #[arg(long)]
    lower: bool,
    #[command(flatten)]
    lowering: LowerOptions,
    #[command(flatten)]
    slots: SlotOptions,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The index of a set.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    format: String,
    machine: String,
    topology: serde_json::Value,
    collective: String,
    /// The options that made the set.
    command: String,
    classes: Vec<Entry>,
}

/// A class of failures.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    unit: String,
    set: Vec<String>,
    /// How many sets are in the class.
    sets: u64,
    /// The schedule; none where the live network is not connected.
    file: Option<String>,
}

/// A class to plan for: its canonical set, and how many sets it stands for.
struct Covered {
    family: Family,
    names: Vec<String>,
    failed: Vec<Unit>,
    sets: u64,
}

const FORMAT: &str = "fallback-set/1";

const INDEX: &str = "index.json";

impl FallbacksCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        match &self.command {
            FallbacksSubcommand::Build(build) => build.run(given),
            FallbacksSubcommand::Get(get) => get.run(),
        }
    }
}

impl BuildCommand {
    fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let topology = self.topology.topology()?;
        size::check_ranks(&topology)?;
        use_threads(self.threads)?;
        let kind = Kind::named(&self.collective, RankId(0), Demand::default())
            .filter(|kind| kind.root().is_none() && kind.demand().is_none())
            .ok_or_else(|| Failure::usage(format!("`{}` is no collective without root and demand", self.collective)))?;
        given.kind(&kind)?;
        Problem::new(topology.clone(), Collective::new(kind.clone()))?;
        let sets = self.sets(&topology)?;
        let folder = |error| Failure::usage(format!("cannot write in {}: {error}", self.output.display()));
        if self.output.join(INDEX).exists() {
            return Err(
                Failure::usage(format!("{} holds a set already", self.output.display())).hint("choose another -o")
            );
        }
        fs::create_dir_all(&self.output).map_err(folder)?;
        let ticker = Ticker::new(self.quiet, "planning");
        let control = control(None)?.with_listener(ticker.listener());
        let one = |(number, class): (usize, &Covered)| {
            let Covered { family, names, failed, sets } = class;
            let file = format!("{number}.json.gz");
            let broken = symmetry::fail(&topology, failed).map_err(Failure::usage)?;
            let is_kept = match control.stop() {
                Some(_) => return Err(self.stopped()),
                None => self.keep(&broken, &kind, &self.output.join(&file), &control)?,
            };
            Ok(Entry { unit: family.name().to_owned(), set: names.clone(), sets: *sets, file: is_kept.then_some(file) })
        };
        let classes: Result<Vec<Entry>, Failure> = sets.par_iter().enumerate().with_max_len(1).map(one).collect();
        ticker.finish();
        let classes = classes?;
        let (all, gone) = (sum(&classes, |_| true), sum(&classes, |entry| entry.file.is_none()));
        let index = Index {
            format: FORMAT.to_owned(),
            machine: with_article(&topology.to_string()),
            topology: serde_json::from_str(&json::topology_to_string(topology.spec())).unwrap_or_default(),
            collective: kind.name().to_owned(),
            command: self.command(),
            classes,
        };
        let text = serde_json::to_string_pretty(&index).expect("an index is plain data") + "\n";
        output::write_file(&self.output.join(INDEX), text.as_bytes())?;
        if !self.quiet {
            let kept = index.classes.iter().filter(|entry| entry.file.is_some()).count();
            let (kept, all) = (count(kept, "schedule"), count(all as usize, "set"));
            let gone = if gone > 0 { format!("; {gone} disconnect the machine") } else { String::new() };
            note(&format!("{kept} kept, for {all} of failures of {}{gone}", index.machine));
        }
        Ok(Ending::Success)
    }

    /// All classes.
    fn sets(&self, topology: &Topology) -> Result<Vec<Covered>, Failure> {
        let mut sets = Vec::new();
        for (family, sizes) in [(Family::Cable, &self.cables), (Family::Link, &self.links), (Family::Rank, &self.ranks)]
        {
            let units = Units::of_all(Group::new(topology, |_| true), family.units(topology));
            for &size in sizes {
                if size == 0 || size > units.units().len() {
                    let all = count(units.units().len(), family.name());
                    return Err(Failure::usage(format!("there are {all}: sets of {size} are not of them")));
                }
                for class in units.classes(size).map_err(Failure::usage)? {
                    let failed: Vec<Unit> =
                        class.set.iter().map(|&unit| units.units()[unit as usize].clone()).collect();
                    let names = failed.iter().map(|unit| failing::name(topology, unit)).collect();
                    sets.push(Covered { family, names, failed, sets: class.size });
                }
            }
        }
        match sets.is_empty() {
            true => Err(Failure::usage("nothing fails: use --cables, --links or --ranks")
                .hint("--cables 1 keeps a schedule for any single cable")),
            false => Ok(sets),
        }
    }

    /// Plans, verifies and keeps a schedule, unless a run that was stopped has kept it; false if the live network is
    /// not connected.
    fn keep(&self, broken: &Topology, kind: &Kind, path: &Path, control: &Control) -> Result<bool, Failure> {
        if path.exists() && self.is_kept(broken, kind, path) {
            return Ok(true);
        }
        let goal = Goal { parts: PartsArgument::or_enough(self.parts), seed: self.seed, ..Goal::default() };
        let planned = match Request::new(broken, kind.clone()).goal(goal).control(control.clone()).run() {
            // Another run finds more.
            _ if control.stop().is_some() => return Err(self.stopped()),
            Err(PlanError::Disconnected(_)) => return Ok(false),
            planned => planned.map_err(|error| Failure::of_plan(&error, broken))?,
        };
        let origin = output::origin(Some(planned.planner), Some(self.command()), Some(self.seed));
        let verified = plan::verified(planned.into_inner(), Some(origin))?;
        output::write_file(path, json::solution_to_string(&verified).as_bytes())?;
        Ok(true)
    }

    /// Is a file a schedule of this set for a class, and does it hold?
    fn is_kept(&self, broken: &Topology, kind: &Kind, path: &Path) -> bool {
        let read = Reading::of(path).and_then(|reading| reading.expanded("kept", MOVE_BYTES));
        read.is_ok_and(|kept| {
            let (machine, command) = (kept.problem.machine(), kept.origin.as_ref().map(|origin| &origin.command));
            command == Some(&Some(self.command()))
                && kept.problem.collective().kind == *kind
                && machine.links() == broken.links()
                && machine.live_ranks().eq(broken.live_ranks())
        })
    }

    fn stopped(&self) -> Failure {
        Failure::new(Ending::Stopped, "stopped before every class had its schedule; no index is written")
            .hint("the same command goes on with what is kept")
    }

    fn command(&self) -> String {
        let mut words = vec!["synth fallbacks build".to_owned()];
        words.extend(self.topology.words());
        words.push(format!("--collective {}", self.collective));
        for (option, sizes) in [("--cables", &self.cables), ("--links", &self.links), ("--ranks", &self.ranks)] {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            words.extend((!sizes.is_empty()).then(|| format!("{option} {}", sizes.join(","))));
        }
        words.extend(self.parts.map(|parts| match parts {
            PartsArgument::Fixed(parts) => format!("--parts {parts}"),
            PartsArgument::Auto => "--parts auto".to_owned(),
        }));
        words.extend((self.seed != 0).then(|| format!("--seed {}", self.seed)));
        words.join(" ")
    }
}

impl GetCommand {
    fn run(&self) -> Result<Ending, Failure> {
        let index = self.index()?;
        let wrong =
            |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", self.set.join(INDEX).display()));
        let spec = json::parse_topology(&index.topology.to_string()).map_err(|error| wrong(&error.message))?;
        let machine = Topology::new(spec.clone()).map_err(|error| wrong(&error))?;
        let (broken, notes) = self.failures.apply(spec, |error| Failure::usage(error))?;
        notes.iter().for_each(|line| note(&format!("note: {line}")));
        let (family, failed) = fresh(&machine, &broken)?;
        let units = Units::of_all(Group::new(&machine, |_| true), family.units(&machine));
        let number = |unit: &Unit| units.units().iter().position(|other| other == unit).map(|number| number as u32);
        let mut set: Vec<u32> = failed.iter().filter_map(number).collect();
        set.sort_unstable();
        let canonical = units.canonical(&set);
        let name = |&unit: &u32| failing::name(&machine, &units.units()[unit as usize]);
        let names: Vec<String> = canonical.class.set.iter().map(name).collect();
        let entry = index.classes.iter().find(|entry| entry.unit == family.name() && entry.set == names);
        let entry = entry.ok_or_else(|| self.not_covered(&index, family, set.len()))?;
        let Some(file) = &entry.file else {
            return Err(Failure::new(Ending::Impossible, "this failure disconnects the machine: there is no schedule"));
        };
        let path = self.set.join(file);
        let reading = Reading::of(&path)?;
        let stated = reading.stated()?;
        let kind = &stated.problem.collective().kind;
        if Kind::named(&index.collective, RankId(0), Demand::default()).as_ref() != Some(kind) {
            return Err(Failure::usage(format!("{} is of another collective than this set", path.display())).hint(
                format!(
                    "the set is of {}; `{} -o {}-anew` builds it anew",
                    index.collective,
                    index.command,
                    self.set.display()
                ),
            ));
        }
        let held = reading.hold(stated, "relabelled")?;
        let kept = reading.expand(held, MOVE_BYTES)?;
        let inverse = units.group().inverse(canonical.symmetry);
        let mut solution = relabel(&kept, &inverse, broken).map_err(|error| wrong(&error))?;
        let command = format!("synth fallbacks get {}", self.failures.words().join(" "));
        solution.origin = Some(Origin { command: Some(command), ..solution.origin.unwrap_or_default() });
        let verified = reading::verified(solution, "relabelled", reading.made())?;
        if self.lower {
            let program = self.lowering.lower(verified.into_any(), &reading, self.slots)?;
            output::deliver_file(self.output.as_deref(), &json::program_to_string(&program), "rank program")?;
            return Ok(Ending::Success);
        }
        output::deliver_file(self.output.as_deref(), &json::solution_to_string(&verified), "schedule")?;
        Ok(Ending::Success)
    }

    fn index(&self) -> Result<Index, Failure> {
        let path = self.set.join(INDEX);
        let index: Result<Index, _> = serde_json::from_str(&input::read_text(&path)?);
        let index = index.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        match index.format == FORMAT {
            true => Ok(index),
            false => Err(Failure::usage(format!("{}: `{}` is not {FORMAT}", path.display(), index.format))),
        }
    }
    /// What the set has, and which would cover the failure.
    fn not_covered(&self, index: &Index, family: Family, size: usize) -> Failure {
        let mut covered: Vec<String> = Vec::new();
        for entry in &index.classes {
            let words = match entry.set.len() {
                1 => format!("any single {}", entry.unit),
                several => format!("any {}", count(several, &entry.unit)),
            };
            if !covered.contains(&words) {
                covered.push(words);
            }
        }
        if covered.is_empty() {
            covered.push("nothing".to_owned());
        }
        let stated = count(size, family.name());
        let (command, folder) = (covering(&index.command, family, size), self.set.display());
        Failure::usage(format!("the set covers {}, not {stated}", covered.join(", ")))
            .hint(format!("`{command} -o {folder}-{size}-{}s` builds one that does", family.name()))
    }
}

/// What failed on a machine since it was described, as units of one family.
fn fresh(machine: &Topology, broken: &Topology) -> Result<(Family, Vec<Unit>), Failure> {
    let ranks: Vec<RankId> = machine.live_ranks().filter(|&rank| !broken.is_alive(rank)).collect();
    let is_own = |&link: &LinkId| {
        let ends = machine.link(link);
        !broken.link(link).alive && broken.is_alive(ends.from) && broken.is_alive(ends.to)
    };
    let links: Vec<LinkId> = machine.live_links().filter(is_own).collect();
    let is_dead = |unit: &Unit| unit.links.iter().all(|link| links.contains(link));
    let cables: Vec<Unit> = symmetry::cables(machine).into_iter().filter(is_dead).collect();
    match (ranks.len(), links.len()) {
        (0, 0) => Err(Failure::usage("no failure is stated: use --fail, --fail-link or --fail-rank")),
        (0, dead) if dead == 2 * cables.len() => Ok((Family::Cable, cables)),
        (0, _) if cables.is_empty() => {
            let one = |link: LinkId| Unit { links: vec![link], ranks: Vec::new() };
            Ok((Family::Link, links.into_iter().map(one).collect()))
        }
        (_, 0) => {
            let one = |rank: RankId| Unit { links: Vec::new(), ranks: vec![rank] };
            Ok((Family::Rank, ranks.into_iter().map(one).collect()))
        }
        _ => Err(Failure::usage("cables, single directions and ranks that fail together are in no set")
            .hint("`synth --topology FILE ...` plans for them; ranks at the ends of a cable take it along")),
    }
}

/// The command that built a set, for sets of this size of a family too.
fn covering(command: &str, family: Family, size: usize) -> String {
    let option = format!("--{}s", family.name());
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    match words.iter().position(|word| *word == option) {
        Some(at) => words[at + 1] += &format!(",{size}"),
        None => words.extend([option, size.to_string()]),
    }
    words.join(" ")
}

fn sum(classes: &[Entry], wanted: impl Fn(&Entry) -> bool) -> u64 {
    classes.iter().filter(|entry| wanted(entry)).map(|entry| entry.sets).sum()
}
