//! `synth util manual`: pages for man.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;

/// Write manual pages, one for each command, into a folder: man -l FOLDER/synth.1
#[derive(Args)]
pub struct ManualCommand {
    /// The folder, made if it is missing
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl ManualCommand {
    /// Runs the command: the pages are those of `all`.
    pub fn run(&self, mut all: Command) -> Result<Ending, Failure> {
        fs::create_dir_all(&self.folder)
            .map_err(|error| Failure::usage(format!("cannot write in {}: {error}", self.folder.display())))?;
        all.build();
        let commands: Vec<Command> =
            all.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
        for command in std::iter::once(all).chain(commands) {
            let name = command.get_bin_name().unwrap_or("synth").replace(' ', "-");
            let mut page = Vec::new();
            clap_mangen::Man::new(command).title(name.clone()).render(&mut page).expect("memory takes any page");
            output::write_file(&self.folder.join(format!("{name}.1")), &page)?;
        }
        Ok(Ending::Success)
    }
}
