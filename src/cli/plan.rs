//! `synth` without a subcommand: plan, verify, write, summarize.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use collsynth::collective::Collective;
use collsynth::format::json;
use collsynth::plan::{Control, Goal, Plan, PlanError, Smt, StopReason};
use collsynth::problem::Problem;
use collsynth::report::failure::Cost;
use collsynth::report::quality::Quality;
use collsynth::report::summary::Summary;
use collsynth::report::verdict;
use collsynth::schedule::{Origin, Solution};
use collsynth::verify::{Options, Verified};
use collsynth::{PlannedSchedule, Request, planning_time};

use super::collective_options::CollectiveOptions;
use super::plan_options::{PlanOptions, use_threads};
use super::progress::{Ticker, control};
use super::smt_options::SmtOptions;
use super::topology_options::TopologyOptions;
use super::{Ending, Failure, Format, output, proof, size};

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
    /// The form of the summary on standard error
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    format: Format,
    /// No summary and no progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

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
        size::check_chunks(&topology, &kind, parts)?;
        let problem = Problem::new(topology, Collective { kind, parts })?;
        use_threads(self.options.threads)?;
        let mut ticker = Ticker::new(self.quiet, "planning");
        let started = Instant::now();
        let limit = self.options.time_limit.map(|limit| planning_time(&problem, limit));
        let control = control(limit)?.with_listener(ticker.listener()).with_incumbents(ticker.incumbents());
        let smt = self.smt.planner();
        let goal = self.options.goal(&smt)?;
        let plan = self.plan(&problem, &goal, &smt, control)?;
        let planning = started.elapsed();
        ticker.say("verifying");
        let Plan { planner, stopped, .. } = plan;
        let account = plan.account.clone();
        let started = Instant::now();
        let verified = self.verify(plan, &goal)?;
        let verifying = started.elapsed();
        ticker.say("writing");
        let written = json::solution_to_string(&verified);
        match self.output.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => output::deliver(path, &written)?,
            None => {
                // The line would stand in the text.
                ticker.finish();
                output::deliver_file(self.output.as_deref(), &written, "schedule")?;
                ticker = Ticker::new(self.quiet, "summing up");
            }
        }
        let quality = Quality::new(&verified.problem, &verified.schedule, &verified.bounds);
        if !self.quiet {
            ticker.say("summing up");
            let price = self.options.price();
            let observed = verified.report().observed.as_ref();
            let summary = Summary {
                solution: &verified,
                observed,
                planner,
                stopped,
                account: &account,
                planning,
                verifying,
                price,
                cost: Cost::new(&verified),
            };
            ticker.finish();
            self.format.note(&summary);
            if self.format == Format::Text {
                output::suggest(self.output.as_deref());
            }
        }
        let steps_settled = quality.steps.is_certified() || self.options.steps.is_some();
        let proven = quality.volume.is_certified() && steps_settled;
        Ok(if stopped == StopReason::Finished || proven { Ending::Success } else { Ending::Stopped })
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

    /// Has the schedule judged. A planner's bug ends here, and nothing is written.
    fn verify(&self, plan: Plan, goal: &Goal<'_>) -> Result<Verified<Solution>, Failure> {
        let origin = output::origin(Some(plan.planner), Some(self.command(goal)), Some(self.options.seed));
        verified(plan, Some(origin))
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

/// Has a planned schedule judged.
pub fn verified(plan: Plan, origin: Option<Origin>) -> Result<Verified<Solution>, Failure> {
    let Plan { problem, schedule, bounds, planner, .. } = plan;
    let solution = Solution { problem, schedule, bounds, origin };
    Verified::<Solution>::new(solution, &Options::default()).map_err(|rejected| {
        let findings = verdict::findings(&rejected.report, |_| None);
        Failure::new(
            Ending::Refuted,
            format!("internal error: the schedule of planner `{planner}` is wrong; nothing is written\n{findings}"),
        )
        .hint("please report this with the command line; another --planner or --seed may work meanwhile")
    })
}
