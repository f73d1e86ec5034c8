//! From the bytes of a file to its verdict: what `synth-verify` and `synth verify` do with each file.

use std::path::Path;

use serde_json::{Value, json};

use crate::audit::{self, Machine, RankMapError, audit};
use crate::file;
use crate::guard::limits::Limits;
use crate::guard::shown::shown;
use crate::json::{self, ParseError};
use crate::report::audit::{Audited, Source};
use crate::report::excerpt::{excerpt, marked};
use crate::report::foreign::foreign;
use crate::report::job::JudgedJob;
use crate::report::verdict::Judged;
use crate::verdict::{NotJudged, Verdict};
use crate::verify::{self, verify, verify_job};
use collsynth_core::certificate::Bounds;
use collsynth_core::problem::{Problem, ProblemError};
use collsynth_core::program::Program;
use collsynth_core::schedule::{AnySolution, Job};
use collsynth_core::topology::{RankId, Topology};

/// How files are judged.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions<'a> {
    /// The most violations, and the most warnings, listed per file; the totals are always complete.
    pub max_errors: usize,
    /// Refuse rank programs in which two transfers may share a link, even if they do not claim otherwise.
    pub contention_free: bool,
    /// Judge on this machine instead of the one that the file states: the same one with other failures, say. What a
    /// schedule or a job claims of bounds is left out there.
    pub machine: Option<&'a Topology>,
    /// The rank of that machine for each rank of a program; empty: the same.
    pub rank_map: &'a [u32],
    /// Finds bounds for schedules that state none, or says why it does not; the judge checks them like any others.
    pub bounds: Option<FindBounds>,
    /// How large files may be, and what judging them may take.
    pub limits: Limits,
    /// The form of the verdict.
    pub form: Form,
}

/// Finds bounds of a problem, or says why it does not.
pub type FindBounds = fn(&Problem) -> Result<Bounds, String>;

/// The form of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines for people.
    Text,
    /// A JSON object.
    Json,
}

/// A file's verdict in the chosen form; the other form is empty.
#[derive(Clone, Debug)]
pub struct FileVerdict {
    /// The verdict itself.
    pub verdict: Verdict,
    /// Lines for people.
    pub text: String,
    /// The JSON object.
    pub json: Value,
}

impl Default for FileOptions<'_> {
    fn default() -> Self {
        let max_errors = verify::Options::default().max_errors;
        Self {
            max_errors,
            contention_free: false,
            machine: None,
            rank_map: &[],
            bounds: None,
            limits: Limits::default(),
            form: Form::Text,
        }
    }
}

impl FileOptions<'_> {
    /// Reads a schedule, a job or a rank program (`-`: standard input; gzip is unpacked) and judges it.
    pub fn judge(&self, path: &Path) -> FileVerdict {
        let name = path.display().to_string();
        match file::read_text(path, self.limits.file) {
            Ok(text) => self.judge_text(&name, &text),
            Err(error) => FileVerdict::unreadable(&name, &error.to_string()),
        }
    }

    /// Judges the text of a schedule, a job or a rank program; `name` is only quoted.
    pub fn judge_text(&self, name: &str, text: &str) -> FileVerdict {
        if !self.rank_map.is_empty() && !json::is_program(text) {
            return FileVerdict::not_judged(name, "a rank map is for rank programs");
        }
        let verdict = if json::is_program(text) {
            json::parse_program_within(text, &self.limits).map(|program| self.judge_program(name, text, &program))
        } else if json::is_job(text) {
            json::parse_job_within(text, &self.limits).map(|job| self.judge_job(name, text, &job))
        } else {
            json::parse_stated_within(text, &self.limits).map(|solution| match self.moved(solution) {
                Ok(solution) => self.judge_schedule(name, text, solution),
                Err(error) => FileVerdict::not_judged(name, &error.to_string()),
            })
        };
        verdict.unwrap_or_else(|error| match foreign(text) {
            Some(what) => FileVerdict::unreadable(name, what),
            None => unreadable(name, text, error),
        })
    }

    /// Judges a schedule in the form in which it is stated.
    fn judge_schedule(&self, name: &str, text: &str, mut solution: AnySolution) -> FileVerdict {
        if let Some(find) = self.bounds.filter(|_| solution.bounds == Bounds::default()) {
            solution.bounds = match find(&solution.problem) {
                Ok(bounds) => bounds,
                Err(why) => return FileVerdict::not_judged(name, &why),
            };
        }
        let memory = self.limits.room(text);
        let report = verify(&solution, &verify::Options { max_errors: self.max_errors, memory });
        if let Some(why) = report.why_not_judged() {
            return not_judged(name, &why);
        }
        let judged = Judged { name, text, solution: &solution, report: &report };
        self.verdict(report.verdict(), || judged.to_text(), || judged.to_json())
    }

    fn judge_job(&self, name: &str, text: &str, job: &Job) -> FileVerdict {
        let moved = match self.machine.map(|machine| job.on(machine)).transpose() {
            Ok(moved) => moved,
            Err(error) => return FileVerdict::not_judged(name, &error.to_string()),
        };
        let job = moved.as_ref().unwrap_or(job);
        let report = verify_job(job, &verify::Options { max_errors: self.max_errors, memory: self.limits.room(text) });
        if let Some(why) = report.why_not_judged() {
            return not_judged(name, &why);
        }
        let judged = JudgedJob { name, text, job, report: &report };
        self.verdict(report.verdict(), || judged.to_text(), || judged.to_json())
    }

    fn judge_program(&self, name: &str, text: &str, program: &Program) -> FileVerdict {
        let machine = match self.machine_for(program) {
            Ok(machine) => machine,
            Err(error) => return FileVerdict::not_judged(name, &error.to_string()),
        };
        let report = audit(program, &self.audit_options(machine.as_ref(), text));
        if let Some(why) = report.why_not_judged() {
            return not_judged(name, &why);
        }
        let audited = Audited { name, source: Source::Program(text), program, report: &report };
        self.verdict(report.verdict(), || audited.to_text(), || audited.to_json())
    }

    /// A schedule on the machine that was given.
    fn moved(&self, solution: AnySolution) -> Result<AnySolution, ProblemError> {
        match self.machine {
            Some(machine) => solution.on(machine.clone()),
            None => Ok(solution),
        }
    }

    /// The machine that was given, with a rank of it for each rank of a program.
    ///
    /// # Errors
    ///
    /// If the rank map does not fit both.
    pub fn machine_for(&self, program: &Program) -> Result<Option<Machine<'_>>, RankMapError> {
        let rank_map: Vec<RankId> = self.rank_map.iter().copied().map(RankId).collect();
        self.machine.map(|topology| Machine::new(program, topology, &rank_map)).transpose()
    }

    /// How the program in a text is audited, on the machine of [`FileOptions::machine_for`].
    pub fn audit_options<'b>(&self, machine: Option<&'b Machine<'b>>, text: &str) -> audit::AuditOptions<'b> {
        let memory = self.limits.room(text);
        audit::AuditOptions { max_errors: self.max_errors, machine, contention_free: self.contention_free, memory }
    }

    fn verdict(&self, verdict: Verdict, text: impl Fn() -> String, json: impl Fn() -> Value) -> FileVerdict {
        match self.form {
            Form::Text => FileVerdict { verdict, text: text(), json: Value::Null },
            Form::Json => FileVerdict { verdict, text: String::new(), json: json() },
        }
    }
}

impl FileVerdict {
    /// The verdict on a file that cannot be read, for a reason that has no place in it.
    pub fn unreadable(name: &str, why: &str) -> Self {
        Self::none(name, "unreadable", why)
    }

    /// The verdict on a file that can be read, but not be judged as it was asked for.
    pub fn not_judged(name: &str, why: &str) -> Self {
        Self::none(name, "not judged", why)
    }

    fn none(name: &str, heading: &str, why: &str) -> Self {
        Self {
            verdict: Verdict::NotJudged,
            text: format!("{}: {heading}\n  {why}\n", shown(name)),
            json: json!({ "file": name, "verdict": Verdict::NotJudged.to_string(), "message": why }),
        }
    }
}

/// The verdict on a file that is neither vouched for nor refuted.
fn not_judged(name: &str, why: &NotJudged) -> FileVerdict {
    let mut verdict = FileVerdict::not_judged(name, &why.to_string());
    if let Some(code) = &why.code {
        verdict.json["code"] = json!(code);
    }
    verdict
}

fn unreadable(name: &str, source: &str, error: ParseError) -> FileVerdict {
    let ParseError { code, line, column, message } = error;
    let json = json!({
        "file": name,
        "verdict": Verdict::NotJudged.to_string(),
        "code": code.to_string(),
        "line": line,
        "column": column,
        "message": message,
        "excerpt": excerpt(source, (line, column)).map(|(text, _)| text),
    });
    let (lines, name) = (marked(source, (line, column)), shown(name));
    let text = format!("{name}: unreadable\n  {name}:{line}:{column}: {code}: {message}\n{lines}");
    FileVerdict { verdict: Verdict::NotJudged, text, json }
}
