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
            table.row([planner.name().to_owned(), planner.summary().to_owned()]);
        }
        output::print(&table.to_string())?;
        Ok(Ending::Success)
    }
}
