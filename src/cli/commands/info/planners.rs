//! `synth planners`: the registry.

use std::path::PathBuf;

use clap::Args;
use collsynth::plan::planners;
use collsynth::report::table::Table;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;

/// List the planners
#[derive(Args)]
pub struct PlannersCommand {
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl PlannersCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut table = Table::new(&[]);
        for planner in planners() {
            let mark = if planner.is_baseline() { "baseline: " } else { "" };
            let summary = format!("{mark}{}", planner.summary());
            table.row([planner.name().to_owned(), summary]);
        }
        output::deliver(&self.output, &table.to_string())?;
        Ok(Ending::Success)
    }
}
