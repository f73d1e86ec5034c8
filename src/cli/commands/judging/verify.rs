//! `synth verify`: judges schedule files and rank program files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use collsynth::bound;
use collsynth::certificate::Bounds;
use collsynth::judge::{FileOptions, FileVerdict, Form};
use collsynth::problem::Problem;
use collsynth::report::diagnostics;
use collsynth::verdict::Verdict;
use collsynth::verify::Options;
use serde_json::json;

use super::shrink::Shrinking;
use crate::cli::arguments::elsewhere::{Elsewhere, ElsewhereOptions};
use crate::cli::arguments::size;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::input;
use crate::cli::io::output::Output;
use crate::cli::io::progress::Ticker;
use crate::cli::options::quantity::parse_duration;
use crate::cli::options::suggest::Spelled;
use crate::cli::options::{Given, What};

/// Judge schedules, rank programs and jobs of any planner
///
/// Executes each schedule symbolically and recomputes the bounds it claims; of a rank program, judges every
/// interleaving. With --topology or --fail, on that machine. Exit code 0 if all hold, 1 if one is refuted, 2 if one
/// cannot be read, whatever the verdict on the others.
#[derive(Args)]
pub struct VerifyCommand {
    /// Schedules, rank programs or jobs (- for standard input, .gz accepted)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// List at most this many violations, and as many warnings, per file; the totals are always complete
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = Options::default().max_errors)]
    max_errors: usize,
    #[command(flatten)]
    elsewhere: ElsewhereOptions,
    /// With --topology: the machine's rank for each rank of the program, in order [default: the same]
    #[arg(long, value_name = "RANKS", value_delimiter = ',', value_parser = parse_mapped)]
    rank_map: Vec<u32>,
    /// Refuse rank programs in which two transfers may share a link at a time, even if they do not claim to be free of
    /// contention (schedules always must be)
    #[arg(long)]
    contention_free: bool,
    /// Find bounds for schedules that state none, as planning does (rank programs and schedules with bounds are judged
    /// as they are)
    #[arg(long)]
    bounds: bool,
    /// The form of the verdicts
    #[arg(long, value_parser = Spelled::<VerdictFormat>::default(), default_value = "text")]
    format: VerdictFormat,
    /// Write a smallest part of one refuted file that still violates the first rule it violates; every remaining chunk
    /// move (of a program: every operation) is needed for that
    #[arg(long)]
    shrink: bool,
    /// Write the verdicts (with --shrink, the smallest part) to this file (.gz: compressed), not to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// With --shrink: stop after this time (30s, 5m) with the smallest part so far
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
}

/// Who reads the verdicts.
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

impl VerifyCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let elsewhere = self.elsewhere.read()?;
        let format = given.form("format").unwrap_or(self.format);
        let options = self.options(format)?;
        if self.shrink {
            return self.shrink(&options, &elsewhere, given);
        }
        let mut out = Output::to(&self.output);
        let mut worst = Verdict::Holds;
        let mut all = Vec::new();
        for path in &self.files {
            let ticker = Ticker::new(false, &format!("verifying {}", path.display()));
            let (verdict, anew) = judge(path, &options, &elsewhere, given)?;
            ticker.finish();
            worst = worst.max(verdict.verdict);
            match options.form {
                Form::Text => out.write(&verdict.text)?,
                Form::Json => all.push(verdict.json),
            }
            if let Some(command) = anew {
                note(&format!("hint: `{command}` plans it anew for this machine"));
            }
        }
        match format {
            VerdictFormat::Text => {}
            VerdictFormat::Json => out.write(&format!("{:#}\n", json!({ "files": all })))?,
            VerdictFormat::Sarif => out.write(&format!("{:#}\n", diagnostics::sarif(&all)))?,
            VerdictFormat::Github => out.write(&diagnostics::github(&all))?,
        }
        out.finish()?;
        Ok(match worst {
            Verdict::Holds => Ending::Success,
            Verdict::Refuted => Ending::Refuted,
            Verdict::NotJudged => Ending::Usage,
        })
    }

    fn options(&self, format: VerdictFormat) -> Result<FileOptions<'_>, Failure> {
        let form = if format == VerdictFormat::Text { Form::Text } else { Form::Json };
        Ok(FileOptions {
            max_errors: self.max_errors,
            contention_free: self.contention_free,
            machine: None,
            rank_map: &self.rank_map,
            bounds: self.bounds.then_some(find_bounds),
            limits: input::limits()?,
            form,
        })
    }

    fn shrink(&self, options: &FileOptions<'_>, elsewhere: &Elsewhere<'_>, given: &Given) -> Result<Ending, Failure> {
        let [path] = self.files.as_slice() else {
            return Err(Failure::usage("--shrink takes one file"));
        };
        let shrinking = Shrinking { path, output: &self.output, time_limit: self.time_limit, given, elsewhere };
        shrinking.run(|program, text, machine| {
            let options = FileOptions { machine, ..*options };
            let machine = options.machine_for(program).map_err(|error| Failure::usage(error.to_string()))?;
            shrinking.program(program, &options.audit_options(machine.as_ref(), text))
        })
    }
}

/// A rank of `--rank-map`.
fn parse_mapped(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| {
        "write the ranks, as in 3,1,0,2 (if --renumber numbered them, the column `was` of its file)".to_owned()
    })
}

/// Bounds for a schedule that states none, as planning finds them; none where there can be no schedule.
///
/// # Errors
///
/// If the machine is too large for them.
pub fn find_bounds(problem: &Problem) -> Result<Bounds, String> {
    size::check_ranks(problem.topology()).map_err(|failure| format!("--bounds: {}", failure.message()))?;
    Ok(bound::find(problem).unwrap_or_default())
}

/// Judges a file, if all that was typed applies to it; and the command that plans a refuted one anew for the machine
/// that was given.
fn judge(
    path: &Path,
    options: &FileOptions<'_>,
    elsewhere: &Elsewhere<'_>,
    given: &Given,
) -> Result<(FileVerdict, Option<String>), Failure> {
    let name = path.display().to_string();
    let text = match input::read_text(path) {
        Ok(text) => text,
        Err(failure) => return Ok((FileVerdict::unreadable(&name, failure.message()), None)),
    };
    if let Err(failure) = given.file(What::of(&text)) {
        return Ok((FileVerdict::not_judged(&name, failure.message()), None));
    }
    let machine = elsewhere.machine(&text)?;
    let verdict = FileOptions { machine: machine.as_ref(), ..*options }.judge_text(&name, &text);
    let refuted = machine.filter(|_| verdict.verdict == Verdict::Refuted);
    let anew = refuted.and_then(|machine| elsewhere.anew(path, &text, &machine));
    Ok((verdict, anew))
}
