//! `synth bound`: what no schedule can beat, and why.

use clap::Args;
use synth::bound;
use synth::collective::Collective;
use synth::problem::Problem;
use synth::report::bounds;

use super::collective_options::CollectiveOptions;
use super::topology_options::TopologyOptions;
use super::{Ending, Failure, Format, output, size};

/// Say what no schedule can beat, with the evidence
#[derive(Args)]
pub struct BoundCommand {
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// Equal parts each message is cut in: widths are whole numbers of parts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    parts: u32,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

impl BoundCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Ending, Failure> {
        let topology = self.topology.topology()?;
        size::check_ranks(&topology)?;
        let kind = self.collective.kind(&self.topology, &topology)?;
        let problem = Problem::new(topology, Collective { kind, parts: self.parts })?;
        let findings =
            bound::findings(&problem).map_err(|error| Failure::of_disconnected(&error, problem.topology()))?;
        match self.format {
            Format::Text => output::print(&bounds::to_text(&problem, &findings))?,
            Format::Json => output::print(&format!("{:#}\n", bounds::to_json(&problem, &findings)))?,
        }
        Ok(Ending::Success)
    }
}
