//! The verdict on a schedule, with the place of every finding in the file.

use std::fmt::Write;

use serde_json::{Value, json};

use super::excerpt::{excerpt, marked};
use super::figures::count;
use super::observed;
use super::overview::{figures, figures_to_json, headline};
use crate::audit::AuditedProgram;
use crate::guard::shown::shown;
use crate::json::{PathItem, job_to_string, locate, program_to_string, solution_to_string};
use crate::verdict::Verdict;
use crate::verify::{Code, Finding, Hop, Report, Verified, VerifiedJob};
use collsynth_core::schedule::{Schedule, Solution, Stated};

impl<S: Stated> Verified<Solution<S>> {
    /// The schedule as a file in JSON: what the command writes, and reads.
    pub fn to_json(&self) -> String {
        solution_to_string(self)
    }
}

impl VerifiedJob {
    /// The job as a file in JSON: what the command writes, and reads.
    pub fn to_json(&self) -> String {
        job_to_string(self)
    }
}

impl AuditedProgram {
    /// The program as a file in JSON: what the command writes, and reads.
    pub fn to_json(&self) -> String {
        program_to_string(self)
    }
}

/// A schedule that was read and judged.
#[derive(Debug)]
pub struct Judged<'a, S = Schedule> {
    /// The name of the file, as given.
    pub name: &'a str,
    /// The text of the file, to locate findings in.
    pub text: &'a str,
    /// The solution in it.
    pub solution: &'a Solution<S>,
    /// The verifier's verdict.
    pub report: &'a Report,
}

impl<S: Stated> Judged<'_, S> {
    /// The verdict in lines for people.
    pub fn to_text(&self) -> String {
        let Solution { problem, schedule, bounds, .. } = self.solution;
        let verdict = self.report.verdict();
        let holds = verdict == Verdict::Holds;
        let name = shown(self.name);
        let mut text = format!("{name}: {verdict}\n");
        let _ = writeln!(text, "  {}", headline(problem));
        if holds {
            let mut table = figures(problem, schedule, Some(bounds));
            observed::add_rows(&mut table, problem, self.report.observed.as_ref());
            text.push_str(&table.to_string());
        }
        let place = |finding: &Finding| {
            let (line, column) = self.place(finding)?;
            Some((format!("{name}:{line}:{column}"), marked(self.text, (line, column))))
        };
        text.push_str(&findings(self.report, place));
        text
    }

    /// The verdict as a JSON object.
    pub fn to_json(&self) -> Value {
        let Solution { problem, schedule, bounds, .. } = self.solution;
        let verdict = self.report.verdict();
        let holds = verdict == Verdict::Holds;
        let list = |findings: &[Finding]| -> Vec<Value> { findings.iter().map(|found| self.finding(found)).collect() };
        let totals: serde_json::Map<String, Value> =
            self.report.totals().map(|(code, total)| (code.to_string(), json!(total))).collect();
        let mut figures = figures_to_json(problem, schedule, holds.then_some(bounds));
        observed::add_json(&mut figures, self.report.observed.as_ref());
        json!({
            "file": self.name,
            "verdict": verdict.to_string(),
            "violations": list(&self.report.violations),
            "warnings": list(&self.report.warnings),
            "totals": totals,
            "figures": figures,
        })
    }

    /// The line and column of a finding. Of the compact form, only bounds are found: the transfers are those of the
    /// expanded schedule.
    fn place(&self, finding: &Finding) -> Option<(usize, usize)> {
        let is_stated = self.solution.schedule.is_explicit() || finding.step.is_none();
        is_stated.then(|| self.place_within(finding, &[])).flatten()
    }

    /// The same, where the schedule is the value at a path in the text.
    pub(super) fn place_within(&self, finding: &Finding, path: &[PathItem<'static>]) -> Option<(usize, usize)> {
        place(self.text, finding, path)
    }

    fn finding(&self, finding: &Finding) -> Value {
        self.finding_at(finding, self.place(finding))
    }

    /// A finding in JSON, where the schedule is the value at a path in the text.
    pub(super) fn finding_within(&self, finding: &Finding, path: &[PathItem<'static>]) -> Value {
        self.finding_at(finding, self.place_within(finding, path))
    }

    fn finding_at(&self, finding: &Finding, place: Option<(usize, usize)>) -> Value {
        json!({
            "code": finding.code.to_string(),
            "line": place.map(|(line, _)| line),
            "column": place.map(|(_, column)| column),
            "step": finding.step,
            "transfer": finding.transfer,
            "chunk_index": finding.chunk_index,
            "from": finding.from.map(|rank| rank.0),
            "to": finding.to.map(|rank| rank.0),
            "chunk": finding.chunk.map(|chunk| chunk.0),
            "label": finding.chunk.map(|chunk| self.solution.problem.chunk_label(chunk)),
            "message": finding.message,
            "excerpt": place.and_then(|place| excerpt(self.text, place)).map(|(text, _)| text),
            "consequences": finding.consequences,
            "trace": finding.trace.as_ref().map(|trace| json!({
                "text": trace.text,
                "path": trace.path.iter().map(hop).collect::<Vec<_>>(),
            })),
        })
    }
}

/// The findings of a report in lines, then the totals per code. If there are violations, warnings are counted but not
/// listed: most follow from the violations. `place` gives a finding's place in the file, if any, and an excerpt.
pub fn findings(report: &Report, place: impl Fn(&Finding) -> Option<(String, String)>) -> String {
    let mut text = String::new();
    let holds = report.verdict() == Verdict::Holds;
    let listed = if holds { &report.warnings } else { &report.violations };
    for finding in listed {
        // What is translated, or listed along trees, has no place of its own in the file.
        let step = finding.step.filter(|step| !finding.message.contains(&format!("step {step}")));
        let in_step = || (step.map(|step| format!("step {step}: ")).unwrap_or_default(), String::new());
        let (place, lines) = place(finding).map_or_else(in_step, |(place, lines)| (format!("{place}: "), lines));
        let _ = write!(text, "  {place}{}: {}", finding.code, finding.message);
        if finding.consequences > 0 {
            let _ = write!(text, " (and {})", count(finding.consequences as usize, "consequence"));
        }
        text.push('\n');
        text.push_str(&lines);
        if let Some(trace) = &finding.trace {
            let _ = writeln!(text, "    {}", trace.text);
        }
    }
    let totals = |warnings: bool| -> Vec<(Code, u64)> {
        report.totals().filter(|(code, _)| code.is_warning() == warnings).collect()
    };
    let hidden = |shown: usize| match shown {
        0 => "none is listed; --max-errors lists them".to_owned(),
        1 => "the first is listed; --max-errors lists more".to_owned(),
        shown => format!("the first {shown} are listed; --max-errors lists more"),
    };
    let (violations, warnings) = (report.violations.len(), report.warnings.len());
    text.push_str(&total_line("violation", &totals(false), violations, &hidden(violations)));
    if holds {
        text.push_str(&total_line("warning", &totals(true), warnings, &hidden(warnings)));
    } else {
        text.push_str(&total_line("warning", &totals(true), 0, "not listed while there are violations"));
    }
    if let Some(first) = report.violations.first() {
        let _ = writeln!(text, "  `synth explain {}` says more", first.code);
    }
    text
}

/// `12 violations: D001 10, L002 2`, with a remark unless all are listed.
fn total_line(noun: &str, totals: &[(Code, u64)], listed: usize, remark: &str) -> String {
    let total: u64 = totals.iter().map(|(_, number)| number).sum();
    if total == 0 {
        return String::new();
    }
    let codes: Vec<String> = totals.iter().map(|(code, number)| format!("{code} {number}")).collect();
    let remark = if listed as u64 == total { String::new() } else { format!(" ({remark})") };
    format!("  {}: {}{remark}\n", count(total as usize, noun), codes.join(", "))
}

fn hop(hop: &Hop) -> Value {
    json!({"step": hop.step, "transfer": hop.transfer, "from": hop.from.0, "to": hop.to.0})
}

/// The line and column of a finding of the schedule at a path.
fn place(text: &str, finding: &Finding, within: &[PathItem<'static>]) -> Option<(usize, usize)> {
    use PathItem::{Index, Key};
    let mut path = within.to_vec();
    if let Some(step) = finding.step {
        path.extend([Key("steps"), Index(step as usize - 1)]);
        if let Some(transfer) = finding.transfer {
            path.extend([Key("transfers"), Index(transfer)]);
            if let Some(chunk) = finding.chunk_index {
                path.extend([Key("chunks"), Index(chunk)]);
            }
        }
    } else if finding.code == Code::C001 {
        path.push(Key("bounds"));
    } else {
        return None;
    }
    locate(text, &path)
}
