//! The command line: one file per command. The only place that prints, reads the environment or exits.

mod arguments;
mod commands;
mod ending;
mod help;
mod io;
mod options;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::time::Instant;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use collsynth::format::file::FileError;

use commands::files::{convert, lower};
use commands::info::{explain, planners, topology, util};
use commands::judging::{bound, verify};
use commands::planning::{compare, pareto, plan, polish};
use commands::running::run as runs;
use commands::showing::{show, view};
use commands::surveys::{fallbacks, survey};
use io::console::note;
use io::{caller, clock};
use options::usage;

pub use arguments::failures::{failed_link, failed_switch};
pub use commands::judging::verify::find_bounds;
pub use commands::planning::asked::Asked;
pub use ending::{Ending, Failure};
pub use io::caller::{Answer, Listener, call};
pub use io::input::limits;
pub use options::quantity::{parse_bytes, parse_one_bandwidth, parse_seconds};
pub use options::suggest::{did_you_mean, spelled};
pub use options::{Given, check_ending};

/// Proven collective schedules for tori with failed links.
///
/// Without a subcommand: plans a collective (an all-to-all, unless stated) on the machine described, verifies the
/// schedule, writes it as JSON to standard output (or -o FILE) and a summary to standard error.
#[derive(Parser)]
#[command(
    name = "synth",
    version,
    args_conflicts_with_subcommands = true,
    after_help = help::FIRST,
    after_long_help = help::EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    plan: plan::PlanCommand,
}

#[derive(Subcommand)]
enum Command {
    Plan(Box<plan::PlanCommand>),
    Verify(verify::VerifyCommand),
    Pareto(pareto::ParetoCommand),
    Polish(polish::PolishCommand),
    Compare(compare::CompareCommand),
    Bound(bound::BoundCommand),
    Show(show::ShowCommand),
    View(view::ViewCommand),
    Survey(survey::SurveyCommand),
    Fallbacks(fallbacks::FallbacksCommand),
    Run(runs::RunCommand),
    Lower(lower::LowerCommand),
    Convert(convert::ConvertCommand),
    Topology(topology::TopologyCommand),
    Planners(planners::PlannersCommand),
    Explain(explain::ExplainCommand),
    Util(util::UtilCommand),
}

/// Runs the command with these words, the first of them its name. Returns the exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let started = Instant::now();
    let words: Vec<OsString> = words.into_iter().collect();
    let parsed = help::grouped(Cli::command()).try_get_matches_from(&words).and_then(|matches| {
        clock::start(started, &matches);
        Ok((Cli::from_arg_matches(&matches)?, matches))
    });
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = usage::pointed(error, &Cli::command(), &words);
            if caller::note(error.render().to_string().trim_end()) {
                return error.exit_code() as u8;
            }
            return match error.print() {
                // Help that cannot be written; an error then has nowhere to go.
                Err(source) if !error.use_stderr() && source.kind() != ErrorKind::BrokenPipe => {
                    let failure = Failure::from(FileError::Write { path: "-".into(), source });
                    note(&failure.to_string());
                    failure.ending as u8
                }
                _ => error.exit_code() as u8,
            };
        }
    };
    let result = Given::read(&Cli::command(), &matches).and_then(|given| cli.run(&given));
    let ending = result.unwrap_or_else(|failure: Failure| {
        note(&failure.to_string());
        failure.ending
    });
    ending as u8
}

/// All commands and options, for tests that walk them.
#[doc(hidden)]
pub fn command() -> clap::Command {
    Cli::command()
}

impl Cli {
    fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let ending = match &self.command {
            None => self.plan.run(given),
            Some(Command::Plan(command)) => command.run(given),
            Some(Command::Verify(command)) => command.run(given),
            Some(Command::Pareto(command)) => command.run(given),
            Some(Command::Polish(command)) => command.run(),
            Some(Command::Compare(command)) => command.run(given),
            Some(Command::Bound(command)) => command.run(given),
            Some(Command::Show(command)) => command.run(given),
            Some(Command::View(command)) => command.run(),
            Some(Command::Survey(command)) => command.run(given),
            Some(Command::Fallbacks(command)) => command.run(given),
            Some(Command::Run(command)) => command.run(given),
            Some(Command::Lower(command)) => command.run(),
            Some(Command::Convert(command)) => command.run(given),
            Some(Command::Topology(command)) => command.run(given),
            Some(Command::Planners(command)) => command.run(given),
            Some(Command::Explain(command)) => command.run(),
            Some(Command::Util(command)) => command.run(Self::command()),
        }?;
        debug_assert!(given.is_settled(), "an option depends on a collective or a file that the command did not check");
        Ok(ending)
    }
}
