//! Every command that `synth compare` and `synth pareto` state plans its schedule again.

use serde_json::Value;

use crate::support::bench::Bench;

const MACHINES: [&str; 3] = ["--torus 4x2 --fail 0,1", "--torus 2x3 --capacity 2,1", "--torus 5 --fail-link 0,1"];
const PRICES: [&str; 3] = ["", "--message-bytes 1000,1MiB", "--message-bytes 64B --alpha 700ns --bandwidth 3GB/s"];

/// Plans by a command; compares its figures with those of a row.
fn check(bench: &Bench, row: &Value, [steps, volume]: [&Value; 2], from: &str) {
    let command = row["command"].as_str().expect("a command").strip_prefix("synth ").expect("of synth");
    let said = bench.ended(0, &format!("{command} --format json")).stderr;
    let summary: Value = serde_json::from_slice(&said).unwrap_or_else(|_| panic!("{command}: no summary"));
    let again = [&summary["steps"]["value"], &summary["volume"]["value"], &summary["parts"]];
    assert_eq!(again, [steps, volume, &row["parts"]], "{from}\n{command}");
}

/// The rows of a comparison.
fn compared(bench: &Bench, words: &str) -> Vec<Value> {
    let answer: Value = serde_json::from_str(&bench.stdout(&format!("{words} -q --format json"))).expect("JSON");
    answer["machines"][0]["schedules"].as_array().expect("schedules").clone()
}

#[test]
fn rows_of_comparisons_are_planned_again() {
    let bench = Bench::new();
    let rows = |machine: &str, words: &str| {
        let words = format!("compare {machine} {words}");
        let rows = compared(&bench, &words);
        rows.iter().for_each(|row| check(&bench, row, [&row["steps"], &row["volume"]], &words));
        rows.len()
    };
    let mut all = 0;
    for machine in MACHINES {
        for price in PRICES {
            all += rows(machine, &format!("--planners folded_ring,mate,negotiated --parts 1 {price}"));
            all += rows(machine, &format!("--collective broadcast --planners trees,binary_tree {price}"));
        }
        all += rows(machine, "--collective all_reduce --planners matching,composed --parts 1,3 --seed 5");
        all += rows(machine, "--collective barrier --planners flood,two_wave");
    }
    all +=
        rows("--torus 4x2", "--bandwidth x=8GB/s,y=2GB/s --message-bytes 4KiB --planners ring,folded_ring --parts 1,2");
    all += rows("--torus 4x2", "--groups x --planners negotiated --parts 1 --message-bytes 1KiB");
    assert!(all > 60, "{all} schedules");
}

/// Where options do not say the machine, the command compares the planner again.
#[test]
fn rows_beside_files_are_compared_again() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4 --capacity 2,1 --collective broadcast -q -o wide.json");
    for words in ["--parts 1,2 --seed 3", "--message-bytes 64B --alpha 2us --bandwidth 1GB/s"] {
        let rows = compared(&bench, &format!("compare wide.json --planners trees,arborescences {words}"));
        assert!(rows.len() > 2, "{words}: {rows:?}");
        for row in &rows[1..] {
            let command = row["command"].as_str().expect("a command").strip_prefix("synth ").expect("of synth");
            let again = compared(&bench, command);
            let same =
                |other: &&Value| ["planner", "parts", "steps", "volume"].iter().all(|&key| other[key] == row[key]);
            assert!(again.iter().any(|other| same(&other)), "{command}: {again:?}");
        }
    }
}

#[test]
fn points_of_curves_are_planned_again() {
    let bench = Bench::new();
    let mut all = 0;
    for words in [
        "--torus 4x2 --fail 0,1 --collective all_reduce --parts 1,3",
        "--torus 4x4 --fail 0,1 --groups x --parts 1",
        "--torus 4x3 --collective all_gather --group 0,1,5,6 --parts 1",
        "--torus 3x3 --collective all_gather --groups x --parts 1,2 --seed 3",
        "--torus 2x3 --capacity 2,1 --collective broadcast --planner trees --parts 1,2",
        "--torus 5 --collective reduce --parts 1 --max-steps 3",
        "--torus 3x3 --collective broadcast --parts 1 --max-steps 4",
    ] {
        let words = format!("pareto {words}");
        let answer: Value = serde_json::from_str(&bench.stdout(&format!("{words} -q --format json"))).expect("JSON");
        for point in answer["points"].as_array().expect("points") {
            check(&bench, point, [&point["steps"]["value"], &point["volume"]["value"]], &words);
            all += 1;
        }
    }
    assert!(all > 6, "{all} points");
}
