//! `synth show`: a schedule step by step.

use std::path::{Path, PathBuf};

use clap::Args;
use collsynth::format::json;
use collsynth::problem::Problem;
use collsynth::program::Program;
use collsynth::report::overview::{figures, headline};
use collsynth::report::steps::{Selection, StepTables, chunks_named};
use collsynth::report::verdict::findings;
use collsynth::schedule::Solution;
use collsynth::verify::{Options, Verified};

use super::output::Output;
use super::{Ending, Failure, input};

/// Show a schedule step by step: who sends what to whom, and how busy the links are
///
/// The schedule is read, not judged: `synth verify` does that.
#[derive(Args)]
pub struct ShowCommand {
    /// The schedule file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only this step. Repeatable
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    step: Vec<u32>,
    /// Only transfers from or to this rank: 42 or 2.2.2
    #[arg(long, allow_negative_numbers = true, value_name = "RANK")]
    rank: Option<String>,
    /// Only this chunk, as in files: 3>7, or 3>7/1 for part 1 alone
    #[arg(long, allow_negative_numbers = true, value_name = "CHUNK")]
    chunk: Option<String>,
    /// List all chunks of a transfer
    #[arg(long)]
    all: bool,
}

impl ShowCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let Solution { problem, schedule, .. } = &read(&self.file)?;
        let selection = self.selection(problem, schedule.step_count())?;
        let mut out = Output::default();
        // Without the bounds in the file, which are not checked here.
        out.write(&format!("{}\n{}", headline(problem), figures(problem, schedule, None)))?;
        for text in StepTables::new(problem, schedule, &selection).texts() {
            out.write(&format!("\n{text}"))?;
            if out.is_closed() {
                break;
            }
        }
        Ok(Ending::Success)
    }

    fn selection(&self, problem: &Problem, step_count: usize) -> Result<Selection, Failure> {
        if let Some(step) = self.step.iter().find(|&&step| step as usize > step_count) {
            return Err(Failure::usage(format!("there is no step {step}: the schedule has {step_count}")));
        }
        let rank = self.rank.as_ref().map(|text| problem.topology().parse_rank(text)).transpose();
        let chunks = self.chunk.as_ref().map(|label| chunks_named(problem, label)).transpose();
        Ok(Selection {
            steps: self.step.clone(),
            rank: rank.map_err(Failure::usage)?,
            chunks: chunks.map_err(Failure::usage)?,
            all: self.all,
        })
    }
}

/// Reads a schedule, without judging it.
pub(super) fn read(path: &Path) -> Result<Solution, Failure> {
    parse(path, &input::read_text(path)?)
}

/// Parses a schedule, without judging it.
pub(super) fn parse(path: &Path, text: &str) -> Result<Solution, Failure> {
    json::parse_solution_within(text, &input::limits()?).map_err(|error| unreadable(path, &error))
}

/// Has a schedule judged before it is lowered, run or exported; that may take `room` bytes.
pub(super) fn verified(solution: Solution, used: &str, room: u64) -> Result<Verified<Solution>, Failure> {
    Verified::<Solution>::new(solution, &Options { memory: room, ..Options::default() }).map_err(|rejected| {
        if let Some(why) = rejected.report.not_judged() {
            return Failure::usage(format!("the schedule is {why}"));
        }
        let found = findings(&rejected.report, |_| None);
        Failure::new(Ending::Refuted, format!("the schedule does not hold and is not {used}\n{found}"))
            .hint("`synth verify` says more")
    })
}

/// Parses a rank program, without judging it.
pub(super) fn parse_program(path: &Path, text: &str) -> Result<Program, Failure> {
    json::parse_program_within(text, &input::limits()?).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &json::ParseError) -> Failure {
    let place = format!("{}:{}:{}", path.display(), error.line, error.column);
    Failure::usage(format!("{place}: {}: {}", error.code, error.message))
        .hint(format!("`synth explain {}` says more", error.code))
}
