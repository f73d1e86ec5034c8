//! `synth bound`: what no schedule can beat, and why.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use collsynth::bound::{self, FlowBound, FlowError, FlowLimit, Limit, LpError};
use collsynth::collective::Collective;
use collsynth::plan::Control;
use collsynth::problem::Problem;
use collsynth::report::{self, bounds};

use super::collective_options::CollectiveOptions;
use super::progress::interrupt_flag;
use super::quantity::parse_duration;
use super::topology_options::TopologyOptions;
use super::{Ending, Failure, Format, frontier, output, size};

/// Variables of the largest linear program that is solved: some minutes, and some gigabytes.
const MOST_VARIABLES: usize = 250_000;

/// Say what no schedule can beat, with the evidence
#[derive(Args)]
pub struct BoundCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// Equal parts each message is cut in: widths are whole numbers of parts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    parts: u32,
    /// Solve the multi-commodity-flow linear program too (all_to_all, all_to_allv, scatter, gather): the best bound on
    /// the volume there is, proven by a metric rounded from its dual solution
    #[arg(long, group = "solver")]
    lp: bool,
    /// Instead: the least volume at each number of steps, by linear programs, beside what planning reaches there
    #[arg(long, group = "solver")]
    frontier: bool,
    /// Give each linear program (and each plan of --frontier) this time at most (30s)
    #[arg(long, value_name = "TIME", requires = "solver", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

impl BoundCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Ending, Failure> {
        let topology = self.topology.topology()?;
        size::check_ranks(&topology)?;
        let kind = self.collective.kind(&self.topology, &topology)?;
        let problem = Problem::new(topology, Collective { kind, parts: self.parts })?;
        if self.frontier {
            size::check_chunks(problem.topology(), &problem.collective().kind, self.parts)?;
            let (points, ending) = frontier::points(&problem, MOST_VARIABLES, self.time_limit)?;
            match self.format {
                Format::Text => output::print(&report::frontier::to_text(&problem, &points))?,
                Format::Json => output::print(&format!("{:#}\n", report::frontier::to_json(&problem, &points)))?,
            }
            return Ok(ending);
        }
        let mut findings =
            bound::findings(&problem).map_err(|error| Failure::of_disconnected(&error, problem.topology()))?;
        let limits = Limits::new(if self.lp { MOST_VARIABLES } else { 0 }, self.time_limit)?;
        let (flow, mut ending) = match self.lp {
            true => flow(&problem, &limits.next())?,
            false => (None, Ending::Success),
        };
        if let Some(finding) = flow.as_ref().and_then(|flow| flow.finding.clone()) {
            bound::add(&mut findings, finding);
        }
        let limit = limits.next();
        if let Some(finding) = bound::over_time(&problem, &bounds::best(&findings), &limit) {
            bound::add(&mut findings, finding);
        }
        if limit.solver.check().is_err() {
            ending = Ending::Stopped;
        }
        match self.format {
            Format::Text => output::print(&bounds::to_text(&problem, &findings, flow.as_ref()))?,
            Format::Json => output::print(&format!("{:#}\n", bounds::to_json(&problem, &findings, flow.as_ref())))?,
        }
        Ok(ending)
    }
}

/// The flow bound, if its program is solved within the limit; the bounds without it are worth printing too.
fn flow(problem: &Problem, limit: &FlowLimit) -> Result<(Option<FlowBound>, Ending), Failure> {
    match bound::flow_bound(problem, limit) {
        Ok(flow) => Ok((Some(flow), Ending::Success)),
        Err(error) if is_stopped(&error) => {
            output::note(&format!("{error}; these are the bounds without it"));
            Ok((None, Ending::Stopped))
        }
        Err(error) => Err(of_flow(&error, problem)),
    }
}

/// What each linear program may cost: the same size and time, until Ctrl-C.
pub struct Limits {
    variables: usize,
    time: Option<Duration>,
    interrupted: Arc<AtomicBool>,
}

impl Limits {
    /// Listens for Ctrl-C from now on.
    pub fn new(variables: usize, time: Option<Duration>) -> Result<Self, Failure> {
        Ok(Self { variables, time, interrupted: interrupt_flag()? })
    }

    /// The limit of a program that is solved now.
    pub fn next(&self) -> FlowLimit {
        let flag = Arc::clone(&self.interrupted);
        let solver = Limit::NONE.unless(move || flag.load(Ordering::Relaxed));
        FlowLimit { variables: self.variables, solver: self.time.map_or(solver.clone(), |time| solver.within(time)) }
    }

    /// The limit of a plan that is looked for now.
    pub fn control(&self) -> Control {
        let control = Control::unlimited().with_interrupt(Arc::clone(&self.interrupted));
        match self.time.and_then(|limit| Instant::now().checked_add(limit)) {
            Some(deadline) => control.with_deadline(deadline),
            None => control,
        }
    }
}

/// Did the time limit or Ctrl-C come first?
pub fn is_stopped(error: &FlowError) -> bool {
    matches!(error, FlowError::Solver(LpError::TimeLimit | LpError::Interrupted))
}

/// There is no flow bound: what to do about it.
pub fn of_flow(error: &FlowError, problem: &Problem) -> Failure {
    match error {
        FlowError::Disconnected(disconnected) => Failure::of_disconnected(disconnected, problem.topology()),
        FlowError::Solver(LpError::TimeLimit) => {
            Failure::new(Ending::Stopped, error).hint("allow more time with --time-limit")
        }
        FlowError::Solver(LpError::Interrupted) => Failure::new(Ending::Stopped, error),
        FlowError::TooLarge { .. } => Failure::usage(error).hint("without it, cuts bound machines of any size"),
        FlowError::WrongKind(_) | FlowError::Solver(_) => {
            Failure::usage(error).hint("without it, the other bounds need no solver")
        }
    }
}
