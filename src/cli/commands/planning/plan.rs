//! `synth` without a subcommand: plan, verify, write, summarize.

use std::iter::once;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use collsynth::bound::Limit;
use collsynth::claim::Quality;
use collsynth::collective::{Collective, Demand, Kind};
use collsynth::cost::Price;
use collsynth::form::{Form, FormError};
use collsynth::format::json;
use collsynth::plan::{Control, Goal, JobGoal, Plan, PlanError, Smt, StopReason, likely_steps};
use collsynth::problem::Problem;
use collsynth::report::failure::Cost;
use collsynth::report::summary::Summary;
use collsynth::report::verdict;
use collsynth::schedule::{AnySolution, Origin, Solution, Stated};
use collsynth::topology::Topology;
use collsynth::verify::{Options, Report, Verified};
use collsynth::{Judged, PlannedSchedule, Request};

use super::job::JobFile;
use super::proof;
use crate::cli::arguments::collective::CollectiveOptions;
use crate::cli::arguments::plan::{PlanOptions, use_threads};
use crate::cli::arguments::size;
use crate::cli::arguments::smt::SmtOptions;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::{self, control};
use crate::cli::io::console::note;
use crate::cli::io::output;
use crate::cli::io::output::Format;
use crate::cli::io::progress::Ticker;
use crate::cli::options::Given;
use crate::cli::options::suggest::Spelled;
use crate::cli::options::words::typed_again;

/// More steps than this many times the fewest are worth a word.
const MANY_STEPS: u64 = 4;
/// The size of messages in that word.
const USUAL_BYTES: u64 = 1 << 20;

/// Plan a collective.
#[derive(Args)]
pub struct PlanCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// Several collectives at once, planned together: a JSON list of collectives, each with its `groups` (or `blocks`,
    /// `relays`), `root` and `bytes` (or `parts`)
    #[arg(long, value_name = "FILE", help_heading = "Collective")]
    job: Option<PathBuf>,
    #[command(flatten)]
    pub options: PlanOptions,
    #[command(flatten)]
    pub smt: SmtOptions,
    /// Write the schedule to this file (.gz: compressed) instead of standard output; written only when complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// How the schedule is written: every move, or a pattern that is translated over the torus, with exceptions (see
    /// `synth convert`) [default: compact from 512 ranks on, where it is shorter]
    #[arg(long, value_parser = Spelled::<Form>::default(), value_name = "FORM", help_heading = "Output")]
    pub form: Option<Form>,
    /// The form of the summary on standard error
    #[arg(long, value_parser = Spelled::<Format>::default(), default_value = "text", help_heading = "Output")]
    format: Format,
    /// No summary and no progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ValueEnum for Form {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Compact, Self::Explicit]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Compact => PossibleValue::new("compact").help("A pattern and exceptions"),
            Self::Explicit => PossibleValue::new("explicit").help("Every move"),
        })
    }
}

impl PlanCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let (topology, notes) = self.topology.topology_and_notes()?;
        // With JSON, standard error has one object.
        if !self.quiet && self.format == Format::Text {
            notes.iter().for_each(|line| note(&format!("note: {line}")));
        }
        size::check_ranks(&topology)?;
        if let Some(file) = &self.job {
            return self.run_job(file, &topology, given);
        }
        let kind = self.collective.kind(&self.topology, &topology, given)?;
        let smt = self.smt.planner();
        let goal = self.options.goal(&smt)?;
        let (request, problem) = self.request(&topology, kind, goal)?;
        use_threads(self.options.threads)?;
        let ticker = Ticker::new(self.quiet, "planning");
        let control = control(self.options.time_limit)?;
        let control = control.with_listener(ticker.listener()).with_incumbents(ticker.incumbents(goal.price));
        let (started, limit) = (Instant::now(), control.limit());
        let request = request.control(control.clone());
        let planned = request.run();
        clock::found();
        self.prove(&planned, &problem, &goal, &smt, &control)?;
        let plan = planned.map_err(|error| Failure::of_plan(&error, &topology))?;
        let line = self.line(&self.topology.words(), &goal);
        Written { command: self, request: &request, started, limit }.write(plan, line, ticker)
    }

    /// The collective on a machine, with a demand that takes the place of a file.
    pub fn kind(&self, topology: &Topology, given: &Given, demand: Option<Demand>) -> Result<Kind, Failure> {
        self.collective.kind_with(&self.topology, topology, given, demand)
    }

    /// The request, if what is asked for is not too large; and the problem in the parts that are stated.
    pub fn request<'a>(
        &self,
        topology: &'a Topology,
        kind: Kind,
        goal: Goal<'a>,
    ) -> Result<(Request<'a>, Problem), Failure> {
        let parts = self.options.least_parts();
        let fits = size::check_chunks(topology, &kind, parts);
        let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts });
        let request = Request::new(topology, kind).goal(goal);
        if !request.is_compact() {
            fits?;
        }
        Ok((request, problem?))
    }

    /// The command line that gives the same schedule, without the options of its output.
    pub fn line(&self, machine: &[String], goal: &Goal<'_>) -> String {
        let stated = [machine.to_vec(), self.collective.words(), self.options.words(goal, &self.smt)];
        typed_again(once("synth".to_owned()).chain(stated.into_iter().flatten()))
    }

    /// The same, where planners that are wrong are left out, unless one is stated.
    fn judged(&self, request: &Request<'_>, plan: PlannedSchedule, line: &str) -> Result<Judged, Failure> {
        let first = plan.planner;
        let origin = |planner| output::origin(Some(planner), Some(line.to_owned()), Some(self.options.seed));
        let leave_out = |planner: &'static str, report: &Report| {
            let findings = verdict::findings(report, |_| None);
            note(&format!(
                "warning: the schedule of planner `{planner}` is wrong, and left out; please report this with the \
                 command line\n{}",
                findings.trim_end()
            ));
        };
        let judged = request.judged(plan, self.form, origin, leave_out);
        judged.map_err(|error| match error {
            FormError::Rejected(rejected) => wrong(first, &rejected.report),
            error => Failure::usage(error),
        })
    }

    /// Has a plan judged, in the form that is asked for.
    pub fn verified(&self, plan: PlannedSchedule, line: Option<String>) -> Result<Verified<AnySolution>, Failure> {
        let planner = plan.planner;
        let origin = output::origin(Some(planner), line, Some(self.options.seed));
        plan.verify_as(self.form, origin).map_err(|error| match error {
            FormError::Rejected(rejected) => wrong(planner, &rejected.report),
            error => Failure::usage(error),
        })
    }

    fn run_job(&self, file: &Path, topology: &Topology, given: &Given) -> Result<Ending, Failure> {
        use_threads(self.options.threads)?;
        let ticker = Ticker::new(self.quiet, "planning");
        let control = control(self.options.time_limit)?.with_listener(ticker.listener());
        let PlanOptions { steps, max_steps, seed, .. } = self.options;
        let mut words = vec!["synth".to_owned()];
        words.extend(self.topology.words());
        words.extend(["--job".to_owned(), file.display().to_string()]);
        let goal = Goal { parts: self.options.parts_or_enough(), steps, max_steps, seed, ..Goal::default() };
        words.extend(self.options.words(&goal, &self.smt));
        let (parts, goal) = (self.options.parts_or_enough(), JobGoal { steps, max_steps, seed, ..JobGoal::default() });
        let (output, format, quiet) = (self.output.as_deref(), self.format, self.quiet);
        JobFile { file, topology, parts, goal, output, format, quiet, command: typed_again(words) }
            .run(control, ticker, given)
    }

    /// Writes the proof that there is no such schedule, where one was asked for and needed.
    fn prove(
        &self,
        planned: &Result<PlannedSchedule, PlanError>,
        problem: &Problem,
        goal: &Goal<'_>,
        smt: &Smt,
        control: &Control,
    ) -> Result<(), Failure> {
        match (planned, &self.smt.proof) {
            (Err(PlanError::Refuted { .. }), Some(path)) => proof::write(problem, goal, smt, control, path)?,
            (Err(_), Some(_)) => note("no proof is written: none was needed, or found"),
            (Ok(_), Some(_)) => note("no proof is written: there is a schedule"),
            (_, None) => {}
        }
        Ok(())
    }
}

/// Plans become files: judged, written, summed up.
struct Written<'a> {
    command: &'a PlanCommand,
    request: &'a Request<'a>,
    started: Instant,
    /// Of what the summary adds.
    limit: Limit,
}

impl Written<'_> {
    fn write(&self, plan: PlannedSchedule, line: String, mut ticker: Ticker) -> Result<Ending, Failure> {
        let Self { command, .. } = self;
        let planning = self.started.elapsed();
        ticker.say("verifying");
        let started = Instant::now();
        let Judged { solution, planner, stopped, account } = command.judged(self.request, plan, &line)?;
        let verifying = started.elapsed();
        ticker.say("writing");
        match command.output.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => self.deliver(&solution, Some(path))?,
            None => {
                // The line would stand in the text.
                ticker.finish();
                self.deliver(&solution, command.output.as_deref())?;
                ticker = Ticker::new(command.quiet, "summing up");
            }
        }
        if !command.quiet {
            ticker.say("summing up");
            let (price, cost) = (command.options.price(), Cost::new(&solution, &self.limit));
            let observed = solution.report().observed.as_ref();
            let (solution, account) = (&*solution, &account);
            let summary = Summary {
                solution,
                observed,
                improved: None,
                planner,
                stopped,
                account,
                planning,
                verifying,
                price,
                cost,
            };
            ticker.finish();
            command.format.note(&summary);
            if command.format == Format::Text {
                self.weigh_steps(solution);
                output::suggest(command.output.as_deref());
            }
        }
        let quality = Quality::new(&solution.problem, &solution.schedule, &solution.bounds);
        let steps_settled = quality.steps.is_certified() || command.options.steps.is_some();
        let proven = quality.volume.is_certified() && steps_settled;
        Ok(if stopped == StopReason::Finished || proven { Ending::Success } else { Ending::Stopped })
    }

    /// Says of a plan in many steps what a price of steps would give.
    fn weigh_steps(&self, solution: &AnySolution) {
        let AnySolution { problem, schedule, bounds, .. } = solution;
        let PlanOptions { steps, max_steps, .. } = &self.command.options;
        let free = steps.or(*max_steps).is_none()
            && self.command.options.price().is_none()
            && !self.command.options.names_planner();
        let taken = schedule.step_count() as u64;
        let kind = &problem.collective().kind;
        if !free || !kind.can_be_cut() || taken <= MANY_STEPS * u64::from(bounds.least_steps()) {
            return;
        }
        let unit = kind.unit().name();
        let likely = problem.with_parts(1).ok().and_then(|whole| likely_steps(&whole, bounds, Price::of(USUAL_BYTES)));
        let size = likely.map_or_else(
            || format!("`--message-bytes 1MiB` plans for the least time of {unit}s of that size"),
            |likely| format!("`--message-bytes 1MiB` plans for {unit}s of that size, in about {likely} steps"),
        );
        let words = [self.command.topology.words(), self.command.collective.words()].concat().join(" ");
        note(&format!(
            "hint: {taken} steps pay off for very long {unit}s only: {size}; `synth pareto {words}` shows the trade-off"
        ));
    }

    fn deliver(&self, solution: &AnySolution, path: Option<&Path>) -> Result<(), Failure> {
        match self.command.form {
            // Of a pattern, a transfer at a time.
            Some(Form::Explicit) => {
                output::deliver_file_streamed(path, "schedule", |out| json::write_expanded(out, solution))
            }
            Some(Form::Compact) | None => output::deliver_file(path, &json::solution_to_string(solution), "schedule"),
        }
    }
}

/// Has a planned schedule judged.
pub fn verified<S: Stated>(plan: Plan<S>, origin: Option<Origin>) -> Result<Verified<Solution<S>>, Failure> {
    let planner = plan.planner;
    let solution = Solution { origin, ..plan.into() };
    Verified::new(solution, &Options::default()).map_err(|rejected| wrong(planner, &rejected.report))
}

/// A planner's bug ends here, and nothing is written.
fn wrong(planner: &str, report: &Report) -> Failure {
    let findings = verdict::findings(report, |_| None);
    let message =
        format!("internal error: the schedule of planner `{planner}` is wrong; nothing is written\n{findings}");
    Failure::new(Ending::Refuted, message)
        .hint("please report this with the command line; another --planner or --seed may work meanwhile")
}
