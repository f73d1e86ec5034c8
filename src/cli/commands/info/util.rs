//! `synth util`: what shells, man and editors need of `synth`.

use clap::{Args, Command, Subcommand};

use super::completions::CompletionsCommand;
use super::manual::ManualCommand;
use super::schema::SchemaCommand;
use crate::cli::ending::{Ending, Failure};

/// Completions for shells, manual pages, JSON Schemas
#[derive(Args)]
pub struct UtilCommand {
    #[command(subcommand)]
    command: UtilSubcommand,
}

#[derive(Subcommand)]
enum UtilSubcommand {
    Completions(CompletionsCommand),
    Manual(ManualCommand),
    Schema(SchemaCommand),
}

impl UtilCommand {
    /// Runs the command; `all` is the command that is completed and described.
    pub fn run(&self, all: Command) -> Result<Ending, Failure> {
        match &self.command {
            UtilSubcommand::Completions(command) => command.run(all),
            UtilSubcommand::Manual(command) => command.run(all),
            UtilSubcommand::Schema(command) => command.run(),
        }
    }
}
