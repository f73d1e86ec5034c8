//! The page: scripts, style and data in one file.

use std::borrow::Cow;

use collsynth_core::certificate::{Bounds, Evidence, JointBound, Window, every_weight};
use collsynth_core::program::Program;
use collsynth_core::schedule::{Job, Origin, Solution};
use collsynth_core::topology::{RankId, Topology};
use collsynth_verify::audit::AuditReport;
use collsynth_verify::report::audit::{Audited, Source, headline as program_headline, table};
use collsynth_verify::report::figures::{decimal, exact, exact_and_decimal};
use collsynth_verify::report::job::JudgedJob;
use collsynth_verify::report::observed;
use collsynth_verify::report::overview::{figures, headline};
use collsynth_verify::report::verdict::Judged;
use collsynth_verify::shown::shown;
use collsynth_verify::verdict::Verdict;
use collsynth_verify::verify::{JobReport, Report};
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::layout::Layout;
use crate::{machine, packed};

const HTML: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");

/// The modules, each after those it imports from.
const SCRIPTS: &[(&str, &str)] = &[
    ("data/columns.js", include_str!("../page/js/data/columns.js")),
    ("data/labels.js", include_str!("../page/js/data/labels.js")),
    ("data/schedule.js", include_str!("../page/js/data/schedule.js")),
    ("data/program.js", include_str!("../page/js/data/program.js")),
    ("data/evidence.js", include_str!("../page/js/data/evidence.js")),
    ("state.js", include_str!("../page/js/state.js")),
    ("drawing/palette.js", include_str!("../page/js/drawing/palette.js")),
    ("drawing/elements.js", include_str!("../page/js/drawing/elements.js")),
    ("drawing/camera.js", include_str!("../page/js/drawing/camera.js")),
    ("drawing/strokes.js", include_str!("../page/js/drawing/strokes.js")),
    ("drawing/machine.js", include_str!("../page/js/drawing/machine.js")),
    ("drawing/charts.js", include_str!("../page/js/drawing/charts.js")),
    ("drawing/timeline.js", include_str!("../page/js/drawing/timeline.js")),
    ("panels.js", include_str!("../page/js/panels.js")),
    ("inspect.js", include_str!("../page/js/inspect.js")),
    ("main.js", include_str!("../page/js/main.js")),
];

/// Judged files that one page shows.
#[derive(Clone, Debug, Default)]
pub struct Page {
    files: Vec<Value>,
    columns: Vec<String>,
}

impl Page {
    /// Adds a schedule with the judge's report on it. `name` and `text` are those of its file.
    pub fn schedule(&mut self, name: &str, text: &str, solution: &Solution, report: &Report) {
        let Solution { problem, schedule, bounds, origin } = solution;
        let topology = problem.machine();
        let layout = Layout::new(topology);
        let mut columns = Columns::default();
        machine::machine_columns(problem, &layout, &mut columns);
        machine::demand_column(problem, &mut columns);
        packed::schedule(topology, schedule, &mut columns);
        // Bounds of a schedule that is refuted may be wrong themselves.
        let holds = report.verdict() == Verdict::Holds;
        let mut lines = figures(problem, schedule, holds.then_some(bounds));
        observed::add_rows(&mut lines, problem, report.observed.as_ref());
        self.add(
            json!({
                "type": "schedule",
                "name": shown(name),
                "headline": headline(problem),
                "figures": lines.to_string(),
                "machine": machine::machine(topology, &layout),
                "collective": machine::collective(problem),
                "verdict": Judged { name, text, solution, report }.to_json(),
                "bounds": if holds { claims(problem.topology(), bounds) } else { json!([]) },
                "origin": provenance(origin.as_ref()),
            }),
            &columns,
        );
    }

    /// Adds the schedules of a job, each refuted for its own findings and those of the job as a whole.
    pub fn job(&mut self, name: &str, text: &str, job: &Job, report: &JobReport) {
        let whole = JudgedJob { name, text, job, report }.to_json();
        for (index, (solution, alone)) in job.solutions().iter().zip(&report.reports).enumerate() {
            self.schedule(&format!("{name}, schedule {index}"), text, solution, alone);
            let verdict = &mut self.files.last_mut().expect("a schedule was added")["verdict"];
            let is_here = |found: &&Value| found["schedule"].as_u64().is_none_or(|of| of == index as u64);
            let list =
                |key: &str| whole[key].as_array().into_iter().flatten().filter(is_here).cloned().collect::<Value>();
            if !report.totals.is_empty() {
                verdict["verdict"] = whole["verdict"].clone();
            }
            verdict["violations"] = list("violations");
            verdict["warnings"] = list("warnings");
            for (code, total) in &report.totals {
                verdict["totals"][code.to_string()] = json!(total);
            }
        }
    }

    /// Adds a rank program with the audit's report on it.
    pub fn program(&mut self, name: &str, text: &str, program: &Program, report: &AuditReport) {
        let topology = program.problem.machine();
        let layout = Layout::new(topology);
        let mut columns = Columns::default();
        machine::machine_columns(&program.problem, &layout, &mut columns);
        machine::demand_column(&program.problem, &mut columns);
        packed::program(program, &mut columns);
        self.add(
            json!({
                "type": "program",
                "name": shown(name),
                "headline": program_headline(program),
                "figures": table(program).to_string(),
                "machine": machine::machine(topology, &layout),
                "collective": machine::collective(&program.problem),
                "verdict": Audited { name, source: Source::Program(text), program, report }.to_json(),
                "bounds": [],
                "origin": provenance(program.origin.as_ref()),
            }),
            &columns,
        );
    }

    /// The number of schedules and programs added so far.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Is there nothing to show yet?
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Says of those added after the first `before` that they were judged on this machine, not on the one that they
    /// state; and the command that plans anew what breaks there.
    pub fn elsewhere(&mut self, before: usize, machine: &Topology, anew: Option<&str>) {
        for file in &mut self.files[before..] {
            file["elsewhere"] = json!({ "machine": machine.to_string(), "anew": anew.map(shown) });
        }
    }

    fn add(&mut self, file: Value, columns: &Columns) {
        self.files.push(file);
        self.columns.push(columns.to_base64());
    }

    /// The page as the text of an HTML file. The same files give the same text.
    pub fn to_html(&self) -> String {
        let title = self.files.iter().filter_map(|file| file["headline"].as_str()).collect::<Vec<_>>().join(" | ");
        // No `<` can end a script early.
        let data = json!({ "files": self.files }).to_string().replace('<', "\\u003c");
        let columns = self.columns.iter().enumerate().map(|(index, text)| {
            format!("<script type=\"application/octet-stream\" id=\"columns-{index}\">{text}</script>\n")
        });
        let parts = [
            ("{title}", escaped(&title)),
            ("{style}", STYLE.to_owned()),
            ("{data}", data),
            ("{columns}", columns.collect()),
            ("{script}", script()),
        ];
        // One pass, so that nothing in a part is taken for a place.
        let mut html = String::new();
        let mut rest = HTML;
        while let Some((at, (place, text))) =
            parts.iter().filter_map(|part| Some((rest.find(part.0)?, part))).min_by_key(|(at, _)| *at)
        {
            html += &rest[..at];
            html += text;
            rest = &rest[at + place.len()..];
        }
        html + rest
    }
}

/// All modules as one: without the lines that import, and the words that export.
fn script() -> String {
    let mut script = String::new();
    for (name, text) in SCRIPTS {
        script += &format!("// {name}\n");
        for line in text.lines().filter(|line| !line.starts_with("import ")) {
            script += line.strip_prefix("export ").unwrap_or(line);
            script.push('\n');
        }
    }
    script
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// What a file says of its making. The seed is text: scripts round numbers above 2^53.
fn provenance(origin: Option<&Origin>) -> Value {
    let text = |text: &Option<String>| text.as_deref().map(shown).map(Cow::into_owned);
    origin.map_or(Value::Null, |origin| {
        json!({
            "tool": text(&origin.tool),
            "planner": text(&origin.planner),
            "command": text(&origin.command),
            "seed": origin.seed.map(|seed| seed.to_string()),
        })
    })
}

/// The bounds with their evidence: what is claimed in words, and what can be drawn.
fn claims(topology: &Topology, bounds: &Bounds) -> Value {
    let steps = bounds.steps.iter().map(|bound| {
        json!({
            "claim": format!("at least {} steps", bound.at_least),
            "evidence": { "kind": "distance", "from": bound.from.0, "to": bound.to.0 },
        })
    });
    let volume = bounds.volume.iter().map(|bound| {
        json!({
            "claim": format!("volume at least {}", exact_and_decimal(bound.at_least)),
            "evidence": evidence(topology, &bound.evidence),
        })
    });
    let joint = bounds.joint.iter().map(|JointBound { steps, at_least, rank, weights }| {
        let rank = rank.map(|rank| rank.0);
        json!({
            "claim": format!("in {steps} steps, volume at least {}", exact_and_decimal(*at_least)),
            "at_least": exact(*at_least),
            "decimal": decimal(*at_least),
            "evidence": { "kind": "joint", "units": steps, "rank": rank, "weights": windows(weights) },
        })
    });
    Value::Array(steps.chain(volume).chain(joint).collect())
}

fn evidence(topology: &Topology, evidence: &Evidence) -> Value {
    let ranks = |ranks: &[RankId]| ranks.iter().map(|rank| rank.0).collect::<Vec<u32>>();
    match evidence {
        Evidence::Metric { period, weights } => {
            let weights = every_weight(topology, period.as_deref(), weights).unwrap_or(weights.into());
            let weights: Vec<[u32; 3]> = weights.iter().map(|(from, to, weight)| [from.0, to.0, *weight]).collect();
            json!({ "kind": "metric", "weights": weights })
        }
        Evidence::Cut { ranks: side } => json!({ "kind": "cut", "ranks": ranks(side) }),
        Evidence::MetricOverTime { width, rank, weights } => json!({
            "kind": "metric over time",
            "units": width,
            "rank": rank.map(|rank| rank.0),
            "weights": windows(weights),
        }),
        Evidence::Partition { blocks } => {
            json!({ "kind": "partition", "blocks": blocks.iter().map(|block| ranks(block)).collect::<Vec<_>>() })
        }
    }
}

fn windows(windows: &[Window]) -> Vec<[u32; 5]> {
    windows.iter().map(|window| [window.from.0, window.to.0, window.first, window.last, window.weight]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn modules_come_after_what_they_import_and_share_no_names() {
        let (mut before, mut names) = (HashSet::new(), HashSet::new());
        for (module, text) in SCRIPTS {
            for line in text.lines() {
                if line.starts_with("import ") {
                    let path = line.split('"').nth(1).expect("a path");
                    let from = match path.strip_prefix("../") {
                        Some(from) => PathBuf::from(from),
                        None => Path::new(module).with_file_name(path.strip_prefix("./").expect("a file beside")),
                    };
                    assert!(before.contains(&from), "{module}: {line}");
                    assert!(line.ends_with(';'), "{module}: an import is one line");
                }
                let line = line.strip_prefix("export ").unwrap_or(line);
                let line = line.strip_prefix("async ").unwrap_or(line);
                for word in ["function ", "const ", "let ", "class "] {
                    if let Some(rest) = line.strip_prefix(word) {
                        let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
                        assert!(names.insert(name.unwrap_or_default()), "{module}: {line} is there twice");
                    }
                }
            }
            before.insert(PathBuf::from(module));
        }
        assert!(!script().contains("</script"), "a script must not end early");
    }
}
