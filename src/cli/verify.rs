//! `synth verify`: judges schedule files and rank program files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use synth::audit::{self, audit};
use synth::format::{file, json};
use synth::program::Program;
use synth::report::audit::{Audited, Source};
use synth::report::diagnostics;
use synth::report::excerpt::{excerpt, marked};
use synth::report::verdict::Judged;
use synth::topology::{RankId, Topology};
use synth::verify::{Options, verify};

use super::output::Output;
use super::quantity::parse_duration;
use super::shrink::Shrinking;
use super::topology_options::read_machine;
use super::{Ending, Failure};

/// Judge schedules and rank programs, whoever made them
///
/// Executes each schedule symbolically and recomputes the bounds it claims; of a rank program, judges every interleaving.
/// Exit code 0 if all hold, 1 if one is refuted, 2 if one cannot be read (whatever the others are).
#[derive(Args)]
pub struct VerifyCommand {
    /// Schedule files (- for standard input, .gz accepted)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// List so many violations, and as many warnings, of each file; the totals are always complete
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = Options::default().max_errors)]
    max_errors: usize,
    /// For rank programs: check their links against this machine (a topology file) instead of the one they name
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// With --topology: the rank of the machine that each rank of the program is, in order; else they are the same
    #[arg(long, value_name = "RANKS", value_delimiter = ',', requires = "topology")]
    rank_map: Vec<u32>,
    /// Refuse rank programs in which two transfers may be on one link at a time, even if they do not claim to be free of
    /// contention (schedules always have to be)
    #[arg(long)]
    contention_free: bool,
    /// The form of the verdicts
    #[arg(long, value_enum, default_value = "text")]
    format: VerdictFormat,
    /// Of one file that is refuted: write a smallest part that still violates the first rule it violates; every chunk
    /// move (of a program: every operation) that is left is needed for that
    #[arg(long, conflicts_with_all = ["format", "max_errors"])]
    shrink: bool,
    /// With --shrink: write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", requires = "shrink", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// With --shrink: stop after this time (30s, 5m) with the smallest part so far
    #[arg(long, value_name = "TIME", requires = "shrink", value_parser = parse_duration)]
    time_limit: Option<Duration>,
}

/// For whom verdicts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum VerdictFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// GitHub's workflow commands: findings are shown beside the lines of the files
    Github,
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
        let machine = self.machine()?;
        if self.shrink {
            return self.shrink(machine.as_ref());
        }
        for path in &self.files {
            let verdict = self.judge(path, machine.as_ref());
            worst = worse(worst, verdict.ending);
            match self.format {
                VerdictFormat::Text => out.write(&verdict.text)?,
                VerdictFormat::Json | VerdictFormat::Sarif | VerdictFormat::Github => all.push(verdict.json),
            }
        }
        match self.format {
            VerdictFormat::Text => {}
            VerdictFormat::Json => out.write(&format!("{:#}\n", json!({ "files": all })))?,
            VerdictFormat::Sarif => out.write(&format!("{:#}\n", diagnostics::sarif(&all)))?,
            VerdictFormat::Github => out.write(&diagnostics::github(&all))?,
        }
        Ok(worst)
    }

    fn shrink(&self, machine: Option<&Topology>) -> Result<Ending, Failure> {
        let [path] = self.files.as_slice() else {
            return Err(Failure::usage("--shrink takes one file"));
        };
        let shrinking = Shrinking { path, output: &self.output, time_limit: self.time_limit };
        shrinking.run(|program| {
            let rank_map = self.rank_map(program);
            let machine = machine.map(|topology| audit::Machine { topology, rank_map: &rank_map });
            shrinking.program(program, &self.audit_options(machine))
        })
    }

    fn judge(&self, path: &Path, machine: Option<&Topology>) -> Verdict {
        let name = path.display().to_string();
        let text = match file::read_text(path) {
            Ok(text) => text,
            Err(error) => {
                let json = json!({ "file": name, "verdict": "unreadable", "message": error.to_string() });
                return Verdict { ending: Ending::Usage, text: format!("{name}: unreadable\n  {error}\n"), json };
            }
        };
        if json::is_program(&text) {
            return match json::parse_program(&text) {
                Ok(program) => self.judge_program(&name, &text, &program, machine),
                Err(error) => unreadable(&name, &text, error),
            };
        }
        let solution = match json::parse_solution(&text) {
            Ok(solution) => solution,
            Err(error) => return unreadable(&name, &text, error),
        };
        let report = verify(&solution, &Options { max_errors: self.max_errors });
        let judged = Judged { name: &name, text: &text, solution: &solution, report: &report };
        let ending = if report.holds() { Ending::Success } else { Ending::Refuted };
        match self.format {
            VerdictFormat::Text => Verdict { ending, text: judged.to_text(), json: Value::Null },
            _ => Verdict { ending, text: String::new(), json: judged.to_json() },
        }
    }

    /// Judges a program on the machine that was given, or its own.
    fn judge_program(&self, name: &str, text: &str, program: &Program, machine: Option<&Topology>) -> Verdict {
        let rank_map = self.rank_map(program);
        let machine = machine.map(|topology| audit::Machine { topology, rank_map: &rank_map });
        let report = audit(program, &self.audit_options(machine));
        let audited = Audited { name, source: Source::Program(text), program, report: &report };
        let ending = if report.holds() { Ending::Success } else { Ending::Refuted };
        match self.format {
            VerdictFormat::Text => Verdict { ending, text: audited.to_text(), json: Value::Null },
            _ => Verdict { ending, text: String::new(), json: audited.to_json() },
        }
    }

    fn audit_options<'a>(&self, machine: Option<audit::Machine<'a>>) -> audit::Options<'a> {
        audit::Options { max_errors: self.max_errors, machine, contention_free: self.contention_free }
    }

    /// For each rank of a program, the rank of the machine that it is.
    fn rank_map(&self, program: &Program) -> Vec<RankId> {
        match self.rank_map.as_slice() {
            [] => (0..program.rank_count() as u32).map(RankId).collect(),
            ranks => ranks.iter().copied().map(RankId).collect(),
        }
    }

    /// The machine that was given.
    fn machine(&self) -> Result<Option<Topology>, Failure> {
        let Some(path) = &self.topology else { return Ok(None) };
        Ok(Some(read_machine(path)?))
    }
}

fn unreadable(name: &str, source: &str, error: json::ParseError) -> Verdict {
    let json::ParseError { code, line, column, message } = error;
    let json = json!({
        "file": name,
        "verdict": "unreadable",
        "code": code.to_string(),
        "line": line,
        "column": column,
        "message": message,
        "excerpt": excerpt(source, (line, column)).map(|(text, _)| text),
    });
    let lines = marked(source, (line, column));
    let text = format!("{name}: unreadable\n  {name}:{line}:{column}: {code}: {message}\n{lines}");
    Verdict { ending: Ending::Usage, text, json }
}

/// A file that cannot be read outweighs a refuted one, which outweighs one that holds.
fn worse(one: Ending, other: Ending) -> Ending {
    if one as u8 >= other as u8 { one } else { other }
}
