//! `synth` without a subcommand: plan, verify, write, summarize.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use collsynth::collective::Collective;
use collsynth::format::json;
use collsynth::plan::{
    Account, CompactPlan, Control, Goal, Plan, PlanError, Smt, StopReason, compact, has_compact_plan,
};
use collsynth::problem::Problem;
use collsynth::report::failure::Cost;
use collsynth::report::quality::Quality;
use collsynth::report::summary::Summary;
use collsynth::report::verdict;
use collsynth::schedule::{CompactSchedule, Origin, Solution, Timetable};
use collsynth::topology::Topology;
use collsynth::verify::{Observed, Options, Report, Verified};
use collsynth::{PlannedSchedule, Request, planning_time};

use super::collective_options::CollectiveOptions;
use super::plan_options::{PlanOptions, use_threads};
use super::progress::{Ticker, control};
use super::smt_options::SmtOptions;
use super::topology_options::TopologyOptions;
use super::{Ending, Failure, Format, form, output, proof, size};

/// Plan a collective.
#[derive(Args)]
pub struct PlanCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    #[command(flatten)]
    options: PlanOptions,
    #[command(flatten)]
    smt: SmtOptions,
    /// Write the schedule to this file (.gz: compressed) instead of standard output; written only when complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// How the schedule is written: every move, or a pattern that is translated over the torus, with exceptions (see
    /// `synth expand`) [default: compact from 512 ranks on, where it is shorter]
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Output")]
    form: Option<FileForm>,
    /// The form of the summary on standard error
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    format: Format,
    /// No summary and no progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

/// How a file states a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FileForm {
    /// A pattern and exceptions
    Compact,
    /// Every move
    Explicit,
}

/// From this number of ranks on, schedules are planned and written in the compact form where it applies.
const COMPACT_RANKS: usize = 512;

impl PlanCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        self.options.check(&self.smt)?;
        let (topology, notes) = self.topology.topology_and_notes()?;
        // With JSON, standard error has one object.
        if !self.quiet && self.format == Format::Text {
            notes.iter().for_each(|line| output::note(&format!("note: {line}")));
        }
        size::check_ranks(&topology)?;
        let kind = self.collective.kind(&self.topology, &topology)?;
        let parts = self.options.least_parts();
        let fits = size::check_chunks(&topology, &kind, parts);
        let problem = Problem::new(topology, Collective { kind, parts });
        let is_compact = |problem: &Problem| self.may_be_compact(problem) && has_compact_plan(problem);
        if !problem.as_ref().is_ok_and(is_compact) {
            fits?;
        }
        let problem = problem?;
        use_threads(self.options.threads)?;
        let ticker = Ticker::new(self.quiet, "planning");
        let limit = self.options.time_limit.map(|limit| planning_time(&problem, limit));
        let control = control(limit)?.with_listener(ticker.listener()).with_incumbents(ticker.incumbents());
        let smt = self.smt.planner();
        let goal = self.options.goal(&smt)?;
        let started = Instant::now();
        let compact = match self.may_be_compact(&problem) {
            true => compact(problem.machine(), &problem.collective().kind, &goal, &control)
                .map_err(|error| Failure::of_plan(&error, problem.machine()))?,
            false => None,
        };
        let form = Written { command: self, started, form: self.form_for(problem.machine()) };
        match compact {
            Some(plan) => form.compact(plan, self.origin(CompactPlan::PLANNER, &goal), ticker),
            None => {
                let plan = self.plan(&problem, &goal, &smt, control)?;
                let origin = self.origin(plan.planner, &goal);
                form.explicit(plan, origin, ticker)
            }
        }
    }

    /// Is this for the planner of whole pods? It plans nothing but an all-to-all, or without failures.
    fn may_be_compact(&self, problem: &Problem) -> bool {
        let is_free = self.options.is_any_planner() && self.options.price().is_none() && self.smt.proof.is_none();
        problem.machine().rank_count() >= COMPACT_RANKS && is_free
    }

    fn form_for(&self, topology: &Topology) -> FileForm {
        self.form.unwrap_or(match topology.rank_count() {
            ranks if ranks >= COMPACT_RANKS => FileForm::Compact,
            _ => FileForm::Explicit,
        })
    }

    fn origin(&self, planner: &str, goal: &Goal<'_>) -> Origin {
        output::origin(Some(planner), Some(self.command(goal)), Some(self.options.seed))
    }

    /// Plans the problem, in the parts asked for, or in those it chooses.
    fn plan(&self, problem: &Problem, goal: &Goal<'_>, smt: &Smt, control: Control) -> Result<Plan, Failure> {
        let (topology, kind) = (problem.machine(), problem.collective().kind.clone());
        let planned = Request::new(topology, kind).goal(*goal).control(control.clone()).run();
        match (&planned, &self.smt.proof) {
            (Err(PlanError::Refuted { .. }), Some(path)) => proof::write(problem, goal, smt, &control, path)?,
            (Err(_), Some(_)) => output::note("no proof is written: none was needed, or found"),
            (Ok(_), Some(_)) => output::note("no proof is written: there is a schedule"),
            (_, None) => {}
        }
        planned.map(PlannedSchedule::into_inner).map_err(|error| Failure::of_plan(&error, topology))
    }

    /// The command line that gives the same schedule, without the options of its output.
    fn command(&self, goal: &Goal<'_>) -> String {
        let mut words = vec!["synth".to_owned()];
        words.extend(self.topology.words());
        words.extend(self.collective.words());
        words.extend(self.options.words(goal, &self.smt));
        words.join(" ")
    }
}

/// Plans become files: judged, written, summed up.
struct Written<'a> {
    command: &'a PlanCommand,
    started: Instant,
    form: FileForm,
}

/// What a summary says of planning.
struct Planned<'a> {
    planner: &'a str,
    stopped: StopReason,
    account: &'a Account,
    planning: Duration,
    verifying: Duration,
}

impl Written<'_> {
    fn explicit(&self, plan: Plan, origin: Origin, ticker: Ticker) -> Result<Ending, Failure> {
        let (planner, stopped, account) = (plan.planner, plan.stopped, plan.account.clone());
        let planning = self.started.elapsed();
        ticker.say("verifying");
        let started = Instant::now();
        let verified = verified(plan, Some(origin))?;
        let found = match self.form {
            FileForm::Compact => CompactSchedule::find(&verified.problem, &verified.schedule),
            FileForm::Explicit => None,
        };
        let explicit_moves = verified.schedule.move_count();
        let worth_it =
            |found: &CompactSchedule| self.command.form.is_some() || 2 * found.stated_moves() < explicit_moves;
        let planned = |verifying| Planned { planner, stopped, account: &account, planning, verifying };
        match found.filter(worth_it) {
            Some(schedule) => {
                let Solution { problem, bounds, origin, .. } = verified.into_inner();
                let compact = compact_verified(Solution { problem, schedule, bounds, origin }, planner)?;
                self.deliver(&compact, json::compact_to_string(&compact), planned(started.elapsed()), None, ticker)
            }
            None if self.command.form == Some(FileForm::Compact) => Err(Failure::usage(form::NO_PATTERN)),
            None => {
                let observed = verified.report().observed.clone();
                let text = json::solution_to_string(&verified);
                self.deliver(&verified, text, planned(started.elapsed()), observed.as_ref(), ticker)
            }
        }
    }

    fn compact(&self, plan: CompactPlan, origin: Origin, ticker: Ticker) -> Result<Ending, Failure> {
        let (CompactPlan { solution, stopped }, planner) = (plan, CompactPlan::PLANNER);
        let planning = self.started.elapsed();
        ticker.say("verifying");
        let started = Instant::now();
        let compact = compact_verified(Solution { origin: Some(origin), ..solution }, planner)?;
        let text = match self.form {
            FileForm::Compact => json::compact_to_string(&compact),
            FileForm::Explicit => {
                let Solution { problem, schedule, bounds, origin } = (*compact).clone();
                let schedule = schedule.expand();
                json::solution_to_string(&Solution { problem, schedule, bounds, origin })
            }
        };
        let verifying = started.elapsed();
        let planned = Planned { planner, stopped, account: &Account::None, planning, verifying };
        self.deliver(&compact, text, planned, None, ticker)
    }

    fn deliver<S: Timetable>(
        &self,
        solution: &Solution<S>,
        written: String,
        planned: Planned<'_>,
        observed: Option<&Observed>,
        mut ticker: Ticker,
    ) -> Result<Ending, Failure> {
        let Self { command, .. } = self;
        ticker.say("writing");
        match command.output.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => output::deliver(path, &written)?,
            None => {
                // The line would stand in the text.
                ticker.finish();
                output::deliver_file(command.output.as_deref(), &written, "schedule")?;
                ticker = Ticker::new(command.quiet, "summing up");
            }
        }
        drop(written);
        let Planned { planner, stopped, account, planning, verifying } = planned;
        if !command.quiet {
            ticker.say("summing up");
            let (price, cost) = (command.options.price(), Cost::new(solution));
            let summary = Summary { solution, observed, planner, stopped, account, planning, verifying, price, cost };
            ticker.finish();
            command.format.note(&summary);
            if command.format == Format::Text {
                output::suggest(command.output.as_deref());
            }
        }
        let quality = Quality::new(&solution.problem, &solution.schedule, &solution.bounds);
        let steps_settled = quality.steps.is_certified() || command.options.steps.is_some();
        let proven = quality.volume.is_certified() && steps_settled;
        Ok(if stopped == StopReason::Finished || proven { Ending::Success } else { Ending::Stopped })
    }
}

/// Has a planned schedule judged.
pub fn verified(plan: Plan, origin: Option<Origin>) -> Result<Verified<Solution>, Failure> {
    let Plan { problem, schedule, bounds, planner, .. } = plan;
    let solution = Solution { problem, schedule, bounds, origin };
    Verified::<Solution>::new(solution, &Options::default()).map_err(|rejected| wrong(planner, &rejected.report))
}

/// The same of a schedule in the compact form.
fn compact_verified(
    solution: Solution<CompactSchedule>,
    planner: &str,
) -> Result<Verified<Solution<CompactSchedule>>, Failure> {
    let verified = Verified::compact(solution, &Options::default());
    verified.map_err(|rejected| wrong(planner, &rejected.report))
}

/// A planner's bug ends here, and nothing is written.
fn wrong(planner: &str, report: &Report) -> Failure {
    let findings = verdict::findings(report, |_| None);
    let message =
        format!("internal error: the schedule of planner `{planner}` is wrong; nothing is written\n{findings}");
    Failure::new(Ending::Refuted, message)
        .hint("please report this with the command line; another --planner or --seed may work meanwhile")
}
