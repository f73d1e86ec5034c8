//! `synth convert`: one thing in another form. Of ours: a pattern or every move, a schedule out of a job. And the
//! formats of other tools, in and out.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use collsynth::form::compacted;
use collsynth::format::json;
use collsynth::schedule::{AnySchedule, AnySolution, Solution};

use super::export::{Export, ExportOptions, Foreign};
use super::import::{Import, ImportFormat, ImportOptions};
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::reading::Reading;
use crate::cli::io::{caller, output};
use crate::cli::options::suggest::Spelled;
use crate::cli::options::{Given, What};

/// Convert a file: to another form, to or from another tool's format
///
/// What is written for another tool is verified first. Of a schedule, csv and trace show the steps; the other formats
/// hold the program that it is lowered to. A job is written whole, or one schedule of it with --schedule. What another
/// tool made is judged, and written even if it is refuted (exit code 1): MSCCL XML as a rank program, in each form that
/// it claims, the others as a schedule. docs/formats/other-tools.md says what each format can express.
#[derive(Args)]
pub struct ConvertCommand {
    /// The file (- for standard input, .gz accepted)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The form or format to write [default: json, or csv or goal if -o ends so]
    #[arg(long, value_name = "FORMAT", value_parser = Spelled::<Format>::default(), default_value = "json")]
    #[arg(hide_default_value = true)]
    to: Format,
    /// The tool that made the file, if it is none of ours [default: csv if FILE ends so]
    #[arg(long, value_name = "FORMAT", value_parser = Spelled::<ImportFormat>::default())]
    from: Option<ImportFormat>,
    /// Of a job: take this schedule out of it, from 0, with the steps of the job
    #[arg(long, value_name = "N")]
    schedule: Option<usize>,
    /// Write to this file (.gz: compressed) instead of standard output. For chakra: a folder, or the prefix of the file
    /// names (NAME.0.et, NAME.1.et, ...)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    export: ExportOptions,
    #[command(flatten)]
    import: ImportOptions,
}

/// Forms and formats that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The file as it is; what another tool made, as a file of ours; a schedule of a job, as a file of its own
    Json,
    /// A schedule as a pattern with exceptions, if it has one; it is not judged
    Compact,
    /// A schedule with every move, perhaps a thousand times as long; it is not judged
    Explicit,
    /// MSCCL XML, as microsoft/msccl reads it
    Msccl,
    /// MSCCL XML, as RCCL and Azure's fork read it
    Rccl,
    /// A table of transfers
    Csv,
    /// Chrome trace, for Perfetto
    #[value(alias = "perfetto")]
    Trace,
    /// GOAL, for LogGOPSim
    Goal,
    /// Chakra execution traces, for ASTRA-sim: a file for each rank
    Chakra,
}

impl ConvertCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        if let Some(from) = given.form("from").or(self.from) {
            let output = self.output.as_deref();
            return Import { file: &self.file, from, options: &self.import, output }.run(given);
        }
        let to = given.form("to").unwrap_or(self.to);
        caller::tell("reading");
        let reading = Reading::of(&self.file)?;
        given.file(reading.what())?;
        caller::tell("verifying");
        if reading.is_program() {
            return match (to, self.export(to, given)) {
                (_, Some(export)) => export.program(&reading),
                (Format::Json, None) => self.write(&json::program_to_string(&reading.program()?), "rank program"),
                (_, None) => Err(Failure::usage("a rank program has one form").hint("leave --to out, or name a tool")),
            };
        }
        if let (What::Job, None, Some(export)) = (reading.what(), self.schedule, self.export(to, given)) {
            return export.job(&reading);
        }
        let stated = match self.schedule {
            Some(number) => picked(&reading, number)?,
            None => reading.stated()?,
        };
        match to {
            Format::Json => self.write(&json::solution_to_string(&stated), "schedule"),
            Format::Compact => {
                let Solution { problem, schedule, bounds, origin } = stated;
                let schedule = match schedule {
                    AnySchedule::Explicit(schedule) => compacted(&problem, &schedule).map_err(Failure::usage)?.into(),
                    compact @ AnySchedule::Compact(_) => compact,
                };
                self.write(&json::solution_to_string(&Solution { problem, schedule, bounds, origin }), "schedule")
            }
            Format::Explicit => {
                let path = self.output.as_deref();
                output::deliver_file_streamed(path, "schedule", |out| json::write_expanded(out, &stated))?;
                Ok(Ending::Success)
            }
            to => self.export(to, given).expect("the others are other tools'").schedule(stated, &reading),
        }
    }

    /// The file in another tool's format, if it is one.
    fn export<'a>(&'a self, to: Format, given: &'a Given) -> Option<Export<'a>> {
        let to = match to {
            Format::Json | Format::Compact | Format::Explicit => return None,
            Format::Msccl => Foreign::Msccl,
            Format::Rccl => Foreign::Rccl,
            Format::Csv => Foreign::Csv,
            Format::Trace => Foreign::Trace,
            Format::Goal => Foreign::Goal,
            Format::Chakra => Foreign::Chakra,
        };
        Some(Export { given, to, options: &self.export, output: self.output.as_deref() })
    }

    fn write(&self, text: &str, what: &str) -> Result<Ending, Failure> {
        output::deliver_file(self.output.as_deref(), text, what)?;
        Ok(Ending::Success)
    }
}

/// A schedule out of a job that holds.
fn picked(reading: &Reading<'_>, number: usize) -> Result<AnySolution, Failure> {
    let (name, mut schedules) = (reading.name(), reading.judged_job("taken apart")?.into_schedules());
    let count = schedules.len();
    if number >= count {
        return Err(Failure::usage(format!("{name} has no schedule {number}: it has {count}, counted from 0")));
    }
    Ok(schedules.swap_remove(number).into_inner().map(Into::into))
}
