//! `synth planners`: the registry.

use clap::Args;
use collsynth::plan::planners;
use collsynth::report::table::Table;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;

/// List the planners
#[derive(Args)]
pub struct PlannersCommand {}

impl PlannersCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut table = Table::new(&[]);
        for planner in planners() {
            let mark = if planner.is_baseline() { "baseline: " } else { "" };
            let summary = format!("{mark}{}", planner.summary());
            table.row([planner.name().to_owned(), summary]);
        }
        output::print(&table.to_string())?;
        Ok(Ending::Success)
    }
}
