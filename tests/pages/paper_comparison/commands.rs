//! The paper's figures: `synth compare --paper`, and the commands that docs/results/paper-comparison.md names.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::bench::{Bench, stdout, synth, text};

const PAGE: &str = include_str!("../../../docs/results/paper-comparison.md");

/// The first lines of the table of docs/results/results.md, which a test keeps current by the same code; all take a
/// minute.
#[test]
fn the_table_of_the_paper() {
    let page = include_str!("../../../docs/results/results.md");
    let row = |torus: &str| page.lines().find(|line| line.starts_with(&format!("| {torus} |"))).expect("a row");
    let within = |words: &str| {
        let output = Bench::new().run(&format!("compare --paper --time-limit 10s {words}"));
        assert!(matches!(output.status.code(), Some(0 | 4)), "{words}");
        text(&output.stdout)
    };
    let answer: Value = serde_json::from_str(&within("--format json")).expect("JSON");
    let tori = answer["tori"].as_array().expect("tori");
    assert!(!tori.is_empty());
    for line in tori {
        let row = row(line["torus"].as_str().expect("a name")).replace("**", "");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[3].split(" = ").next(), line["bound"].as_str(), "{row}");
        for (at, one) in [(4, &line["whole"]), (7, &line["fine"])] {
            assert_eq!(cells[at], one["steps"].to_string(), "{row}");
            let volume: f64 = cells[at + 1].parse().expect("a volume");
            assert!((volume - one["volume_decimal"].as_f64().expect("a number")).abs() < 1e-3, "{row}");
            assert_eq!(one["certified"], true, "{row}");
        }
        assert_eq!(cells[6], line["fine"]["parts"].to_string());
    }
    let table = within("");
    assert!(table.contains("\n  4x4 ") && table.contains(" 64/7 = 9.143 "), "{table}");
    assert!(within("--format csv").lines().nth(2).expect("a line").starts_with("4x4,8,64/7,7,4,64/7,true,12,14,24"));
    for words in ["--torus 4x4", "--format svg", "--planners ring", "--collective all_reduce", "--parts 3"] {
        assert_eq!(synth(&format!("compare --paper {words}")).status.code(), Some(2), "{words}");
    }
}

/// The averages of docs/results/paper-comparison.md: those by the cost model, and what time allows to plan.
#[test]
fn the_averages_of_the_paper() {
    let cells = |name: &str, at: usize| -> Vec<String> {
        let row = PAGE.lines().filter(|line| line.starts_with(&format!("| {name} |"))).nth(at).expect("a row");
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let within = |words: &str| {
        let output = Bench::new().run(&format!("compare --paper averages --time-limit 5s {words}"));
        assert!(matches!(output.status.code(), Some(0 | 4)), "{words}");
        text(&output.stdout)
    };
    let told = |value: &Value| format!("{:.3}", value.as_f64().expect("a number"));
    let answer: Value = serde_json::from_str(&within("--format json")).expect("JSON");
    let stated = answer["stated"].as_array().expect("rows");
    assert_eq!(stated.len(), 7);
    for row in stated {
        let cells = cells(row["algorithm"].as_str().expect("a name"), 0);
        assert_eq!([&cells[2], &cells[3]], [&row["paper"].to_string(), &told(&row["cost_model"])], "{row}");
        assert_eq!(cells[5..8], [0, 1, 2].map(|at| told(&row["each"][at])), "{row}");
    }
    let mut planned = 0;
    for row in answer["planned"].as_array().expect("rows") {
        let cells = cells(&format!("`{}`", row["planner"].as_str().expect("a name")), 0);
        for (dims, at) in [(0, 4), (1, 6), (2, 8)] {
            let figures = [&row["phases"][dims], &row["steps"][dims]];
            if !figures[0].is_null() {
                planned += 1;
                assert_eq!(cells[at..at + 2], figures.map(told), "{row}");
            }
        }
    }
    assert!(planned >= 1, "{planned} figures in time");
    let table = within("");
    assert!(table.contains("MATEe, one cable") && table.contains("dim_rotation  none"), "{table}");
    assert!(within("--format csv").contains("FoldedRing + Pipeline,cost model,x,0.55,0.51"));
    let beside = text(&synth("compare --paper averages --torus 4x4").stderr);
    assert!(beside.contains("--paper takes no --torus"), "{beside}");
}

/// The rows of a section's table, by column.
fn rows(heading: &str) -> Vec<HashMap<&'static str, &'static str>> {
    let section = PAGE.split("\n## ").flat_map(|part| part.split("\n### ")).find(|part| part.starts_with(heading));
    let mut lines = section.expect("a section").lines().filter(|line| line.starts_with('|'));
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`'));
    let columns: Vec<&str> = cells(lines.next().expect("a heading")).collect();
    lines.skip(1).map(|line| columns.iter().copied().zip(cells(line)).collect()).collect()
}

/// A row of a planner and parts is what `synth --planner PLANNER --parts PARTS` plans.
#[test]
fn rows_of_the_page_are_what_its_command_plans() {
    assert!(PAGE.contains("`synth --torus 4x4x4 --fail 0,x+ --planner mate_e --parts 21`"));
    let near = |told: &Value, cell: &str| {
        let (told, cell) = (told.as_f64().expect("a number"), cell.parse::<f64>().expect("a number"));
        (told - cell).abs() < 6e-4
    };
    let sections = ["4x4x4 with one dead cable", "Is MATEe with two acceleration phases", "Mixed radix"];
    for row in sections.into_iter().flat_map(rows).filter(|row| row.get("torus") != Some(&"8x4x4")) {
        let torus = row.get("torus").unwrap_or(&"4x4x4");
        let dead = match (row.get("dead cables from"), row.get("dead cable")) {
            (Some(cables), _) => cables.split(", ").map(|cable| cable.replace(' ', ",") + "+").collect(),
            (None, dim) => vec![format!("0,{}+", dim.unwrap_or(&"x"))],
        };
        let dead: String = dead.iter().map(|cable| format!(" --fail {cable}")).collect();
        let words = format!("--torus {torus}{dead} --planner {} --parts {}", row["planner"], row["parts"]);
        let output = Bench::new().ended(0, &format!("{words} --format json -o s.json"));
        let summary: Value = serde_json::from_slice(&output.stderr).expect("JSON");
        let phases = summary["phases"].as_array().cloned().unwrap_or_default();
        let load: f64 = phases.iter().map(|phase| phase["decimal"].as_f64().expect("a load")).sum();
        assert_eq!(summary["steps"]["value"].to_string(), row["steps"], "{words}");
        for (column, told) in [
            ("volume", summary["volume"]["decimal"].clone()),
            ("bound", summary["volume"]["bound_decimal"].clone()),
            ("load", load.into()),
        ] {
            let cell = row.get(column).filter(|cell| **cell != "-");
            assert!(cell.is_none_or(|cell| near(&told, cell)), "{words}: {column} {told}");
        }
    }
}

/// The least load of each planner in `synth compare`, charged by phases, is the closed form of the page.
#[test]
fn closed_forms_of_the_page_are_compared_loads() {
    const PLANNERS: [&str; 6] = ["folded_ring", "open_ring", "mate", "mate_open", "mate_e", "mate_e_open"];
    let command = format!("compare --torus 5x5 --fail 0,1 --parts 12,26 --planners {}", PLANNERS.join(","));
    assert!(PAGE.contains(&format!("\nsynth {command}\n")));
    let answer: Value = serde_json::from_str(&stdout(&format!("{command} --format json"))).expect("JSON");
    let row = rows("Folded and open rings").into_iter().find(|row| row["torus"] == "5x5").expect("a row");
    for planner in PLANNERS {
        let schedules = answer["machines"][0]["schedules"].as_array().expect("schedules");
        let of = schedules.iter().filter(|schedule| schedule["planner"] == planner);
        let least = of.map(|schedule| schedule["phases"]["load_decimal"].as_f64().expect("a load"));
        let (least, closed) = (least.fold(f64::INFINITY, f64::min), row[planner].parse::<f64>().expect("a load"));
        assert!((least - closed).abs() < 6e-4, "{planner}: {least} for {closed}");
    }
}
