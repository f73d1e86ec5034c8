//! `synth` without a subcommand: plan, verify, write, summarise.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use collsynth::bound::{self, FlowLimit};
use collsynth::certificate::JointBound;
use collsynth::collective::Collective;
use collsynth::format::json;
use collsynth::plan::{Control, Plan, PlanError, StopReason, synthesise};
use collsynth::problem::Problem;
use collsynth::report::quality::Quality;
use collsynth::report::summary::Summary;
use collsynth::report::verdict;
use collsynth::schedule::{Origin, Solution};
use collsynth::verify::{Options, Verified};

use super::collective_options::CollectiveOptions;
use super::plan_options::{PlanOptions, use_threads};
use super::progress::{Ticker, control};
use super::topology_options::TopologyOptions;
use super::{Ending, Failure, Format, output, proof, size};

/// Variables of the largest linear program that is solved for a joint bound: some seconds.
const MOST_VARIABLES: usize = 16_000;

/// Plan a collective.
#[derive(Args)]
pub struct PlanCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    #[command(flatten)]
    options: PlanOptions,
    /// Write the schedule to this file (.gz: compressed) instead of standard output; written only when complete
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true, help_heading = "Output")]
    output: PathBuf,
    /// The form of the summary on standard error
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    format: Format,
    /// No summary and no progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl PlanCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Ending, Failure> {
        self.options.check()?;
        let topology = self.topology.topology()?;
        size::check_ranks(&topology)?;
        let kind = self.collective.kind(&self.topology, &topology)?;
        let parts = self.options.least_parts();
        size::check_chunks(&topology, &kind, parts)?;
        let problem = Problem::new(topology, Collective { kind, parts })?;
        use_threads(self.options.threads)?;
        let ticker = Ticker::new(self.quiet);
        let started = Instant::now();
        let control = control(self.options.time_limit)?.with_listener(ticker.listener());
        let mut plan = self.plan(&problem, &control)?;
        ticker.say("proving");
        plan.bounds.joint = joint_bounds(&plan, &control);
        let planning = started.elapsed();
        ticker.say("verifying");
        let Plan { planner, stopped, proven, .. } = plan;
        let (phases, refuted) = (plan.phases.clone(), plan.refuted.clone());
        let started = Instant::now();
        let verified = self.verify(plan)?;
        let verifying = started.elapsed();
        ticker.finish();
        output::deliver(&self.output, &json::solution_to_string(&verified))?;

        let quality = Quality::new(&verified.problem, &verified.schedule, &verified.bounds);
        if !self.quiet {
            let price = self.options.price();
            let observed = verified.report().observed.as_ref();
            let summary = Summary {
                solution: &verified,
                observed,
                planner,
                phases: &phases,
                stopped,
                refuted: &refuted,
                proven,
                planning,
                verifying,
                price,
            };
            match self.format {
                Format::Text => output::note(&summary.to_text()),
                Format::Json => output::note(&summary.to_json().to_string()),
            }
        }
        let steps_settled = quality.steps.is_certified() || self.options.steps.is_some();
        let proven = quality.volume.is_certified() && steps_settled;
        Ok(if stopped == StopReason::Finished || proven { Ending::Success } else { Ending::Stopped })
    }

    /// Plans the problem; its parts are those asked for, or to be chosen.
    fn plan(&self, problem: &Problem, control: &Control) -> Result<Plan, Failure> {
        let (topology, kind, wish) = (problem.topology(), &problem.collective().kind, self.options.wish());
        let planned = synthesise(topology, kind, &wish, control);
        match (&planned, &self.options.proof) {
            (Err(PlanError::Refuted { .. }), Some(path)) => proof::write(problem, &wish, control, path)?,
            (Err(_), Some(_)) => output::note("no proof is written: none was needed, or found"),
            (Ok(_), Some(_)) => output::note("no proof is written: there is a schedule"),
            (_, None) => {}
        }
        planned.map_err(|error| Failure::of_plan(&error, topology))
    }

    /// Has the schedule judged. A planner's mistake ends here: nothing is written.
    fn verify(&self, plan: Plan) -> Result<Verified<Solution>, Failure> {
        let origin = Origin {
            tool: Some(concat!("synth ", env!("CARGO_PKG_VERSION")).to_owned()),
            planner: Some(plan.planner.to_owned()),
            command: Some(self.command()),
            seed: Some(self.options.seed),
        };
        verified(plan, Some(origin))
    }

    /// The command line that gives the same schedule: without what only says where and how it is written.
    fn command(&self) -> String {
        let mut words = vec!["synth".to_owned()];
        words.extend(self.topology.words());
        words.extend(self.collective.words());
        words.extend(self.options.words());
        words.join(" ")
    }
}

/// Where the bounds on steps and volume leave a gap: what closes it jointly.
fn joint_bounds(plan: &Plan, control: &Control) -> Vec<JointBound> {
    let (steps, width) = (plan.schedule.step_count(), plan.schedule.total_width());
    let (Ok(steps), Ok(width)) = (u32::try_from(steps), u32::try_from(width)) else { return Vec::new() };
    let limit = FlowLimit { variables: MOST_VARIABLES, solver: control.limit() };
    bound::joint_bounds(&plan.problem, &plan.bounds, steps, width, &limit)
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
