//! `synth view`: schedules, rank programs and jobs as a page for a browser.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use collsynth::audit::audit;
use collsynth::judge::FileOptions;
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify, verify_job};
use collsynth::view::page::Page;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;
use crate::cli::io::reading::Reading;
use crate::cli::options::What;

/// What a move takes in a page while it is made, roughly.
const MOVE_BYTES: u64 = 40;
/// The most findings a page lists.
const MOST_FINDINGS: usize = 200;

/// Draw schedules, rank programs and jobs as one page for a browser
///
/// The page holds everything: it opens from disk, without network or server. Files are judged first, and refuted ones
/// are drawn too, each violation at its place; the exit code is that of `synth verify`. Several schedules, or those of
/// a job, stand side by side, in step.
#[derive(Args)]
pub struct ViewCommand {
    /// Schedule, rank program or job files (- for standard input, .gz accepted)
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

/// Judges a file and adds it to the page; false if it is refuted.
fn add(page: &mut Page, path: &Path) -> Result<bool, Failure> {
    let reading = Reading::of(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let not_judged = |why: &dyn Display| Failure::usage(format!("{}: {why}", path.display()));
    let options = FileOptions { max_errors: MOST_FINDINGS, limits: reading.limits, ..FileOptions::default() };
    if reading.is_program() {
        let program = reading.program()?;
        let report = audit(&program, &options.audit_options(None, &reading.text));
        if let Some(why) = report.why_not_judged() {
            return Err(not_judged(&why));
        }
        page.program(&name, &reading.text, &program, &report);
        return Ok(report.verdict() == Verdict::Holds);
    }
    if reading.what() == What::Job {
        let job = reading.job()?;
        let report = verify_job(&job, &Options { max_errors: MOST_FINDINGS, memory: reading.room() });
        if let Some(why) = report.why_not_judged() {
            return Err(not_judged(&why));
        }
        page.job(&name, &reading.text, &job, &report);
        return Ok(report.verdict() == Verdict::Holds);
    }
    let stated = reading.stated()?;
    let options = Options { max_errors: MOST_FINDINGS, memory: reading.room() };
    // The findings on the compact form are those on every move.
    let report = verify(&stated, &options);
    if let Some(why) = report.why_not_judged() {
        return Err(not_judged(&why));
    }
    page.schedule(&name, &reading.text, &reading.expand_stated(stated, MOVE_BYTES)?, &report);
    Ok(report.verdict() == Verdict::Holds)
}
