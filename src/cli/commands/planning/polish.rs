//! `synth polish`: from a schedule to a better one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use collsynth::form::{Form, compacted, formed};
use collsynth::format::json;
use collsynth::plan::{Control, Outcome, Plan, PlanError, Planner, SharperBounds, Smt, SmtBackend, StopReason, Task};
use collsynth::problem::Problem;
use collsynth::report::failure::Cost;
use collsynth::report::summary::Summary;
use collsynth::schedule::{Schedule, Solution, Stated};

use crate::cli::arguments::smt::backend;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::control;
use crate::cli::io::output;
use crate::cli::io::output::Format;
use crate::cli::io::progress::Ticker;
use crate::cli::io::reading::Reading;
use crate::cli::options::quantity::parse_duration;
use crate::cli::options::suggest::Spelled;

/// What the planner takes for each move of the schedule that is given, roughly.
const MOVE_BYTES: u64 = 100;

/// Improve a schedule with the SMT planner
///
/// Asks again and again for one step, or one unit of width, less, until that is refuted. The result is verified and
/// written, even if nothing better was found: as a pattern if the file has one and the result too, else with every
/// move. Exit codes are as for planning.
#[derive(Args)]
pub struct PolishCommand {
    /// The schedule file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Who solves the formulas, `cadical` (unless stated) or `z3`, in builds that have it
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = backend())]
    smt_backend: Option<SmtBackend>,
    /// Stop after this time (30s) and keep the best schedule found
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Write the schedule to this file (.gz: compressed) instead of standard output; written only when complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The form of the summary on standard error
    #[arg(long, value_parser = Spelled::<Format>::default(), default_value = "text")]
    format: Format,
    /// No summary and no progress
    #[arg(short, long)]
    quiet: bool,
}

impl PolishCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let ticker = Ticker::new(self.quiet, "polishing");
        let control = control(self.time_limit)?.with_listener(ticker.listener());
        let started = Instant::now();
        let reading = Reading::of(&self.file)?;
        let stated = reading.stated()?;
        let problem = &stated.problem;
        if !problem.collective().kind.has_volume() {
            let why = "a barrier has only steps, and planning takes the fewest: there is nothing to polish";
            return Err(Failure::usage(why).hint(self.beside()));
        }
        self.smt().applies(problem).map_err(|error| self.refused(&error, problem))?;
        let was_explicit = stated.schedule.is_explicit();
        let given = reading.expand(reading.hold(stated, "polished")?, MOVE_BYTES)?;
        let control = control.planning(&given.problem);
        let plan = self.polished(&given, &control)?;
        let figures = |schedule: &Schedule| (schedule.step_count(), schedule.total_width());
        let improved = figures(&plan.schedule) != figures(&given.schedule);
        let planning = started.elapsed();
        let (planner, stopped, account) = (plan.planner, plan.stopped, plan.account.clone());
        let started = Instant::now();
        // What is as it was given is still the work of whoever made it.
        let origin = match improved {
            true => Some(output::origin(Some(planner), None, None)),
            false => given.origin.clone(),
        };
        let verified = super::plan::verified(plan, origin)?;
        let verified = match was_explicit || compacted(&verified.problem, &verified.schedule).is_err() {
            true => verified.into_any(),
            false => formed(verified, Some(Form::Compact)).map_err(Failure::usage)?,
        };
        let verifying = started.elapsed();
        ticker.finish();
        output::deliver_file(self.output.as_deref(), &json::solution_to_string(&verified), "schedule")?;
        if !self.quiet {
            let summary = Summary {
                solution: &verified,
                observed: verified.report().observed.as_ref(),
                improved: Some(improved),
                planner,
                account: &account,
                stopped,
                planning,
                verifying,
                price: None,
                cost: Cost::new(&verified, &control.limit()),
            };
            self.format.note(&summary);
        }
        Ok(if stopped == StopReason::Finished { Ending::Success } else { Ending::Stopped })
    }

    fn smt(&self) -> Smt {
        Smt { backend: self.smt_backend.unwrap_or_default(), ..Smt::new() }
    }

    /// What to do with a schedule that cannot be polished.
    fn beside(&self) -> String {
        format!("`synth compare {}` sets it beside what the planners find", self.file.display())
    }

    fn refused(&self, error: &PlanError, problem: &Problem) -> Failure {
        match error {
            PlanError::NotApplicable { .. } => Failure::usage(error).hint(self.beside()),
            _ => Failure::of_plan(error, problem.topology()),
        }
    }

    fn polished(&self, given: &Solution, control: &Control) -> Result<Plan, Failure> {
        let problem = &given.problem;
        let bounds = control.bounds(problem).map_err(|error| Failure::of_plan(&error, problem.topology()))?;
        let sharper = SharperBounds::new(problem, &bounds, control);
        let smt = self.smt();
        let task = Task { sharper: Some(&sharper), ..Task::new(problem, &bounds) };
        let Outcome { schedule, stopped, account } =
            smt.polish(&task, given.schedule.clone(), control).map_err(|error| self.refused(&error, problem))?;
        let bounds = sharper.known().clone();
        Ok(Plan { problem: problem.clone(), schedule, planner: smt.name(), bounds, stopped, account })
    }
}
