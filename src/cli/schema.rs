//! `synth schema`: the file formats as JSON Schema.

use clap::{Args, ValueEnum};
use synth::format::json;

use super::{Ending, Failure, output};

/// Print the JSON Schema of schedule files, topology files or rank program files
#[derive(Args)]
pub struct SchemaCommand {
    /// Of which files
    #[arg(value_enum, default_value = "schedule")]
    files: Files,
}

#[derive(Clone, Copy, ValueEnum)]
enum Files {
    /// Schedule files
    Schedule,
    /// Topology files, as read by --topology
    Topology,
    /// Rank program files
    Program,
}

impl SchemaCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Ending, Failure> {
        let schema = match self.files {
            Files::Schedule => json::schedule_schema(),
            Files::Topology => json::topology_schema(),
            Files::Program => json::program_schema(),
        };
        output::print(&format!("{schema:#}\n"))?;
        Ok(Ending::Success)
    }
}
