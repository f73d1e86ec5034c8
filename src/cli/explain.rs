//! `synth explain`: what the verifier's codes mean.

use clap::Args;
use collsynth::audit;
use collsynth::report::table::Table;
use collsynth::verify::Code;

use super::{Ending, Failure, output};

/// The longest line of an explanation.
const LINE: usize = 96;

/// Explain a code of the verifier; without one, list them all
#[derive(Args)]
pub struct ExplainCommand {
    /// The code: D001
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

impl ExplainCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Ending, Failure> {
        let text = match &self.code {
            None => list(),
            Some(text) => explain(text)?,
        };
        output::print(&text)?;
        Ok(Ending::Success)
    }
}

fn explain(text: &str) -> Result<String, Failure> {
    if let Some(code) = program_codes().find(|code| code.to_string().eq_ignore_ascii_case(text)) {
        return Ok(format!("{code}: {}\n\n{}", code.title(), wrapped(code.explanation())));
    }
    let code: Code = text.to_ascii_uppercase().parse().map_err(|_| {
        Failure::usage(format!("`{text}` is no code")).hint("`synth explain` without a code lists them all")
    })?;
    Ok(format!("{code}: {}\n\n{}", code.title(), wrapped(code.explanation())))
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
    for code in Code::ALL {
        table.row([code.to_string(), code.title().to_owned()]);
    }
    for code in program_codes() {
        table.row([code.to_string(), code.title().to_owned()]);
    }
    table.to_string()
}

/// The codes that only rank programs have.
fn program_codes() -> impl Iterator<Item = audit::Code> {
    audit::Code::ALL.iter().copied().filter(|code| code.of_schedules().is_none())
}
