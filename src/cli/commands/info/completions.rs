//! `synth util completions`: completion scripts for shells.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;

/// Print a completion script for a shell
#[derive(Args)]
pub struct CompletionsCommand {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl CompletionsCommand {
    /// Runs the command: the script completes `all`.
    pub fn run(&self, mut all: Command) -> Result<Ending, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut all, "synth", &mut script);
        output::deliver(&self.output, &String::from_utf8_lossy(&script))?;
        Ok(Ending::Success)
    }
}
