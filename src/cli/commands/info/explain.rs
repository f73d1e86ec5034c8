//! `synth explain`: what the verifier's codes mean.

use std::path::PathBuf;

use clap::Args;
use collsynth::explain::{Explanation, explanation, explanations};
use collsynth::report::table::Table;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;

/// The longest line of an explanation.
const LINE: usize = 96;

/// Explain a code of the verifier; without one, list them all
#[derive(Args)]
pub struct ExplainCommand {
    /// The code: D001
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl ExplainCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let text = match &self.code {
            None => list(),
            Some(text) => explain(text)?,
        };
        output::deliver(&self.output, &text)?;
        Ok(Ending::Success)
    }
}

fn explain(text: &str) -> Result<String, Failure> {
    let Explanation { code, title, text } = explanation(text).ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a code")).hint("`synth explain` without a code lists them all")
    })?;
    Ok(format!("{code}: {title}\n\n{}", wrapped(text)))
}

/// The words of a text in lines of at most [`LINE`] letters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > LINE {
            lines.push('\n');
            length = 0;
        }
        if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += letters;
    }
    lines.push('\n');
    lines
}

fn list() -> String {
    let mut table = Table::new(&[]);
    for Explanation { code, title, .. } in explanations() {
        table.row([code.to_owned(), title.to_owned()]);
    }
    table.to_string()
}
