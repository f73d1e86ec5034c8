//! `synth view`: schedules, rank programs and jobs as a page for a browser.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use collsynth::audit::audit;
use collsynth::judge::FileOptions;
use collsynth::topology::Topology;
use collsynth::verdict::{NotJudged, Verdict};
use collsynth::verify::{Options, verify, verify_job};
use collsynth::view::page::Page;

use crate::cli::arguments::elsewhere::{Elsewhere, ElsewhereOptions};
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
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
/// a job, stand side by side, in step. With --topology or --fail, the page shows what breaks on that machine.
#[derive(Args)]
pub struct ViewCommand {
    /// Schedule, rank program or job files (- for standard input, .gz accepted)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    elsewhere: ElsewhereOptions,
    /// Write the page to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ViewCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let elsewhere = self.elsewhere.read()?;
        let mut page = Page::default();
        let mut ending = Ending::Success;
        for path in &self.files {
            if !add(&mut page, path, &elsewhere)? {
                ending = Ending::Refuted;
            }
        }
        output::deliver_file(self.output.as_deref(), &page.to_html(), "page")?;
        Ok(ending)
    }
}

/// Judges a file and adds it to the page; false if it is refuted.
fn add(page: &mut Page, path: &Path, elsewhere: &Elsewhere<'_>) -> Result<bool, Failure> {
    let reading = Reading::of(path)?;
    let machine = elsewhere.machine(&reading.text)?;
    let before = page.len();
    let verdict = match reading.what() {
        What::Program => add_program(page, &reading, path, machine.as_ref())?,
        What::Job => add_job(page, &reading, path, machine.as_ref())?,
        What::Schedule => add_schedule(page, &reading, path, machine.as_ref())?,
    };
    if verdict == Verdict::Refuted {
        note(&format!("{}: refuted; the page shows where", path.display()));
    }
    if let Some(machine) = &machine {
        let anew = elsewhere.anew(path, &reading.text, machine).filter(|_| verdict == Verdict::Refuted);
        page.elsewhere(before, machine, anew.as_deref());
        if let Some(command) = anew {
            note(&format!("hint: `{command}` plans it anew for this machine"));
        }
    }
    Ok(verdict == Verdict::Holds)
}

fn add_program(
    page: &mut Page,
    reading: &Reading<'_>,
    path: &Path,
    machine: Option<&Topology>,
) -> Result<Verdict, Failure> {
    let program = reading.program()?;
    let options = FileOptions { machine, max_errors: MOST_FINDINGS, limits: reading.limits, ..FileOptions::default() };
    let machine = options.machine_for(&program).map_err(|error| not_judged(path, &error))?;
    let report = audit(&program, &options.audit_options(machine.as_ref(), &reading.text));
    check_judged(path, report.why_not_judged())?;
    page.program(&name(path), &reading.text, &program, &report);
    Ok(report.verdict())
}

fn add_schedule(
    page: &mut Page,
    reading: &Reading<'_>,
    path: &Path,
    machine: Option<&Topology>,
) -> Result<Verdict, Failure> {
    let mut stated = reading.stated()?;
    if let Some(machine) = machine {
        stated = stated.on(machine.clone()).map_err(|error| not_judged(path, &error))?;
    }
    let options = Options { max_errors: MOST_FINDINGS, memory: reading.room() };
    // The findings on the compact form are those on every move.
    let report = verify(&stated, &options);
    check_judged(path, report.why_not_judged())?;
    page.schedule(&name(path), &reading.text, &reading.expand_stated(stated, MOVE_BYTES)?, &report);
    Ok(report.verdict())
}

fn add_job(
    page: &mut Page,
    reading: &Reading<'_>,
    path: &Path,
    machine: Option<&Topology>,
) -> Result<Verdict, Failure> {
    let mut job = reading.job()?;
    if let Some(machine) = machine {
        job = job.on(machine).map_err(|error| not_judged(path, &error))?;
    }
    let report = verify_job(&job, &Options { max_errors: MOST_FINDINGS, memory: reading.room() });
    check_judged(path, report.why_not_judged())?;
    page.job(&name(path), &reading.text, &job, &report);
    Ok(report.verdict())
}

fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

fn check_judged(path: &Path, why_not: Option<NotJudged>) -> Result<(), Failure> {
    why_not.map_or(Ok(()), |why| Err(not_judged(path, &why)))
}

fn not_judged(path: &Path, why: &dyn Display) -> Failure {
    Failure::usage(format!("{}: {why}", path.display()))
}
