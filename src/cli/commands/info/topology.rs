//! `synth topology`: ranks, coordinates, links, and what failed.

use std::path::PathBuf;

use clap::Args;
use collsynth::format::json;
use collsynth::report::machine;

use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;
use crate::cli::io::output::Format;
use crate::cli::options::Given;
use crate::cli::options::suggest::Spelled;

/// Show a machine: ranks, coordinates, links, what failed, diameter
#[derive(Args)]
pub struct TopologyCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    /// text: tables; json: a topology file for --topology
    #[arg(long, value_parser = Spelled::<Format>::default(), default_value = "text")]
    format: Format,
    /// Write to this file (.gz: compressed) instead of standard output; -o FILE.json writes a topology file
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl TopologyCommand {
    /// Runs the command. A machine that is not connected can be looked at like any other.
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let topology = self.topology.topology()?;
        let answer = match given.form("format").unwrap_or(self.format) {
            Format::Text => machine::to_text(&topology),
            Format::Json => json::topology_to_string(topology.spec()),
        };
        output::deliver(&self.output, &answer)?;
        Ok(Ending::Success)
    }
}
