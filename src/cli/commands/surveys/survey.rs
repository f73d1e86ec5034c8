//! `synth survey`: what failures cost, for every set of failures up to symmetry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, Subcommand};
use collsynth::collective::{Demand, Kind};
use collsynth::format::json;
use collsynth::plan::Control;
use collsynth::report::figures::{count, with_article};
use collsynth::report::survey::{Group, Head, Outcome, Record, Survey};
use collsynth::symmetry::{self, Unit, Units};
use collsynth::topology::{RankId, Topology};
use rayon::prelude::*;

use super::draws::{choices, drawn};
use super::failing;
use super::merge::merge;
use super::sets::{Family, Keeps, SetsOptions, Sorted, once};
use super::subject::{Job, Plans, Subject};
use super::survey_store::Store;
use crate::cli::arguments::collective::kind_names;
use crate::cli::arguments::plan::{PartsArgument, use_threads};
use crate::cli::arguments::size;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::interrupt_flag;
use crate::cli::io::console::note;
use crate::cli::io::output;
use crate::cli::io::progress::Ticker;
use crate::cli::options::Given;
use crate::cli::options::quantity::parse_seed;
use crate::cli::options::words::typed_again;

/// Survey what failures cost
///
/// Plans and verifies around every set of failures, up to the machine's symmetries. Writes survey.json, table.csv and a
/// page, index.html, to a folder, and a line for each group to standard output. A survey that was stopped goes on where
/// it was when the same command is given again.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SurveyCommand {
    #[command(subcommand)]
    command: Option<SurveySubcommand>,
    #[command(flatten)]
    topology: TopologyOptions,
    /// The collectives, without root and demand
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_value = "all_to_all")]
    #[arg(hide_possible_values = true, value_parser = kind_names())]
    collective: Vec<String>,
    /// A job in place of them: several collectives at once, in the file that `synth --job` takes
    #[arg(long, value_name = "FILE")]
    job: Option<PathBuf>,
    #[command(flatten)]
    sets: SetsOptions,
    /// Groups that fail together, from a JSON file: {"units": [{"name": "host 0", "ranks": [0, 1], "cables": [[2,
    /// 3]]}]}
    #[arg(long, value_name = "FILE", help_heading = "Failures")]
    unit: Option<PathBuf>,
    /// With --unit: sets of N groups
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "1", help_heading = "Failures")]
    units: Vec<usize>,
    /// Draw N sets of each size instead of listing all; all are listed where there are no more
    #[arg(long, value_name = "N", help_heading = "Failures", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Drives the draws and the planners' random choices
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_seed, help_heading = "Plan")]
    seed: u64,
    /// Equal parts each message is cut in, or `auto` for the least volume [default: 1; for all_reduce and jobs auto]
    #[arg(long, value_name = "N|auto", help_heading = "Plan")]
    parts: Option<PartsArgument>,
    /// Threads [default: one per core]; their number does not change the survey
    #[arg(long, value_name = "N", help_heading = "Plan", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Only part I of N of the work, for a batch array; `synth survey merge` puts the parts together
    #[arg(long, value_name = "I/N", help_heading = "Output")]
    shard: Option<Shard>,
    /// Share the work among the processes of an MPI job, in a folder that all of them see
    #[cfg(feature = "mpi")]
    #[arg(long, help_heading = "Output")]
    mpi: bool,
    /// Write the survey to this folder (required)
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    output: Option<PathBuf>,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

#[derive(Subcommand)]
enum SurveySubcommand {
    Merge(MergeCommand),
}

/// Put the parts of a survey together
#[derive(Args)]
struct MergeCommand {
    /// The folders of all parts
    #[arg(value_name = "FOLDER", required = true)]
    parts: Vec<PathBuf>,
    /// The folder for the whole survey
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

/// `3/64`
#[derive(Clone, Copy, Debug)]
struct Shard {
    part: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((part, of)) if 1 <= part && part <= of => Ok(Self { part, of }),
            _ => Err("write a part and the number of parts, as in 3/64".to_owned()),
        }
    }
}

/// Units that fail, by name, in sets of these sizes.
struct Failing {
    /// None: of a file.
    family: Option<Family>,
    named: Vec<(String, Unit)>,
    sizes: Vec<usize>,
}

/// Classes of sets of units, each with its number of sets.
type Classes = Vec<(Vec<u32>, u64)>;

/// What is planned for.
struct Task {
    /// The number of its subject.
    subject: usize,
    failed: Vec<Unit>,
    names: Vec<String>,
    sets: u64,
}

impl Task {
    /// Is this what became of it?
    fn is_of(&self, record: &Record) -> bool {
        self.names == record.set && self.sets == record.sets
    }
}

impl SurveyCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        if let Some(SurveySubcommand::Merge(merge)) = &self.command {
            return merge.run();
        }
        let topology = self.topology.topology()?;
        size::check_ranks(&topology)?;
        let subjects = self.subjects(&topology)?;
        given.kinds(&subjects.iter().flat_map(Subject::kinds).collect::<Vec<_>>())?;
        let folder = self
            .output
            .as_deref()
            .ok_or_else(|| Failure::usage("a survey is written to a folder").hint("add -o FOLDER"))?;
        use_threads(self.threads)?;
        let part = |folder: &Path, shard| self.part(&topology, &subjects, folder, shard);
        #[cfg(feature = "mpi")]
        if self.mpi {
            return super::survey_mpi::run(folder, |folder, number, of| part(folder, Some(Shard { part: number, of })));
        }
        part(folder, self.shard)
    }

    /// Does the work, or a part of it.
    fn part(
        &self,
        topology: &Topology,
        subjects: &[Subject<'_>],
        folder: &Path,
        shard: Option<Shard>,
    ) -> Result<Ending, Failure> {
        let (groups, tasks) = self.tasks(topology, subjects)?;
        let head = self.head(topology, subjects, groups);
        let is_of = |record: &Record| tasks.get(record.number).is_some_and(|task| task.is_of(record));
        let (store, known) = Store::open(folder, &head, is_of)?;
        let plan = |task: &Task, control: &Control| {
            let broken = symmetry::fail(topology, &task.failed).map_err(Failure::usage)?;
            subjects[task.subject].outcome(&broken, self.plans(), control)
        };
        let records = self.plan_all(&tasks, plan, &store, known, |number| is_mine(shard, number, &head))?;
        let survey = Survey { head, records };
        let mine = (0..tasks.len()).filter(|&number| is_mine(shard, number, &survey.head)).count();
        if survey.records.len() < mine {
            let left = count(mine - survey.records.len(), "class");
            note(&format!("stopped with {left} to go; the same command goes on"));
            return Ok(Ending::Stopped);
        }
        store.finish(&survey)?;
        match shard {
            None => output::print(&survey.to_text())?,
            Some(_) if self.quiet => {}
            Some(Shard { part, of }) => {
                note(&format!(
                    "part {part} of {of} is done; `synth survey merge PARTS -o FOLDER` puts all parts together"
                ));
            }
        }
        Ok(Ending::Success)
    }

    /// Plans what is not known yet, on all cores; returns all that is known then.
    fn plan_all(
        &self,
        tasks: &[Task],
        plan: impl Fn(&Task, &Control) -> Result<Outcome, Failure> + Sync,
        store: &Store,
        known: Vec<Record>,
        is_mine: impl Fn(usize) -> bool,
    ) -> Result<Vec<Record>, Failure> {
        let mut is_known = vec![false; tasks.len()];
        known.iter().filter(|record| record.number < tasks.len()).for_each(|record| is_known[record.number] = true);
        let open: Vec<usize> = (0..tasks.len()).filter(|&number| !is_known[number] && is_mine(number)).collect();
        let ticker = Ticker::new(self.quiet, "surveying");
        let stop = interrupt_flag()?;
        let control = Control::unlimited().with_interrupt(stop.clone());
        let done = AtomicUsize::new(0);
        let planned: Result<Vec<Option<Record>>, Failure> = open
            .par_iter()
            .with_max_len(1)
            .map(|&number| {
                let is_stopped = || stop.load(Ordering::Relaxed);
                if is_stopped() {
                    return Ok(None);
                }
                let outcome = plan(&tasks[number], &control);
                // What an interrupt cut short is not the outcome.
                if is_stopped() {
                    return Ok(None);
                }
                let outcome = outcome?;
                let Task { names, sets, .. } = &tasks[number];
                let record = Record { number, set: names.clone(), sets: *sets, outcome };
                store.keep(&record)?;
                ticker.say(format!("{} of {} classes", done.fetch_add(1, Ordering::Relaxed) + 1, open.len()));
                Ok(Some(record))
            })
            .collect();
        ticker.finish();
        let mut records = known;
        records.extend(planned?.into_iter().flatten());
        records.sort_by_key(|record| record.number);
        Ok(records)
    }

    /// What is surveyed.
    fn subjects<'a>(&'a self, topology: &Topology) -> Result<Vec<Subject<'a>>, Failure> {
        match &self.job {
            Some(file) => Ok(vec![Subject::Job(Job::read(file, topology)?)]),
            None => Ok(self.kinds()?.into_iter().map(Subject::Collective).collect()),
        }
    }

    fn plans(&self) -> Plans {
        Plans { parts: self.parts, seed: self.seed }
    }

    /// All groups, and all tasks in their order.
    fn tasks(&self, topology: &Topology, subjects: &[Subject<'_>]) -> Result<(Vec<Group>, Vec<Task>), Failure> {
        let mut families: Vec<Failing> = Vec::new();
        let period = self.topology.period(topology);
        for (family, sizes) in self.sets.stated() {
            families.push(Failing { family: Some(family), named: family.units(topology, &period)?, sizes });
        }
        if let Some(path) = &self.unit {
            families.push(Failing { family: None, named: failing::read(path, topology)?, sizes: once(&self.units) });
        }
        if families.is_empty() {
            return Err(Failure::usage("nothing fails: use --cables, --links, --ranks, --switches or --unit")
                .hint("--cables 1,2 surveys single cables and pairs of cables"));
        }
        let (mut groups, mut tasks) = (Vec::new(), Vec::new());
        for (subject, of) in subjects.iter().enumerate() {
            of.check(topology, self.plans())?;
            let job = of.job_on(topology);
            let is_kept = |image: &dyn Fn(RankId) -> RankId| job.as_ref().is_none_or(|job| job.is_kept_by(image));
            let keeps: Option<&Keeps<'_>> = if job.is_some() { Some(&is_kept) } else { None };
            let group = |unit: &str, size, sets, drawn, classes| Group {
                collective: of.name().to_owned(),
                unit: unit.to_owned(),
                size,
                sets,
                drawn,
                classes,
            };
            groups.push(group("", 0, 1, None, 1));
            tasks.push(Task { subject, failed: Vec::new(), names: Vec::new(), sets: 1 });
            for Failing { family, named, sizes } in &families {
                let unit = family.map_or("unit", Family::name);
                let all: Vec<Unit> = named.iter().map(|(_, unit)| unit.clone()).collect();
                let units = match family {
                    Some(family) => family.sorted(topology, &period, all, keeps),
                    None => Sorted::Kept(Units::new(symmetry::Group::new(topology, keeps.unwrap_or(&|_| true)), all)),
                };
                for &size in sizes {
                    if *family == Some(Family::Rank) && size >= topology.live_rank_count() {
                        return Err(Failure::usage(format!("sets of {size} ranks leave no rank alive")));
                    }
                    let (classes, drawn) = self.classes(&units, unit, size)?;
                    let sets = classes.iter().map(|(_, sets)| sets).sum();
                    groups.push(group(unit, size, sets, drawn, classes.len()));
                    tasks.extend(classes.into_iter().map(|(set, sets)| {
                        let members = || set.iter().map(|&unit| &named[unit as usize]);
                        Task {
                            subject,
                            failed: members().map(|(_, unit)| unit.clone()).collect(),
                            names: members().map(|(name, _)| name.clone()).collect(),
                            sets,
                        }
                    }));
                }
            }
        }
        Ok((groups, tasks))
    }

    /// The classes of all sets of a size, or of those drawn, each with its number of sets; and how many were drawn. All
    /// are listed where no more are asked for than there are.
    fn classes(&self, units: &Sorted<'_>, unit: &str, size: usize) -> Result<(Classes, Option<u64>), Failure> {
        let all = units.units().len();
        if size == 0 || size > all {
            return Err(Failure::usage(format!("there are {}: sets of {size} are not of them", count(all, unit))));
        }
        let there_are = choices(all as u64, size as u64);
        if let Some((draws, there_are)) = self.sample.zip(there_are).filter(|(draws, there_are)| draws >= there_are) {
            let (sets, size) = (count(there_are as usize, "set"), count(size, unit));
            note(&format!("note: {sets} of {size} are all there are: all are surveyed, none of {draws} is drawn"));
        }
        let Some(draws) = self.sample.filter(|&draws| there_are.is_none_or(|there_are| draws < there_are)) else {
            let classes = units.classes(size).map_err(|error| {
                Failure::usage(error).hint("--sample 1000 draws some, and says how sure the answer is")
            })?;
            return Ok((classes.into_iter().map(|class| (class.set, class.size)).collect(), None));
        };
        let drawn = drawn(all as u64, size as u64, draws, self.seed);
        let classes: Vec<Vec<u32>> = drawn.into_par_iter().map(|set| units.canonical(&set).class.set).collect();
        let mut counts = BTreeMap::new();
        classes.into_iter().for_each(|set| *counts.entry(set).or_insert(0) += 1);
        Ok((counts.into_iter().collect(), Some(draws)))
    }

    fn kinds(&self) -> Result<Vec<Kind>, Failure> {
        let all = Kind::every(RankId(0), Demand::default());
        let free = |kind: &&Kind| kind.root().is_none() && kind.demand().is_none() && kind.has_volume();
        let named = |name: &String| {
            all.iter().filter(free).find(|kind| kind.name() == name).cloned().ok_or_else(|| {
                let names: Vec<&str> = all.iter().filter(free).map(Kind::name).collect();
                Failure::usage(format!("`{name}` cannot be surveyed by itself; these can: {}", names.join(", ")))
                    .hint("--job FILE surveys what a file lists, one collective or several")
            })
        };
        once(&self.collective).iter().map(named).collect()
    }

    fn head(&self, topology: &Topology, subjects: &[Subject<'_>], groups: Vec<Group>) -> Head {
        Head {
            format: "failure-survey/1".to_owned(),
            machine: with_article(&topology.to_string()),
            topology: serde_json::from_str(&json::topology_to_string(topology.spec())).unwrap_or_default(),
            period: groups
                .iter()
                .any(|group| group.unit == Family::Switch.name())
                .then(|| self.topology.period(topology)),
            command: self.line(),
            job: subjects.iter().find_map(Subject::stated),
            groups,
        }
    }

    /// The command line that gives the same survey.
    fn line(&self) -> String {
        let mut words = vec!["synth".to_owned(), "survey".to_owned()];
        words.extend(self.topology.words());
        words.extend(match &self.job {
            Some(file) => ["--job".to_owned(), file.display().to_string()],
            None => ["--collective".to_owned(), once(&self.collective).join(",")],
        });
        words.extend(self.sets.words());
        if let Some(path) = &self.unit {
            let sizes: Vec<String> = once(&self.units).iter().map(usize::to_string).collect();
            words.extend(["--unit", &path.display().to_string(), "--units", &sizes.join(",")].map(str::to_owned));
        }
        words.extend(self.sample.iter().flat_map(|sample| ["--sample".to_owned(), sample.to_string()]));
        words.extend(PartsArgument::words(self.parts));
        words.extend((self.seed != 0).then(|| ["--seed".to_owned(), self.seed.to_string()]).into_iter().flatten());
        typed_again(words)
    }
}

/// Is a task in a part? The machine as it is belongs to every part.
fn is_mine(shard: Option<Shard>, number: usize, head: &Head) -> bool {
    let Some(Shard { part, of }) = shard else { return true };
    let mut first = 0;
    let is_intact = head.groups.iter().any(|group| {
        first += group.classes;
        group.size == 0 && number + 1 == first
    });
    is_intact || number % of == part - 1
}

impl MergeCommand {
    fn run(&self) -> Result<Ending, Failure> {
        merge(&self.parts, &self.output)
    }
}
