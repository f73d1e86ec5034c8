//! Lower bounds in words.

use serde_json::{Value, json};

use collsynth_bound::{BoundFinding, Claim, FlowBound};
use collsynth_core::certificate::{Bounds, Rational, Scope, VolumeBound};
use collsynth_core::problem::Problem;
use collsynth_verify::report::collective::cut;
use collsynth_verify::report::figures::{decimal, exact, exact_and_decimal};
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::quality::{named, scope_to_json};
use collsynth_verify::report::table::Table;

/// The bounds in lines for people: each with its evidence, then what they mean for whole widths, and what the linear
/// program said if there was one.
pub fn to_text(problem: &Problem, findings: &[BoundFinding], flow: Option<&FlowBound>) -> String {
    let mut text = format!("{}\n", headline(problem));
    if findings.is_empty() {
        text.push_str("  nothing must move: there is no bound\n");
        return text;
    }
    let mut table = Table::new(&[]).indented(2);
    for finding in findings {
        let (figure, at_least, parts) = match &finding.claim {
            Claim::Steps(bound) => ("steps", bound.at_least.to_string(), String::new()),
            Claim::Volume(bound) => ("volume", exact_and_decimal(bound.at_least), named(bound.scope(), problem)),
        };
        let cells = [figure, ">=", &format!("{at_least}{parts}"), finding.name, &finding.words];
        table.row(cells.map(str::to_owned));
    }
    text.push_str(&table.to_string());
    let best = best(findings);
    if let Some(bound) = &best.volume {
        let width = best.least_width(problem.parts());
        let least = Rational::new(i128::from(width), i128::from(problem.parts()));
        if least != bound.at_least {
            text.push_str(&format!("for {}: volume >= {}\n", cut(problem), exact_and_decimal(least)));
        }
    }
    if let Some(FlowBound { optimum, variables: (reduced, all), symmetries, .. }) = flow {
        text.push_str(&format!(
            "flow LP: optimum {optimum:.6} by the solver, {reduced} variables (of {all}, by {symmetries} symmetries)\n"
        ));
    }
    text
}

/// The bounds as a JSON object; `flow_lp` is null if no linear program was solved.
pub fn to_json(problem: &Problem, findings: &[BoundFinding], flow: Option<&FlowBound>) -> Value {
    let entry = |finding: &BoundFinding| match &finding.claim {
        Claim::Steps(bound) => json!({
            "figure": "steps",
            "at_least": bound.at_least,
            "evidence": finding.name,
            "words": finding.words,
            "bound_for": scope_to_json(Some(Scope::AnyParts)),
            "from": bound.from.0,
            "to": bound.to.0,
        }),
        Claim::Volume(bound) => json!({
            "figure": "volume",
            "at_least": exact(bound.at_least),
            "decimal": decimal(bound.at_least),
            "evidence": finding.name,
            "words": finding.words,
            "bound_for": scope_to_json(Some(bound.scope())),
        }),
    };
    let best = best(findings);
    json!({
        "problem": headline(problem),
        "parts": problem.parts(),
        "steps": best.steps.as_ref().map(|bound| bound.at_least),
        "volume": best.volume.as_ref().map(|bound| exact(bound.at_least)),
        "total_width": best.least_width(problem.parts()),
        "bounds": findings.iter().map(entry).collect::<Vec<Value>>(),
        "flow_lp": flow.map(|flow| json!({
            "optimum": flow.optimum,
            "variables": flow.variables.0,
            "variables_without_symmetries": flow.variables.1,
            "symmetries": flow.symmetries,
        })),
    })
}

/// The best bound of each figure: the first, as they are sorted.
pub fn best(findings: &[BoundFinding]) -> Bounds {
    let mut best = Bounds::default();
    for finding in findings {
        match &finding.claim {
            Claim::Steps(bound) => best.steps = best.steps.or_else(|| Some(bound.clone())),
            Claim::Volume(bound) => best.volume = best.volume.or_else(|| Some(bound.clone())),
        }
    }
    best
}

/// Takes over a bound on the volume that is greater, if it holds for any number of parts.
pub fn sharpen(bounds: &mut Bounds, found: Option<&VolumeBound>) {
    let known = bounds.volume.as_ref().map(|bound| bound.at_least);
    if let Some(found) = found.filter(|found| found.scope() == Scope::AnyParts && Some(found.at_least) > known) {
        bounds.volume = Some(found.clone());
    }
}
