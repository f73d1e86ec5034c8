//! `synth planners`: the registry.

use std::path::PathBuf;

use clap::Args;
use collsynth::plan::{AutoUse, Planner, planners};
use collsynth::report::table::Table;
use serde_json::{Value, json};

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output::Format;
use crate::cli::options::Given;
use crate::cli::options::suggest::Spelled;

/// List the planners
#[derive(Args)]
pub struct PlannersCommand {
    /// text: a line for each; json: also the kinds, groups and machines that each plans for
    #[arg(long, value_parser = Spelled::<Format>::default(), default_value = "text")]
    format: Format,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl PlannersCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let format = given.form("format").unwrap_or(self.format);
        let all = || planners().iter().copied();
        format.deliver(
            &self.output,
            || to_text(all()),
            || json!({ "planners": all().map(entry).collect::<Vec<_>>() }),
        )?;
        Ok(Ending::Success)
    }
}

fn to_text(planners: impl Iterator<Item = &'static dyn Planner>) -> String {
    let mut table = Table::new(&[]);
    for planner in planners {
        let mark = if planner.is_baseline() { "baseline: " } else { "" };
        table.row([planner.name().to_owned(), format!("{mark}{}", planner.summary())]);
    }
    table.to_string()
}

fn entry(planner: &dyn Planner) -> Value {
    let scope = planner.scope();
    json!({
        "name": planner.name(),
        "summary": planner.summary(),
        "baseline": planner.is_baseline(),
        "auto": planner.auto_use() == AutoUse::Always,
        "kinds": scope.kinds,
        "kinds_in_groups": scope.groups,
        "machines": scope.machines.name(),
    })
}
