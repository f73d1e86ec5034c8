//! The verdict on a job.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::collective::{cut, name_collective};
use super::excerpt::marked;
use super::figures::{count, exact, exact_and_decimal, percent, with_article};
use super::overview::bound_words;
use super::quality::{above, scope_to_json};
use super::table::Table;
use super::verdict::{Judged, findings};
use crate::claim::{Figure, JobQuality, Standing};
use crate::guard::shown::shown;
use crate::json::{PathItem, locate};
use crate::verdict::Verdict;
use crate::verify::{JobReport, JobViolation};
use collsynth_core::schedule::{Job, Schedule};

/// A job that was read and judged.
#[derive(Debug)]
pub struct JudgedJob<'a> {
    /// The name of the file, as given.
    pub name: &'a str,
    /// The text of the file, to locate findings in.
    pub text: &'a str,
    /// The job in it.
    pub job: &'a Job,
    /// The verifier's verdict.
    pub report: &'a JobReport,
}

/// A figure of a job beside its bound.
fn row(name: &str, figure: &Figure, scope: &str, bound: Option<String>) -> Vec<String> {
    let standing = match (figure.standing, figure.bound) {
        (Standing::Optimal(_) | Standing::OptimalJointly(_), _) => format!("optimal{scope}"),
        (Standing::Above(_), Some(bound)) => {
            above(figure.value, bound).map_or("above its bound".to_owned(), |above| format!("{above} above its bound"))
        }
        _ => String::new(),
    };
    vec![name.to_owned(), exact(figure.value), bound.unwrap_or_else(|| bound_words(figure)), standing]
}

/// A figure of a job as a JSON object; without a claim where nothing may be claimed.
fn figure_to_json(figure: &Figure, holds: bool) -> Value {
    let least = figure.bound.filter(|_| holds).map(|bound| bound.to_integer());
    json!({
        "value": json_whole(figure.value.to_integer()),
        "at_least": least.map(json_whole),
        "gap": figure.gap().filter(|_| holds),
        "optimal": holds.then_some(figure.is_certified()),
        "optimal_for": scope_to_json(figure.standing.scope().filter(|_| holds && figure.is_certified())),
    })
}

fn json_whole(number: i128) -> Value {
    u64::try_from(number).map_or(Value::Null, Value::from)
}

/// The figures of a job that holds: of the whole, then of each collective.
pub fn figures(job: &Job) -> String {
    let mut table = Table::new(&[]).indented(2);
    let JobQuality { steps, width } = JobQuality::new(job);
    table.row(row("steps", &steps, "", None));
    let of_job = job.bound.as_ref().filter(|bound| Some(i128::from(bound.least_width()).into()) == width.bound);
    // Widths are whole, and the distance is counted from there.
    let bound = of_job.map(|bound| match bound.at_least.is_integer() {
        true => format!("bound {}", exact(bound.at_least)),
        false => format!("bound {} ({})", bound.least_width(), exact_and_decimal(bound.at_least)),
    });
    table.row(row("total width", &width, ", for these parts", bound));
    let mut text = table.to_string();
    for (index, solution) in job.solutions().iter().enumerate() {
        let (problem, schedule) = (&solution.problem, &solution.schedule);
        let (last, until) = busy_until(schedule);
        let share = busy_share(job, schedule);
        let _ = writeln!(
            text,
            "  {index}: {}{}: done after {} of total width {until} (alone at least {}), {} of the room",
            name_collective(problem),
            if problem.collective().kind.has_volume() { format!(", {}", cut(problem)) } else { String::new() },
            count(last, "step"),
            solution.bounds.least_width(problem.parts()),
            percent(share),
        );
    }
    text
}

/// The last step in which a schedule has transfers, and the sum of the widths until then.
fn busy_until(schedule: &Schedule) -> (usize, u64) {
    let last = schedule.steps().filter(|step| !step.transfers.is_empty()).map(|step| step.number as usize).max();
    let last = last.unwrap_or(0);
    (last, schedule.widths().take(last).map(u64::from).sum())
}

/// The share of the room of all links in all steps that a schedule uses.
fn busy_share(job: &Job, schedule: &Schedule) -> f64 {
    let machine = job.machine();
    let capacity: u64 = machine.live_links().map(|id| u64::from(machine.link(id).capacity)).sum();
    schedule.move_count() as f64 / (capacity * job.total_width()).max(1) as f64
}

/// `a job of 2 collectives on a 4x4x4 torus`
pub fn headline(job: &Job) -> String {
    let collectives = count(job.solutions().len(), "collective");
    format!("a job of {collectives} on {}", with_article(&job.machine().to_string()))
}

/// The figures as a JSON object. Unless the job holds, nothing is claimed of it: its bounds may be false.
pub fn figures_to_json(job: &Job, holds: bool) -> Value {
    let alone = |solution: &collsynth_core::schedule::Solution| {
        let (last, until) = busy_until(&solution.schedule);
        json!({
            "collective": solution.problem.collective().kind.name(),
            "groups": solution.problem.groups().map(|groups| groups.members().len()),
            "parts": solution.problem.parts(),
            "last_step": last,
            "width_until_then": until,
            "at_least_alone": holds.then(|| solution.bounds.least_width(solution.problem.parts())),
            "moves": solution.schedule.move_count(),
        })
    };
    let JobQuality { steps, width } = JobQuality::new(job);
    json!({
        "machine": job.machine().to_string(),
        "ranks": job.machine().rank_count(),
        "steps": figure_to_json(&steps, holds),
        "total_width": figure_to_json(&width, holds),
        "schedules": job.solutions().iter().map(alone).collect::<Vec<_>>(),
    })
}

impl JudgedJob<'_> {
    /// The verdict in lines for people.
    pub fn to_text(&self) -> String {
        let verdict = self.report.verdict();
        let holds = verdict == Verdict::Holds;
        let name = shown(self.name);
        let mut text = format!("{name}: {verdict}\n");
        let _ = writeln!(text, "  {}", headline(self.job));
        if holds {
            text.push_str(&figures(self.job));
        }
        for violation in &self.report.violations {
            let place = self.place(violation);
            let (at, lines) = place.map_or_else(Default::default, |(line, column)| {
                (format!("{name}:{line}:{column}: "), marked(self.text, (line, column)))
            });
            let _ = writeln!(text, "  {at}{}: {}\n{lines}", violation.code(), self.message(violation));
        }
        let (total, listed) = (self.report.totals.values().sum::<u64>(), self.report.violations.len() as u64);
        if total > 0 {
            let remark = if listed < total { format!(" (the first {listed} are listed)") } else { String::new() };
            let _ = writeln!(text, "  {} of the job as a whole{remark}", count(total as usize, "violation"));
        }
        if let Some(first) = self.report.violations.first() {
            let _ = writeln!(text, "  `synth explain {}` says more", first.code());
        }
        for (index, judged) in self.schedules().enumerate() {
            let found = findings(judged.report, |finding| {
                let (line, column) = judged.place_within(finding, &schedule_path(index))?;
                Some((format!("{name}:{line}:{column}"), marked(self.text, (line, column))))
            });
            if !found.is_empty() {
                let _ = writeln!(text, "  schedule {index}, {}:", name_collective(&judged.solution.problem));
                text.push_str(&found);
            }
        }
        text
    }

    /// The verdict as a JSON object; findings of a schedule have its number, from 0, as `schedule`.
    pub fn to_json(&self) -> Value {
        let verdict = self.report.verdict();
        let holds = verdict == Verdict::Holds;
        let own = self.report.violations.iter().map(|violation| {
            let place = self.place(violation);
            let (step, link) = match violation {
                JobViolation::Full { step, link, .. } => (Some(*step), Some(self.job.machine().link(*link))),
                JobViolation::Width { step, .. } => (Some(*step), None),
                _ => (None, None),
            };
            json!({
                "code": violation.code().to_string(),
                "line": place.map(|(line, _)| line),
                "column": place.map(|(_, column)| column),
                "step": step,
                "from": link.map(|link| link.from.0),
                "to": link.map(|link| link.to.0),
                "message": self.message(violation),
            })
        });
        let mut violations: Vec<Value> = own.collect();
        let mut warnings = Vec::new();
        let mut totals: BTreeMap<String, u64> =
            self.report.totals.iter().map(|(code, &total)| (code.to_string(), total)).collect();
        for (index, judged) in self.schedules().enumerate() {
            let mut value = |finding| {
                let mut value = judged.finding_within(finding, &schedule_path(index));
                value["schedule"] = json!(index);
                value
            };
            for (code, total) in judged.report.totals() {
                *totals.entry(code.to_string()).or_default() += total;
            }
            violations.extend(judged.report.violations.iter().map(&mut value));
            warnings.extend(judged.report.warnings.iter().map(&mut value));
        }
        json!({
            "file": self.name,
            "verdict": verdict.to_string(),
            "violations": violations,
            "warnings": warnings,
            "totals": totals,
            "figures": figures_to_json(self.job, holds),
        })
    }

    fn schedules(&self) -> impl Iterator<Item = Judged<'_>> {
        let both = self.job.solutions().iter().zip(&self.report.reports);
        both.map(|(solution, report)| Judged { name: self.name, text: self.text, solution, report })
    }

    fn message(&self, violation: &JobViolation) -> String {
        match violation {
            JobViolation::Full { step, link, room, chunks } => {
                let link = self.job.machine().link(*link);
                let label = |rank| self.job.machine().rank_label(rank);
                let (from, to) = (label(link.from), label(link.to));
                format!(
                    "in step {step} the schedules together put {} on the link from rank {from} to rank {to}, which has \
                     room for {room}",
                    count(*chunks as usize, "chunk")
                )
            }
            JobViolation::Steps { schedule, steps, of_first } => {
                let has = count(*steps, "step");
                format!("schedule {schedule} has {has}, but schedule 0 has {of_first}: add empty steps where one waits")
            }
            JobViolation::Width { schedule, step, width, of_first } => {
                format!("step {step} has a width of {width} in schedule {schedule}, but of {of_first} in schedule 0")
            }
            JobViolation::Unproven(error) => error.to_string(),
        }
    }

    /// The line and column of a violation of the job.
    fn place(&self, violation: &JobViolation) -> Option<(usize, usize)> {
        use PathItem::{Index, Key};
        let step = |step: &u32| [Key("steps"), Index(*step as usize - 1)];
        let path = match violation {
            JobViolation::Full { step: number, .. } => [&schedule_path(0)[..], &step(number)].concat(),
            JobViolation::Steps { schedule, .. } => schedule_path(*schedule).to_vec(),
            JobViolation::Width { schedule, step: number, .. } => {
                [&schedule_path(*schedule)[..], &step(number)].concat()
            }
            JobViolation::Unproven(_) => vec![Key("bound")],
        };
        locate(self.text, &path)
    }
}

fn schedule_path(index: usize) -> [PathItem<'static>; 2] {
    [PathItem::Key("schedules"), PathItem::Index(index)]
}
