//! `synth compact` and `synth expand`: the two forms of a schedule file.

use std::path::PathBuf;

use clap::Args;
use collsynth::form::FormError;
use collsynth::format::json;
use collsynth::schedule::Solution;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;
use crate::cli::io::reading::Reading;

/// Find the pattern of a schedule
///
/// Writes a schedule in the compact form: what the chunks of rank 0 do, translated over the torus, and the moves of the
/// chunks that do otherwise. A schedule that is in this form already stays as it is.
#[derive(Args)]
pub struct CompactCommand {
    #[command(flatten)]
    files: Files,
}

/// State every move of a schedule in the compact form
///
/// Writes the schedule that a pattern and exceptions stand for, a transfer at a time. It may be a thousand times as
/// long.
#[derive(Args)]
pub struct ExpandCommand {
    #[command(flatten)]
    files: Files,
}

#[derive(Args)]
struct Files {
    /// A schedule file (- for standard input, .gz accepted)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl CompactCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let Solution { problem, schedule, bounds, origin } = Reading::of(&self.files.file)?.stated()?;
        let compact = schedule.into_compact(&problem).ok_or_else(|| Failure::usage(FormError::NoPattern))?;
        let solution = Solution { problem, schedule: compact, bounds, origin };
        output::deliver_file(self.files.output.as_deref(), &json::solution_to_string(&solution), "schedule")?;
        Ok(Ending::Success)
    }
}

impl ExpandCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let solution = Reading::of(&self.files.file)?.stated()?;
        let path = self.files.output.as_deref();
        output::deliver_file_streamed(path, "schedule", |out| json::write_expanded(out, &solution))?;
        Ok(Ending::Success)
    }
}
