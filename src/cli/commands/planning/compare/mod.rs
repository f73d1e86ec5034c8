//! `synth compare`: planners side by side.

mod asking;
mod baseline;
mod files;
mod machine;
mod paper;
mod rows;
mod sweep;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use collsynth::cost::Rates;
use collsynth::plan::{Goal, StopReason, planners};
use collsynth::report::comparison::{Comparison, Plot, Tables, place};
use collsynth::report::paper::{self as volumes, averages};

use self::asking::Run;
use self::files::Own;
use self::rows::Shown;
use self::sweep::{Place, Sweep};
use super::pareto::PartsList;
use crate::cli::arguments::collective::CollectiveOptions;
use crate::cli::arguments::plan::{goal_words, named, single_names, use_threads};
use crate::cli::arguments::rate::RateOptions;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::{self, control};
use crate::cli::io::console::note;
use crate::cli::io::output;
use crate::cli::io::progress::Ticker;
use crate::cli::options::Given;
use crate::cli::options::quantity::{parse_duration, parse_seed};
use crate::cli::options::suggest::Spelled;
use crate::cli::options::words::typed_again;

/// Planners that are compared only by name: their search may not end.
const ONLY_NAMED: [&str; 1] = ["smt"];
/// The time limit of a comparison on one machine, unless stated.
const LIMIT: Duration = Duration::from_secs(60);

/// Compare planners: steps, volume, chunks held, and times by message size
///
/// Every schedule is verified before it is shown. Each planner is asked for several numbers of parts, unless --parts
/// states them; of its schedules, those are shown that no other equals or beats in both steps and volume. Planners
/// without a schedule say why. Rows are shown as planners answer, published schemes last. Exit codes are as for
/// planning.
#[derive(Args)]
pub struct CompareCommand {
    /// Schedules to show beside those of the planners, on the machine and for the collective that they state (- for
    /// standard input); --fail says what failed since
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    topology: TopologyOptions,
    /// Many tori instead of one: dims=4x4,5x5,8x8, with faults=0,1,2 each with that many failed cables, drawn by the
    /// seed
    #[arg(long, num_args = 1..=2, value_name = "dims=..|faults=..", help_heading = "Machine")]
    sweep: Vec<String>,
    /// What Qin et al., MICRO 2025, state of all-to-all, planned and verified anew: volumes around one failed cable on
    /// five tori, or their average speed-ups
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "volumes", value_name = "TABLE",
        help_heading = "Machine")]
    paper: Option<PaperTable>,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// The planners to compare (ring,negotiated) [default: all but smt, which may never finish]; `synth planners` lists
    /// them
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help_heading = "Plan", hide_possible_values = true,
        value_parser = single_names())]
    planners: Vec<String>,
    /// The planner that speed-ups are over [default: the first that applies of ring, wfr, ring_all_reduce, ring_gather,
    /// binary_tree, two_wave; none if none does]
    #[arg(long, value_name = "NAME", help_heading = "Plan", hide_possible_values = true,
        value_parser = single_names())]
    baseline: Option<String>,
    /// The baseline is planned for the machine before anything failed
    #[arg(long, help_heading = "Plan")]
    sound_baseline: bool,
    /// Numbers of equal parts each message is cut in (1,2,6), or `auto`: those that suit the planner and the sizes
    #[arg(long, value_name = "N,..|auto", default_value = "auto", help_heading = "Plan")]
    parts: PartsList,
    /// Stop after this time (30s) and show what was found; no planner takes more than its share of the time left
    /// [default: 60s on one machine, none for --sweep and --paper]
    #[arg(long, value_name = "TIME", help_heading = "Plan", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Drives random choices: the same seed gives the same schedules
    #[arg(long, value_name = "N", help_heading = "Plan", default_value_t = 0, value_parser = parse_seed)]
    seed: u64,
    /// Threads to plan with [default: one per core]; their number does not change the schedules
    #[arg(long, value_name = "N", help_heading = "Plan", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(flatten)]
    rates: RateOptions,
    /// The form of the answer [default: as the ending of -o says, else text]
    #[arg(long, value_parser = Spelled::<CompareFormat>::default(), help_heading = "Output")]
    format: Option<CompareFormat>,
    /// What --format svg plots against the message size
    #[arg(long, value_parser = Spelled::<PlotArgument>::default(), default_value = "time", help_heading = "Output")]
    plot: PlotArgument,
    /// Write the answer to this file instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true, help_heading = "Output")]
    output: PathBuf,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

/// The forms of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// Tables for people
    Text,
    /// A line for each schedule and size
    Csv,
    /// For programs
    Json,
    /// A plot of one machine
    Svg,
}

/// Tables of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PaperTable {
    /// Volumes beside its closed forms; what --paper alone prints
    Volumes,
    /// Speed-ups over Ring + Pipeline, averaged over sizes and tori of 5, by its cost model and as planned; minutes
    Averages,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlotArgument {
    /// Times
    Time,
    /// Speed-ups over the baseline
    Speedup,
}

impl CompareCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let format = self.format.or(given.form("format")).unwrap_or(CompareFormat::Text);
        if let Some(table) = self.paper {
            return self.run_paper(table, format);
        }
        let names = self.names()?;
        let own = Own::read(&self.files, &self.topology, given)?;
        let places = own.as_ref().map_or_else(|| self.places(), |own| Ok(vec![own.place()]))?;
        if format == CompareFormat::Svg && places.len() != 1 {
            return Err(Failure::usage("a plot shows one machine").hint("choose another --format for a sweep"));
        }
        use_threads(self.threads)?;
        let (ticker, limit) = (Ticker::new(self.quiet, "comparing"), self.limit());
        let kind = own.as_ref().map_or_else(|| self.collective.as_named(), |own| own.kind().clone());
        let (rates, sizes) = (self.rates.rates(&places[0].topology)?, self.rates.sizes(&kind));
        let is_printed = format == CompareFormat::Text && self.output == Path::new("-");
        let tables = is_printed.then(|| self.tables(&rates, &sizes, &names, &places));
        let mut run = Run {
            command: self,
            given,
            own: own.as_ref(),
            control: control(None)?.with_listener(ticker.listener()),
            ticker,
            shown: Shown::new(tables, places.len() > 1),
            deadline: clock::deadline(limit),
            left: 0,
            weight: 0,
            best: None,
            stopped: StopReason::Finished,
        };
        run.shown.open(&run.ticker)?;
        let mut machines = Vec::new();
        for (index, place) in places.iter().enumerate() {
            machines.push(run.machine(place, &names, places.len() - 1 - index)?);
        }
        let Run { ticker, shown, stopped, .. } = run;
        let comparison = Comparison { machines, rates, sizes, stopped, limit };
        let is_printed = shown.close(&ticker, &comparison)?;
        ticker.finish();
        if !is_printed {
            self.write(&comparison, format)?;
        }
        let found = comparison.machines.iter().all(|machine| !machine.entries.is_empty());
        if !found && self.output != Path::new("-") {
            note("no planner has a schedule for some machine: the answer says why");
        }
        Ok(match (stopped, found) {
            (StopReason::Finished, true) => Ending::Success,
            (StopReason::Finished, false) => Ending::Usage,
            _ => Ending::Stopped,
        })
    }

    /// The time limit: people wait for one machine, and leave several alone.
    fn limit(&self) -> Option<Duration> {
        let usual = self.sweep.is_empty().then_some(LIMIT);
        self.time_limit.or_else(|| usual.inspect(|&limit| clock::watch(limit)))
    }

    /// The tables for people.
    fn tables(&self, rates: &Rates, sizes: &[u64], names: &[String], places: &[Place]) -> Tables {
        let files = self.files.iter().map(|path| path.display().to_string());
        let planners: Vec<String> = files.chain(names.iter().cloned()).collect();
        let described: Vec<String> = places.iter().map(|at| place(&at.topology, &at.failures)).collect();
        let baseline = self.baseline.as_ref().map_or(baseline::WIDTH, String::len);
        let over = if self.sound_baseline { baseline + " without failures".len() } else { baseline };
        let several = (places.len() > 1).then_some((&*described, over));
        Tables::new(rates, sizes, planners.iter().map(String::as_str), several)
    }

    /// Does the answer have speed-ups? A plot of times has none.
    fn shows_speedups(&self, given: &Given) -> bool {
        let format = self.format.or(given.form("format"));
        format != Some(CompareFormat::Svg) || self.plot == PlotArgument::Speedup
    }

    /// A table of the paper.
    fn run_paper(&self, table: PaperTable, format: CompareFormat) -> Result<Ending, Failure> {
        use_threads(self.threads)?;
        let ticker = Ticker::new(self.quiet, "planning");
        let control = control(self.time_limit)?.with_listener(ticker.listener());
        let text = match table {
            PaperTable::Volumes => {
                let lines = paper::lines(&control, self.seed, &ticker)?;
                match format {
                    CompareFormat::Csv => volumes::to_csv(&lines),
                    CompareFormat::Json => format!("{:#}\n", volumes::to_json(&lines)),
                    CompareFormat::Text | CompareFormat::Svg => volumes::to_text(&lines),
                }
            }
            PaperTable::Averages => {
                let measured = paper::averages(&control, self.seed, &ticker)?;
                match format {
                    CompareFormat::Csv => averages::to_csv(&measured),
                    CompareFormat::Json => format!("{:#}\n", averages::to_json(&measured)),
                    CompareFormat::Text | CompareFormat::Svg => averages::to_text(&measured),
                }
            }
        };
        ticker.finish();
        output::deliver(&self.output, &text)?;
        if control.stop().is_none() {
            return Ok(Ending::Success);
        }
        note("stopped before everything was planned: what is missing is `-`, in CSV an empty field");
        Ok(Ending::Stopped)
    }

    /// The planners asked for.
    fn names(&self) -> Result<Vec<String>, Failure> {
        let names = match self.planners.is_empty() {
            true => {
                let names = planners().iter().map(|planner| planner.name());
                names.filter(|name| !ONLY_NAMED.contains(name)).map(str::to_owned).collect()
            }
            false => self.planners.clone(),
        };
        for name in names.iter().chain(&self.baseline) {
            named(name)?;
        }
        Ok(names)
    }

    /// The machines asked for.
    fn places(&self) -> Result<Vec<Place>, Failure> {
        if !self.sweep.is_empty() {
            return Sweep::parse(&self.sweep)?.places(self.seed);
        }
        let words = self.topology.words();
        let failures = words.iter().position(|word| word.starts_with("--fail")).unwrap_or(words.len());
        let failures = words[failures..].join(" ");
        Ok(vec![Place { topology: self.topology.topology()?, words, failures }])
    }

    fn write(&self, comparison: &Comparison, format: CompareFormat) -> Result<(), Failure> {
        let text = match format {
            CompareFormat::Text => comparison.to_text(),
            CompareFormat::Csv => comparison.to_csv(),
            CompareFormat::Json => format!("{:#}\n", comparison.to_json()),
            CompareFormat::Svg => {
                let plot = if self.plot == PlotArgument::Time { Plot::Time } else { Plot::Speedup };
                comparison.to_svg(plot).map_err(Failure::usage)?
            }
        };
        output::deliver(&self.output, &text)
    }

    /// The command line that plans a schedule again.
    fn command_of(&self, machine: &[String], goal: &Goal<'_>) -> String {
        let mut words = vec!["synth".to_owned()];
        words.extend_from_slice(machine);
        words.extend(self.collective.words());
        words.extend(goal_words(goal));
        typed_again(words)
    }
}
