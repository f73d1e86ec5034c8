//! `synth completions`: completion scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Ending, Failure, output};

/// Print a completion script for a shell
#[derive(Args)]
pub struct CompletionsCommand {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "synth", &mut script);
        output::print(&String::from_utf8_lossy(&script))?;
        Ok(Ending::Success)
    }
}
