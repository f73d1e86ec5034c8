//! `synth fallbacks build`: a schedule for each class of failures.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use collsynth::Request;
use collsynth::collective::{Collective, Demand, Kind};
use collsynth::format::json;
use collsynth::plan::{Control, Goal, PlanError};
use collsynth::problem::Problem;
use collsynth::report::figures::{count, with_article};
use collsynth::symmetry::{self, Unit};
use collsynth::topology::{RankId, Topology};
use rayon::prelude::*;

use super::{Entry, FORMAT, INDEX, Index};
use crate::cli::arguments::collective::kind_names;
use crate::cli::arguments::plan::{PartsArgument, use_threads};
use crate::cli::arguments::size;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::commands::planning::plan;
use crate::cli::commands::surveys::sets::{Family, SetsOptions};
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::control;
use crate::cli::io::console::note;
use crate::cli::io::output;
use crate::cli::io::progress::Ticker;
use crate::cli::io::reading::Reading;
use crate::cli::options::Given;
use crate::cli::options::quantity::parse_seed;
use crate::cli::options::words::typed_again;

/// Plan and verify around one set of failures of each class, and keep the schedules in a folder
#[derive(Args)]
pub struct BuildCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    /// The collective, without root and demand
    #[arg(long, value_name = "NAME", default_value = "all_to_all")]
    #[arg(hide_possible_values = true, value_parser = kind_names())]
    collective: String,
    #[command(flatten)]
    sets: SetsOptions,
    /// Drives the planners' random choices
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_seed, help_heading = "Plan")]
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

/// A class to plan for: its canonical set, and how many sets it stands for.
struct Covered {
    family: Family,
    names: Vec<String>,
    failed: Vec<Unit>,
    sets: u64,
}

impl BuildCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let topology = self.topology.topology()?;
        size::check_ranks(&topology)?;
        use_threads(self.threads)?;
        let kind = Kind::named(&self.collective, RankId(0), Demand::default())
            .filter(|kind| kind.root().is_none() && kind.demand().is_none())
            .ok_or_else(|| Failure::usage(format!("`{}` is no collective without root and demand", self.collective)))?;
        given.kind(&kind)?;
        Problem::new(topology.clone(), Collective::new(kind.clone()))?;
        let period = self.topology.period(&topology);
        let sets = self.sets(&topology, &period)?;
        let of_switches = sets.iter().any(|class| class.family == Family::Switch);
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
            period: of_switches.then_some(period),
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
    fn sets(&self, topology: &Topology, period: &[u32]) -> Result<Vec<Covered>, Failure> {
        let mut sets = Vec::new();
        for (family, sizes) in self.sets.stated() {
            let (names, units): (Vec<String>, Vec<Unit>) = family.units(topology, period)?.into_iter().unzip();
            let sorted = family.sorted(topology, period, units, None);
            for size in sizes {
                if size == 0 || size > names.len() {
                    let all = count(names.len(), family.name());
                    return Err(Failure::usage(format!("there are {all}: sets of {size} are not of them")));
                }
                for class in sorted.classes(size).map_err(Failure::usage)? {
                    let members = || class.set.iter().map(|&unit| unit as usize);
                    let failed = members().map(|unit| sorted.units()[unit].clone()).collect();
                    let names = members().map(|unit| names[unit].clone()).collect();
                    sets.push(Covered { family, names, failed, sets: class.size });
                }
            }
        }
        match sets.is_empty() {
            true => Err(Failure::usage("nothing fails: use --cables, --links, --ranks or --switches")
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
        let read = Reading::of(path).and_then(|reading| reading.judged("kept"));
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
        let mut words = ["synth", "fallbacks", "build"].map(str::to_owned).to_vec();
        words.extend(self.topology.words());
        words.extend(["--collective".to_owned(), self.collective.clone()]);
        words.extend(self.sets.words());
        words.extend(PartsArgument::words(self.parts));
        words.extend((self.seed != 0).then(|| ["--seed".to_owned(), self.seed.to_string()]).into_iter().flatten());
        typed_again(words)
    }
}

fn sum(classes: &[Entry], wanted: impl Fn(&Entry) -> bool) -> u64 {
    classes.iter().filter(|entry| wanted(entry)).map(|entry| entry.sets).sum()
}
