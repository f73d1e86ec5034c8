//! `synth pareto`: the trade of steps against volume.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use collsynth::collective::{Collective, Kind};
use collsynth::cost::Price;
use collsynth::plan::{
    Control, Front, Goal, Parts, Plan, Smt, SmtBackend, StopReason, shares_vectors, trace, useful_parts,
};
use collsynth::problem::Problem;
use collsynth::report::bounds::sharpen;
use collsynth::report::curve::{Curve, Point};
use collsynth::topology::Topology;

use super::plan;
use crate::cli::arguments::collective::CollectiveOptions;
use crate::cli::arguments::plan::{goal_words, planner_choice, planner_names, use_threads};
use crate::cli::arguments::rate::{ALPHA, BANDWIDTH, Sizes};
use crate::cli::arguments::size;
use crate::cli::arguments::smt::backend;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::control;
use crate::cli::io::output;
use crate::cli::io::progress::{Ticker, figures};
use crate::cli::options::Given;
use crate::cli::options::quantity::{parse_duration, parse_one_bandwidth, parse_seed, parse_startup};
use crate::cli::options::suggest::Spelled;
use crate::cli::options::words::typed_again;

/// Show the trade of steps against volume
///
/// Every schedule found that no other beats in both, verified, with the options that plan it again. Exit codes are as
/// for planning.
#[derive(Args)]
pub struct ParetoCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// The planner; `synth planners` lists them
    #[arg(long, value_name = "NAME", default_value = "auto", help_heading = "Plan", hide_possible_values = true,
        value_parser = planner_names())]
    planner: String,
    /// Numbers of equal parts each message is cut in (1,2,5), or `auto`: some that fit the volume bound
    #[arg(long, value_name = "N,..|auto", default_value = "auto", help_heading = "Plan")]
    parts: PartsList,
    /// At most this many steps
    #[arg(long, value_name = "N", help_heading = "Plan")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(u16::MAX)))]
    max_steps: Option<u32>,
    /// Bytes of one message: sizes (64KiB,1MiB), or a range by factors of four (64KiB..64MiB); shows the time of every
    /// schedule for each
    #[arg(long, value_name = "SIZE,..|FROM..TO", help_heading = "Plan")]
    message_bytes: Option<Sizes>,
    /// With --message-bytes: the time a step takes to start
    #[arg(long, value_name = "TIME", help_heading = "Plan", default_value = ALPHA, value_parser = parse_startup)]
    alpha: f64,
    /// With --message-bytes: what a link of capacity 1 carries (50GB/s, 400Gbit/s)
    #[arg(long, value_name = "RATE", help_heading = "Plan")]
    #[arg(default_value = BANDWIDTH, value_parser = parse_one_bandwidth)]
    bandwidth: f64,
    /// Stop after this time (30s) and show what was found
    #[arg(long, value_name = "TIME", help_heading = "Plan", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Drives random choices: the same seed gives the same schedules
    #[arg(long, value_name = "N", help_heading = "Plan", default_value_t = 0, value_parser = parse_seed)]
    seed: u64,
    /// Threads to plan with [default: one per core]; their number does not change the schedules
    #[arg(long, value_name = "N", help_heading = "Plan", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Planner smt: who solves the formulas, `cadical` (unless stated) or `z3`, in builds that have it
    #[arg(long, value_name = "NAME", help_heading = "Plan", hide_possible_values = true, value_parser = backend())]
    smt_backend: Option<SmtBackend>,
    /// The form of the answer [default: as the ending of -o says, else text]
    #[arg(long, value_parser = Spelled::<ParetoFormat>::default(), help_heading = "Output")]
    format: Option<ParetoFormat>,
    /// Write the answer to this file instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true, help_heading = "Output")]
    output: PathBuf,
    /// No progress
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

/// The forms of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ParetoFormat {
    /// A table for people
    Text,
    /// A line for each schedule and size
    Csv,
    /// For programs
    Json,
    /// A plot, with the bounds
    Svg,
}

/// `1,2,5` or `auto`
#[derive(Clone)]
pub struct PartsList(Option<Vec<u32>>);

impl PartsList {
    /// The numbers stated; `None` for `auto`.
    pub fn numbers(&self) -> Option<&[u32]> {
        self.0.as_deref()
    }
}

impl FromStr for PartsList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        let number = |word: &str| word.parse().ok().filter(|&parts| parts >= 1);
        let parts: Option<Vec<u32>> = text.split(',').map(number).collect();
        parts
            .map(|parts| Self(Some(parts)))
            .ok_or_else(|| "write numbers, 1 or more, as in 1,2,5, or `auto`".to_owned())
    }
}

impl ParetoCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let topology = self.topology.topology()?;
        size::check_ranks(&topology)?;
        let kind = self.collective.kind(&self.topology, &topology, given)?;
        use_threads(self.threads)?;
        let ticker = Ticker::new(self.quiet, "planning");
        let control = control(self.time_limit)?.with_listener(ticker.listener());
        let parts = self.parts(&topology, &kind, &control)?;
        let smt = Smt { backend: self.smt_backend.unwrap_or_default(), ..Smt::new() };
        let planner = planner_choice(&self.planner, &smt)?;
        let goal = Goal { planner, max_steps: self.max_steps, seed: self.seed, ..Goal::default() };
        let (mut front, mut refuted) = (Front::default(), None);
        let stopped = trace(&topology, &kind, &goal, &parts, &control, |goal, plan| match self.point(goal, plan) {
            Ok(point) => {
                ticker.best(figures(point.steps, point.volume));
                front.insert(point.steps, point.volume, point.depth, point);
            }
            Err(failure) => refuted = refuted.take().or(Some(failure)),
        })
        .map_err(|error| Failure::of_plan(&error, &topology))?;
        ticker.finish();
        if let Some(failure) = refuted {
            return Err(failure);
        }
        let mut points: Vec<Point> = front.into_points().into_iter().map(|(_, _, point)| point).collect();
        points.iter_mut().for_each(|point| point.prove_jointly(&control));
        let problem = Problem::new(topology, Collective::new(kind))?;
        let mut bounds = control.bounds(&problem).map_err(|error| Failure::of_plan(&error, problem.topology()))?;
        points.iter().for_each(|point| sharpen(&mut bounds, point.volume_bound()));
        bounds.joint.extend(points.iter().flat_map(Point::joint_bounds).cloned());
        let curve = Curve { problem: &problem, bounds: &bounds, points: &points, prices: &self.prices(), stopped };
        let text = match self.format.or(given.form("format")).unwrap_or(ParetoFormat::Text) {
            ParetoFormat::Text => curve.to_text(),
            ParetoFormat::Csv => curve.to_csv(),
            ParetoFormat::Json => format!("{:#}\n", curve.to_json()),
            ParetoFormat::Svg => curve.to_svg().map_err(Failure::usage)?,
        };
        output::deliver(&self.output, &text)?;
        let proven = points.len() == 1 && points[0].quality.steps.is_certified() && curve.gap(&points[0]) == Some(0.0);
        Ok(if stopped == StopReason::Finished || proven { Ending::Success } else { Ending::Stopped })
    }

    /// The numbers of parts asked for, or those worth trying.
    fn parts(&self, topology: &Topology, kind: &Kind, control: &Control) -> Result<Vec<u32>, Failure> {
        let parts = match &self.parts.0 {
            Some(parts) => parts.clone(),
            None => useful_parts(topology, kind, control).map_err(|error| Failure::of_plan(&error, topology))?,
        };
        for &parts in &parts {
            size::check_chunks(topology, kind, parts)?;
        }
        Ok(parts)
    }

    /// Has a schedule judged; keeps its figures.
    fn point(&self, goal: &Goal<'_>, plan: Plan) -> Result<Point, Failure> {
        let (planner, account) = (plan.planner, plan.account.clone());
        let kind = plan.problem.collective().kind.clone();
        let verified = plan::verified(plan, None)?;
        let observed = verified.report().observed.clone();
        Ok(Point::new(&verified, observed.as_ref(), planner, account, self.command(goal, &kind)))
    }

    /// The options that give the schedule, and the whole command line.
    fn command(&self, goal: &Goal<'_>, kind: &Kind) -> [String; 2] {
        // Unless parts are stated, a planner takes whole messages, and all do but for shared vectors and groups.
        let is_usual = goal.planner.is_some() || !(shares_vectors(kind) || kind.groups().is_some());
        let parts = if goal.parts == Parts::Fixed(1) && is_usual { Parts::Enough } else { goal.parts };
        let options = goal_words(&Goal { planner: None, parts, seed: 0, ..*goal });
        let mut words = vec!["synth".to_owned()];
        words.extend(self.topology.words());
        words.extend(self.collective.words());
        words.extend(goal.planner.iter().flat_map(|planner| ["--planner", planner.name()]).map(str::to_owned));
        words.extend(self.smt_backend.iter().flat_map(|backend| ["--smt-backend".to_owned(), backend.to_string()]));
        words.extend_from_slice(&options);
        words.extend((self.seed != 0).then(|| ["--seed".to_owned(), self.seed.to_string()]).into_iter().flatten());
        [options.join(" "), typed_again(words)]
    }

    fn prices(&self) -> Vec<Price> {
        let Self { alpha, bandwidth, .. } = *self;
        self.message_bytes
            .iter()
            .flat_map(|sizes| &sizes.0)
            .map(|&message_bytes| Price { message_bytes, alpha, bandwidth })
            .collect()
    }
}
