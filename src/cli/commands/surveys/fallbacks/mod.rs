//! `synth fallbacks`: schedules kept ready for failures, one for each class, relabelled when one happens.

mod build;
mod get;

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use self::build::BuildCommand;
use self::get::GetCommand;
use crate::cli::ending::{Ending, Failure};
use crate::cli::options::Given;

/// Keep schedules ready for failures before they happen
#[derive(Args)]
pub struct FallbacksCommand {
    #[command(subcommand)]
    command: FallbacksSubcommand,
}

#[derive(Subcommand)]
enum FallbacksSubcommand {
    Build(Box<BuildCommand>),
    Get(Box<GetCommand>),
}

impl FallbacksCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        match &self.command {
            FallbacksSubcommand::Build(build) => build.run(given),
            FallbacksSubcommand::Get(get) => get.run(),
        }
    }
}

/// The index of a set.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    format: String,
    machine: String,
    topology: serde_json::Value,
    /// Of switches: the extents of the cells that they join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    period: Option<Vec<u32>>,
    collective: String,
    /// The options that made the set.
    command: String,
    classes: Vec<Entry>,
}

/// A class of failures.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    unit: String,
    set: Vec<String>,
    /// How many sets are in the class.
    sets: u64,
    /// The schedule; none where the live network is not connected.
    file: Option<String>,
}

const FORMAT: &str = "fallback-set/1";

const INDEX: &str = "index.json";
