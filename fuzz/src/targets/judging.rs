//! What is done with what was read: judged, refuted for a reason, shrunk.

use std::cell::Cell;

use collsynth_core::program::Program;
use collsynth_core::schedule::Solution;
use collsynth_verify::audit::{AuditOptions, audit};
use collsynth_verify::judge::{FileOptions, Form};
use collsynth_verify::limits::Limits;
use collsynth_verify::shrink::{shrink_program, shrink_solution};
use collsynth_verify::verdict::Verdict;
use collsynth_verify::verify::{Options, verify};

/// Violations listed; few, as an input may have any number.
const LISTED: usize = 8;

/// Questions whether to stop that shrinking is answered with no.
const PATIENCE: u32 = 200;

/// The verdict in both forms is the same one.
pub fn judge(text: &str) {
    let options = FileOptions { max_errors: LISTED, ..FileOptions::default() };
    let verdicts = [Form::Text, Form::Json].map(|form| {
        let verdict = FileOptions { form, ..options }.judge_text("input", text);
        let raw = verdict.text.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(raw, None, "a control character reaches the terminal");
        verdict.verdict
    });
    assert_eq!(verdicts[0], verdicts[1], "both forms give one verdict");
}

/// Does it hold?
pub fn execute(solution: &Solution, text: &str) -> bool {
    let report = verify(solution, &options(text));
    if report.verdict() == Verdict::NotJudged {
        return false;
    }
    let shrunk = shrink_solution(solution, &impatient());
    assert!(report.verdict() != Verdict::Holds || shrunk.is_err(), "what holds has no wrong part");
    report.verdict() == Verdict::Holds
}

/// Audits a program, strictly and not.
pub fn run(program: &Program, text: &str) {
    let memory = Limits::default().room(text);
    let options = AuditOptions { max_errors: LISTED, machine: None, contention_free: true, memory };
    let strict = audit(program, &options);
    let report = audit(program, &AuditOptions { contention_free: false, ..options });
    if [&strict, &report].iter().any(|report| report.verdict() == Verdict::NotJudged) {
        return;
    }
    assert!(
        report.verdict() == Verdict::Holds || strict.verdict() != Verdict::Holds,
        "a stricter audit does not accept more"
    );
    let shrunk = shrink_program(program, &options, &impatient());
    assert!(strict.verdict() != Verdict::Holds || shrunk.is_err(), "what holds has no wrong part");
}

pub fn options(text: &str) -> Options {
    Options { max_errors: LISTED, memory: Limits::default().room(text) }
}

fn impatient() -> impl Fn() -> bool {
    let asked = Cell::new(0);
    move || {
        asked.set(asked.get() + 1);
        asked.get() > PATIENCE
    }
}
