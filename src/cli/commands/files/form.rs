//! `synth compact` and `synth expand`: the two forms of a schedule file.

use std::path::PathBuf;

use clap::Args;
use collsynth::form::FormError;
use collsynth::format::json::{self, Stated};
use collsynth::schedule::{CompactSchedule, Solution};

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
        let compact = match Reading::of(&self.files.file)?.stated()? {
            Stated::Compact(compact) => *compact,
            Stated::Explicit(explicit) => {
                let Solution { problem, schedule, bounds, origin } = *explicit;
                let found = CompactSchedule::find(&problem, &schedule);
                let schedule = found.ok_or_else(|| Failure::usage(FormError::NoPattern))?;
                Solution { problem, schedule, bounds, origin }
            }
        };
        self.files.write(&json::compact_to_string(&compact))
    }
}

impl ExpandCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        match Reading::of(&self.files.file)?.stated()? {
            Stated::Compact(compact) => {
                output::deliver_file_streamed(self.files.output.as_deref(), "schedule", |out| {
                    json::write_expanded(out, &compact)
                })?;
                Ok(Ending::Success)
            }
            Stated::Explicit(explicit) => self.files.write(&json::solution_to_string(&explicit)),
        }
    }
}

impl Files {
    fn write(&self, text: &str) -> Result<Ending, Failure> {
        output::deliver_file(self.output.as_deref(), text, "schedule")?;
        Ok(Ending::Success)
    }
}
