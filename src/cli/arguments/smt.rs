//! The options of the SMT planner.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use collsynth::plan::{Minimize, Smt, SmtBackend};

use crate::cli::options::suggest::OneOf;

/// What only the planner smt reads.
#[derive(Args)]
#[command(next_help_heading = "Planner smt")]
pub struct SmtOptions {
    /// At most this total width, the sum of the widths of all steps
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
    /// What counts first, `volume` (unless stated) or `steps`
    #[arg(long, alias = "minimise", value_name = "WHAT", hide_possible_values = true, value_parser = objective())]
    minimize: Option<Minimize>,
    /// Who solves the formulas, `cadical` (unless stated) or `z3`, in builds that have it
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = backend())]
    smt_backend: Option<SmtBackend>,
    /// Where there is no schedule of these --steps and --width, write the proof to this file (LRAT if it is named
    /// .lrat, else DRAT), and the refuted formula to FILE.cnf
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
}

/// An objective, for clap, in any spelling.
fn objective() -> impl TypedValueParser<Value = Minimize> {
    OneOf::new("objective", vec!["volume", "steps"]).try_map(|name| name.parse::<Minimize>())
}

/// A backend, for clap, in any spelling.
pub fn backend() -> impl TypedValueParser<Value = SmtBackend> {
    OneOf::new("backend", vec!["cadical", "z3"]).try_map(|name| name.parse::<SmtBackend>())
}

impl SmtOptions {
    /// The SMT planner with these options.
    pub fn planner(&self) -> Smt {
        Smt {
            backend: self.smt_backend.unwrap_or_default(),
            minimize: self.minimize.unwrap_or_default(),
            width: self.width,
        }
    }

    /// The options that shape the schedule, as they would be typed again; defaults are left out.
    pub fn words(&self) -> Vec<String> {
        let option = |name: &str, value: Option<String>| value.map(|value| [name.to_owned(), value]);
        let words = [
            option("--width", self.width.map(|width| width.to_string())),
            option("--minimize", self.minimize.map(|what| what.to_string())),
            option("--smt-backend", self.smt_backend.map(|backend| backend.to_string())),
        ];
        words.into_iter().flatten().flatten().collect()
    }
}
