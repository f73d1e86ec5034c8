//! `synth util schema`: JSON Schemas of the file formats, and of answers that have one.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use collsynth::format::json;
use collsynth::report::comparison;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;
use crate::cli::options::suggest::Spelled;

/// Print the JSON Schema of a kind of file
#[derive(Args)]
pub struct SchemaCommand {
    /// Of which files
    #[arg(value_parser = Spelled::<Files>::default(), default_value = "schedule")]
    files: Files,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Files {
    /// Schedule files
    Schedule,
    /// Topology files, as read by --topology
    Topology,
    /// Job files: several schedules that run together
    Job,
    /// Rank program files
    Program,
    /// What `synth compare --format json` prints
    Comparison,
}

impl SchemaCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let schema = match self.files {
            Files::Schedule => json::schedule_schema(),
            Files::Topology => json::topology_schema(),
            Files::Job => json::job_schema(),
            Files::Program => json::program_schema(),
            Files::Comparison => comparison::schema(),
        };
        output::deliver(&self.output, &format!("{schema:#}\n"))?;
        Ok(Ending::Success)
    }
}
