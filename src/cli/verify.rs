//! `synth verify`: judges schedule files.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use synth::format::{file, json};
use synth::report::verdict::Judged;
use synth::verify::{Options, verify};

use super::output::Output;
use super::{Ending, Failure, Format};

/// Judge schedules, whoever made them
///
/// Executes each schedule symbolically and recomputes the bounds it claims. Exit code 0 if all hold, 1 if one is
/// refuted, 2 if one cannot be read (whatever the others are).
#[derive(Args)]
pub struct VerifyCommand {
    /// Schedule files (- for standard input, .gz accepted)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// List so many violations, and as many warnings, of each file; the totals are always complete
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = Options::default().max_errors)]
    max_errors: usize,
    /// The form of the verdicts
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// What became of a file, in the form asked for.
struct Verdict {
    ending: Ending,
    text: String,
    json: Value,
}

impl VerifyCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut out = Output::default();
        let mut worst = Ending::Success;
        let mut all = Vec::new();
        for path in &self.files {
            let verdict = self.judge(path);
            worst = worse(worst, verdict.ending);
            match self.format {
                Format::Text => out.write(&verdict.text)?,
                Format::Json => all.push(verdict.json),
            }
        }
        if self.format == Format::Json {
            out.write(&format!("{:#}\n", json!({ "files": all })))?;
        }
        Ok(worst)
    }

    fn judge(&self, path: &Path) -> Verdict {
        let name = path.display().to_string();
        let text = match file::read_text(path) {
            Ok(text) => text,
            Err(error) => {
                let json = json!({ "file": name, "verdict": "unreadable", "message": error.to_string() });
                return Verdict { ending: Ending::Usage, text: format!("{name}: unreadable\n  {error}\n"), json };
            }
        };
        let solution = match json::parse_solution(&text) {
            Ok(solution) => solution,
            Err(error) => {
                let json::ParseError { code, line, column, message } = error;
                let json = json!({
                    "file": name,
                    "verdict": "unreadable",
                    "code": code.to_string(),
                    "line": line,
                    "column": column,
                    "message": message,
                });
                let text = format!("{name}: unreadable\n  {name}:{line}:{column}: {code}: {message}\n");
                return Verdict { ending: Ending::Usage, text, json };
            }
        };
        let report = verify(&solution, &Options { max_errors: self.max_errors });
        let judged = Judged { name: &name, text: &text, solution: &solution, report: &report };
        let ending = if report.holds() { Ending::Success } else { Ending::Refuted };
        match self.format {
            Format::Text => Verdict { ending, text: judged.to_text(), json: Value::Null },
            Format::Json => Verdict { ending, text: String::new(), json: judged.to_json() },
        }
    }
}

/// A file that cannot be read outweighs a refuted one, which outweighs one that holds.
fn worse(one: Ending, other: Ending) -> Ending {
    if one as u8 >= other as u8 { one } else { other }
}
