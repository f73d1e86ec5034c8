//! `synth topology`: ranks, coordinates, links, and what failed.

use clap::Args;
use collsynth::format::json;
use collsynth::report::machine;

use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;
use crate::cli::io::output::Format;

/// Show a machine: ranks, coordinates, links, what failed, diameter
#[derive(Args)]
pub struct TopologyCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    /// text: tables; json: a topology file for --topology
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

impl TopologyCommand {
    /// Runs the command. A machine that is not connected can be looked at like any other.
    pub fn run(&self) -> Result<Ending, Failure> {
        let topology = self.topology.topology()?;
        match self.format {
            Format::Text => output::print(&machine::to_text(&topology))?,
            Format::Json => output::print(&json::topology_to_string(topology.spec()))?,
        }
        Ok(Ending::Success)
    }
}
