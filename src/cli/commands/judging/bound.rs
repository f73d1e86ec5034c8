//! `synth bound`: what no schedule can beat, and why.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use collsynth::bound::{self, FlowBound, FlowLimit};
use collsynth::collective::Collective;
use collsynth::problem::Problem;
use collsynth::report::{self, bounds};

use super::frontier;
use crate::cli::arguments::collective::CollectiveOptions;
use crate::cli::arguments::flow_limits::{Limits, is_stopped, of_flow};
use crate::cli::arguments::size;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock;
use crate::cli::io::console::note;
use crate::cli::io::output::Format;
use crate::cli::io::progress::Ticker;
use crate::cli::io::reading::Reading;
use crate::cli::options::quantity::parse_duration;
use crate::cli::options::suggest::Spelled;
use crate::cli::options::{Given, What};

/// Variables of the largest linear program that is solved: some minutes, and some gigabytes.
const MOST_VARIABLES: usize = 250_000;

/// Print lower bounds, with evidence: what no schedule can beat
#[derive(Args)]
pub struct BoundCommand {
    /// Take the machine and the collective from a schedule or a rank program (- for standard input), which is not
    /// judged; --fail says what failed since
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// Equal parts each message is cut in: widths are whole numbers of parts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    parts: u32,
    /// Solve the multi-commodity-flow linear program too (all_to_all, all_to_allv, scatter, gather): the best bound on
    /// the volume there is, proven by a metric rounded from its dual solution. In small groups also the program of
    /// trees (all_gather, reduce_scatter, broadcast, reduce)
    #[arg(long)]
    lp: bool,
    /// Instead: the least volume at each number of steps, by linear programs, beside what planning reaches there
    #[arg(long)]
    frontier: bool,
    /// Stop the linear programs (and the plans of --frontier) after this time (30s) and print what is found
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// The form of the answer
    #[arg(long, value_parser = Spelled::<Format>::default(), default_value = "text")]
    format: Format,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl BoundCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let format = given.form("format").unwrap_or(self.format);
        let problem = match &self.file {
            Some(path) => self.stated(path, given)?,
            None => {
                let topology = self.topology.topology()?;
                size::check_ranks(&topology)?;
                let kind = self.collective.kind(&self.topology, &topology, given)?;
                Problem::new(topology, Collective { kind, parts: self.parts })?
            }
        };
        let ticker = Ticker::new(false, "bounding");
        if self.frontier {
            size::check_chunks(problem.topology(), &problem.collective().kind, self.parts)?;
            let (points, ending) = frontier::points(&problem, MOST_VARIABLES, self.time_limit, &ticker)?;
            ticker.finish();
            let json = || report::frontier::to_json(&problem, &points);
            format.deliver(&self.output, || report::frontier::to_text(&problem, &points), json)?;
            return Ok(ending);
        }
        ticker.say("cuts and distances");
        // Cuts are found even after the time limit, which is for the programs, but not after Ctrl-C.
        let findings = bound::findings_within(&problem, &clock::control(None)?.limit());
        let mut findings = findings
            .map_err(|error| Failure::of_disconnected(&error, problem.topology()))?
            .ok_or_else(|| Failure::new(Ending::Stopped, "stopped before there was a bound"))?;
        let limits = Limits::new(if self.lp { MOST_VARIABLES } else { 0 }, self.time_limit)?;
        let (flow, mut ending) = match self.lp {
            true => {
                ticker.say("the linear program");
                match bound::tree_bound(&problem, &limits.flow().solver) {
                    Some(finding) => {
                        bound::add(&mut findings, finding);
                        (None, Ending::Success)
                    }
                    None => flow(&problem, &limits.flow())?,
                }
            }
            false => (None, Ending::Success),
        };
        if let Some(finding) = flow.as_ref().and_then(|flow| flow.finding.clone()) {
            bound::add(&mut findings, finding);
        }
        ticker.say("what steps and volume allow together");
        let limit = limits.flow();
        if let Some(finding) = bound::over_time(&problem, &bounds::best(&findings), &limit) {
            bound::add(&mut findings, finding);
        }
        if limit.solver.check().is_err() {
            ending = Ending::Stopped;
        }
        ticker.finish();
        let json = || bounds::to_json(&problem, &findings, flow.as_ref());
        format.deliver(&self.output, || bounds::to_text(&problem, &findings, flow.as_ref()), json)?;
        Ok(ending)
    }
}

impl BoundCommand {
    /// The problem that a file states, on its machine or after further failures.
    fn stated(&self, path: &Path, given: &Given) -> Result<Problem, Failure> {
        let reading = Reading::of(path)?;
        let problem = match reading.what() {
            What::Program => reading.program()?.problem,
            What::Schedule | What::Job => reading.stated()?.problem,
        };
        size::check_ranks(problem.machine())?;
        given.kind(&problem.collective().kind)?;
        match self.topology.failed_since(problem.machine())? {
            Some(machine) => Ok(problem.on(machine)?),
            None => Ok(problem),
        }
    }
}

/// The flow bound, if its program is solved within the limit; the bounds without it are worth printing too.
fn flow(problem: &Problem, limit: &FlowLimit) -> Result<(Option<FlowBound>, Ending), Failure> {
    match bound::flow_bound(problem, limit) {
        Ok(flow) => Ok((Some(flow), Ending::Success)),
        Err(error) if is_stopped(&error) => {
            note(&format!("{error}; these are the bounds without it"));
            Ok((None, Ending::Stopped))
        }
        Err(error) => Err(of_flow(&error, problem, "--lp")),
    }
}
