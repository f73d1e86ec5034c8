//! `synth view`: schedules and rank programs as a page for a browser.

use std::path::{Path, PathBuf};

use clap::Args;
use collsynth::audit::audit;
use collsynth::format::json;
use collsynth::judge::FileOptions;
use collsynth::problem::Problem;
use collsynth::verify::{Options, verify};
use collsynth::view::page::Page;

use super::{Ending, Failure, input, output, show};

/// The most findings a page lists.
const MOST_FINDINGS: usize = 200;

/// Draw schedules and rank programs as one page for a browser
///
/// The page holds everything: it opens from disk, without network or server. Files are judged first, and refuted ones
/// are drawn too, each violation at its place; the exit code is that of `synth verify`. Several schedules stand side by
/// side, in step.
#[derive(Args)]
pub struct ViewCommand {
    /// Schedule or rank program files (- for standard input, .gz accepted)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the page to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ViewCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut page = Page::default();
        let mut ending = Ending::Success;
        for path in &self.files {
            if !add(&mut page, path)? {
                ending = Ending::Refuted;
            }
        }
        output::deliver_file(self.output.as_deref(), &page.to_html(), "page")?;
        Ok(ending)
    }
}

fn refuse_groups(path: &Path, problem: &Problem) -> Result<(), Failure> {
    match problem.groups() {
        None => Ok(()),
        Some(_) => Err(Failure::usage(format!("{}: the page does not show groups of ranks yet", path.display()))
            .hint("`synth show` prints the steps, and `synth verify` judges them")),
    }
}

/// Judges a file and adds it to the page; false if it is refuted.
fn add(page: &mut Page, path: &Path) -> Result<bool, Failure> {
    let text = input::read_text(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let options = FileOptions { max_errors: MOST_FINDINGS, limits: input::limits()?, ..FileOptions::default() };
    let (holds, not_judged) = if json::is_program(&text) {
        let program = show::parse_program(path, &text)?;
        refuse_groups(path, &program.problem)?;
        let report = audit(&program, &options.audit_options(None, &text));
        page.program(&name, &text, &program, &report);
        (report.holds(), report.not_judged())
    } else {
        let solution = show::parse(path, &text)?;
        refuse_groups(path, &solution.problem)?;
        let report = verify(&solution, &Options { max_errors: MOST_FINDINGS, memory: options.limits.room(&text) });
        page.schedule(&name, &text, &solution, &report);
        (report.holds(), report.not_judged().map(|why| why.to_string()))
    };
    match not_judged {
        Some(why) => Err(Failure::usage(format!("{}: {why}", path.display()))),
        None => Ok(holds),
    }
}
