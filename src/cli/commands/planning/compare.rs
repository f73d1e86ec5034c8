//! `synth compare`: planners side by side.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use collsynth::certificate::{Bounds, Rational};
use collsynth::collective::{Collective, Kind};
use collsynth::cost::Rates;
use collsynth::finishing_time;
use collsynth::plan::{Butterfly, Control, Goal, PlanError, Planner, StopReason, alternatives, planners};
use collsynth::problem::Problem;
use collsynth::report::bounds::sharpen;
use collsynth::report::comparison::{Baseline, Charged, Comparison, Entry, Machine, Plot, Refusal};
use collsynth::report::figures::count;
use collsynth::report::machine::describe;
use collsynth::report::paper;
use collsynth::topology::{Topology, TopologySpec};

use super::compare_files::Own;
use super::pareto::PartsList;
use super::sweep::{Place, Sweep};
use super::{compare_paper, plan};
use crate::cli::arguments::collective::CollectiveOptions;
use crate::cli::arguments::plan::{goal_words, named, single_names, use_threads};
use crate::cli::arguments::rate::RateOptions;
use crate::cli::arguments::size;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::control;
use crate::cli::io::progress::Ticker;
use crate::cli::io::{clock, output, progress};
use crate::cli::options::Given;
use crate::cli::options::quantity::parse_duration;
use crate::cli::options::suggest::Spelled;

/// Planners that are compared only by name: their search may not end.
const ONLY_NAMED: [&str; 1] = ["smt"];

/// Compare planners: steps, volume, chunks held, and times by message size
///
/// Every schedule is verified before it is shown. Each planner is asked for several numbers of parts, unless --parts
/// states them; of its schedules, those are shown that no other equals or beats in both steps and volume. Planners
/// without a schedule say why. Exit codes are as for planning.
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
    /// The paper's table anew: all-to-all around one failed cable on five tori, planned and verified, beside the closed
    /// forms of Qin et al., MICRO 2025
    #[arg(long, help_heading = "Machine")]
    paper: bool,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// The planners to compare (ring,negotiated) [default: all but smt, which may never finish]; `synth planners` lists
    /// them
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help_heading = "Plan", hide_possible_values = true,
        value_parser = single_names())]
    planners: Vec<String>,
    /// The planner that speed-ups are over [default: the slowest for the largest messages]
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
    #[arg(long, value_name = "TIME", help_heading = "Plan", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Drives random choices: the same seed gives the same schedules
    #[arg(long, value_name = "N", help_heading = "Plan", default_value_t = 0)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlotArgument {
    /// Times
    Time,
    /// Speed-ups over the baseline
    Speedup,
}

/// Planning for a comparison: the state shared by all machines and planners.
struct Run<'a> {
    command: &'a CompareCommand,
    given: &'a Given,
    /// Files to compare with.
    own: Option<&'a Own>,
    ticker: Ticker,
    /// Until Ctrl-C; bounds are found once for all planners.
    control: Control,
    deadline: Option<Instant>,
    /// Planners still to ask, over all machines.
    left: u32,
    /// Volume and steps of the best schedule so far on this machine.
    best: Option<(Rational, usize)>,
    stopped: StopReason,
}

/// A planner's answer: verified schedules with their bounds, or why there is none, and whether the planner applies.
struct Answer {
    found: Result<Vec<(Entry, Bounds)>, (String, bool)>,
    stopped: StopReason,
    /// The time it planned.
    time: Duration,
}

impl CompareCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let format = self.format.or(given.form("format")).unwrap_or(CompareFormat::Text);
        if self.paper {
            return self.run_paper(format);
        }
        let names = self.names()?;
        let own = Own::read(&self.files, &self.topology, given)?;
        let places = own.as_ref().map_or_else(|| self.places(), |own| Ok(vec![own.place()]))?;
        if format == CompareFormat::Svg && places.len() != 1 {
            return Err(Failure::usage("a plot shows one machine").hint("choose another --format for a sweep"));
        }
        use_threads(self.threads)?;
        let runs = names.len() + usize::from(self.baseline.is_some());
        let ticker = Ticker::new(self.quiet, "comparing");
        let mut run = Run {
            command: self,
            given,
            own: own.as_ref(),
            control: control(None)?.with_listener(ticker.listener()),
            ticker,
            deadline: clock::deadline(self.time_limit),
            left: (runs * places.len()) as u32,
            best: None,
            stopped: StopReason::Finished,
        };
        let rates = self.rates.rates(&places[0].topology)?;
        let machines = places.iter().map(|place| run.machine(place, &names)).collect::<Result<Vec<Machine>, _>>()?;
        let stopped = run.stopped;
        run.ticker.finish();
        let comparison = Comparison { machines, rates, sizes: self.rates.sizes(), stopped };
        self.write(&comparison, format)?;
        let found = comparison.machines.iter().all(|machine| !machine.entries.is_empty());
        Ok(match (stopped, found) {
            (StopReason::Finished, true) => Ending::Success,
            (StopReason::Finished, false) => Ending::Usage,
            _ => Ending::Stopped,
        })
    }

    /// The table of the paper.
    fn run_paper(&self, format: CompareFormat) -> Result<Ending, Failure> {
        use_threads(self.threads)?;
        let ticker = Ticker::new(self.quiet, "planning");
        let control = control(self.time_limit)?.with_listener(ticker.listener());
        let lines = compare_paper::lines(&control, self.seed, &ticker)?;
        ticker.finish();
        let text = match format {
            CompareFormat::Csv => paper::to_csv(&lines),
            CompareFormat::Json => format!("{:#}\n", paper::to_json(&lines)),
            CompareFormat::Text | CompareFormat::Svg => paper::to_text(&lines),
        };
        output::deliver(&self.output, &text)?;
        Ok(if control.stop().is_some() { Ending::Stopped } else { Ending::Success })
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
}

impl Run<'_> {
    /// Asks all planners for schedules on one machine.
    fn machine(&mut self, place: &Place, names: &[String]) -> Result<Machine, Failure> {
        let topology = &place.topology;
        self.best = None;
        size::check_ranks(topology)?;
        let kind = match self.own {
            Some(own) => own.kind().clone(),
            None => self.command.collective.kind(&self.command.topology, topology, self.given)?,
        };
        let most_parts = self.command.parts.numbers().iter().flat_map(|parts| parts.iter().copied()).max();
        size::check_chunks(topology, &kind, most_parts.unwrap_or(1))?;
        let rates = self.command.rates.rates(topology)?;
        let problem = Problem::new(topology.clone(), Collective::new(kind.clone()))?;
        let whole = self.deadline.map_or(self.control.clone(), |at| self.control.clone().with_deadline(at));
        let bounds = whole.bounds(&problem).map_err(|error| Failure::of_plan(&error, topology))?;
        let failures = place.failures.clone();
        let mut machine =
            Machine { problem, failures, bounds, entries: vec![], refusals: vec![], charged: vec![], baseline: None };
        if let Some(own) = self.own {
            own.add_to(&mut machine, &rates);
        }
        let ask = |this: &mut Self, name: &String| this.ask(name, topology, &kind, &rates, &place.words);
        let mut answers = names.iter().map(|name| ask(self, name)).collect::<Result<Vec<Answer>, Failure>>()?;
        // The time that some planners left goes to those that were cut short.
        let cut: Vec<usize> = (0..names.len()).filter(|&at| answers[at].stopped != StopReason::Finished).collect();
        let later = std::mem::replace(&mut self.left, cut.len() as u32);
        for at in cut {
            if self.share().is_some_and(|share| share > 2 * answers[at].time) {
                answers[at] = ask(self, &names[at])?;
            }
        }
        self.left = later;
        for (name, answer) in names.iter().zip(answers) {
            if answer.stopped != StopReason::Finished {
                self.stopped = answer.stopped;
            }
            match answer.found {
                Ok(found) => {
                    for (entry, bounds) in found {
                        sharpen(&mut machine.bounds, bounds.volume.as_ref());
                        machine.entries.push(entry);
                    }
                }
                Err((reason, applies)) => {
                    let butterfly = Butterfly::ALL.into_iter().find(|butterfly| butterfly.name() == name);
                    if let Some(charge) = butterfly.and_then(|butterfly| butterfly.charge(&machine.problem).ok()) {
                        let planner = named(name)?.name();
                        machine.charged.push(Charged::new(planner, charge.rounds, charge.load, &rates));
                    }
                    let brief = self.command.planners.is_empty() && !applies;
                    machine.refusals.push(Refusal { planner: name.clone(), reason, brief });
                }
            }
        }
        if let Some(name) = &self.command.baseline {
            machine.baseline = Some(self.baseline(name, &machine, &rates, &place.words)?);
        }
        Ok(machine)
    }

    /// The schedules that speed-ups are over.
    fn baseline(
        &mut self,
        name: &str,
        machine: &Machine,
        rates: &Rates,
        words: &[String],
    ) -> Result<Baseline, Failure> {
        let topology = machine.problem.topology();
        let sound = self.command.sound_baseline;
        if !sound && machine.entries.iter().any(|entry| entry.planner == name) {
            self.left = self.left.saturating_sub(1);
            let entries = machine.entries.iter().filter(|entry| entry.planner == name).cloned().collect();
            return Ok(Baseline { name: name.to_owned(), entries });
        }
        let whole = match sound {
            true => {
                let spec = TopologySpec::new(topology.spec().shape.clone());
                &Topology::new(spec).map_err(Failure::usage)?
            }
            false => topology,
        };
        let kind = &machine.problem.collective().kind;
        match self.ask(name, whole, kind, rates, words)?.found {
            Ok(found) => Ok(Baseline {
                name: if sound { format!("{name} without failures") } else { name.to_owned() },
                entries: found.into_iter().map(|(entry, _)| entry).collect(),
            }),
            Err((reason, _)) => Err(Failure::usage(format!("the baseline `{name}` gives no schedule: {reason}"))
                .hint("choose another --baseline, or add --sound-baseline")),
        }
    }

    /// The answer of a planner.
    fn ask(
        &mut self,
        name: &str,
        topology: &Topology,
        kind: &Kind,
        rates: &Rates,
        words: &[String],
    ) -> Result<Answer, Failure> {
        let (control, started) = (self.control(), Instant::now());
        self.ticker.say(format!("{}, {} to go", describe(topology), count(self.left as usize, "planner")));
        self.left = self.left.saturating_sub(1);
        let (parts, prices) = (self.command.parts.numbers(), self.command.rates.prices(rates));
        let planned = match control.stop() {
            Some(stopped @ StopReason::Interrupted) => Err(PlanError::Stopped { stopped }),
            _ => alternatives(named(name)?, topology, kind, parts, &prices, self.command.seed, &control),
        };
        match planned {
            Ok((found, stopped)) => {
                let time = started.elapsed();
                let entry = |(goal, plan): (Goal<'_>, collsynth::plan::Plan)| {
                    let (planner, account) = (plan.planner, plan.account.clone());
                    let verified = plan::verified(plan, None)?;
                    let command = match self.own {
                        Some(own) => own.command(words, (planner, verified.problem.parts()), goal_words(&goal)),
                        None => self.command.command_of(words, &goal),
                    };
                    let entry = Entry::new(&verified, planner, account.phases(), rates, command);
                    Ok((entry, verified.bounds.clone()))
                };
                let found = found.into_iter().map(entry).collect::<Result<Vec<_>, Failure>>()?;
                self.note_best(&found);
                Ok(Answer { found: Ok(found), stopped, time })
            }
            Err(error) => {
                let (reason, applies) = match &error {
                    PlanError::NotApplicable { reason, .. } => (reason.clone(), false),
                    _ => (error.to_string(), true),
                };
                let stopped = if let PlanError::Stopped { stopped } = error { stopped } else { StopReason::Finished };
                Ok(Answer { found: Err((reason, applies)), stopped, time: started.elapsed() })
            }
        }
    }

    /// Shows the least volume so far.
    fn note_best(&mut self, found: &[(Entry, Bounds)]) {
        for (entry, _) in found {
            let figures = (entry.volume, entry.steps);
            if self.best.is_none_or(|best| figures < best) {
                self.best = Some(figures);
                self.ticker.best(format!("{} by {}", progress::figures(entry.steps, entry.volume), entry.planner));
            }
        }
    }

    /// When to stop the next planner.
    fn control(&self) -> Control {
        let (control, now) = (self.control.clone(), Instant::now());
        match self.share() {
            Some(share) => control.with_deadline(now + share).leaving(now, finishing_time),
            None => control,
        }
    }

    /// The time left, divided among the planners still to ask.
    fn share(&self) -> Option<Duration> {
        Some(self.deadline?.saturating_duration_since(Instant::now()) / self.left.max(1))
    }
}

impl CompareCommand {
    /// The command line that plans a schedule again.
    fn command_of(&self, machine: &[String], goal: &Goal<'_>) -> String {
        let mut words = vec!["synth".to_owned()];
        words.extend_from_slice(machine);
        words.extend(self.collective.words());
        words.extend(goal_words(goal));
        words.join(" ")
    }
}
