//! `synth survey --job`: classes that keep a job, against every set planned by itself; figures, and what is refused.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::bench::{Bench, text};

/// Groups, a root and a demand: each keeps other symmetries of 3x3.
const ROWS_AND_ROOT: &str = r#"[{"collective": "broadcast", "root": 4}, {"collective": "all_gather", "groups": "x"}]"#;
const ROWS_AND_COLUMNS: &str =
    r#"[{"collective": "all_gather", "groups": "x"}, {"collective": "all_gather", "groups": "y"}]"#;
const UNEQUAL: &str = r#"[{"collective": "all_gather", "groups": "x", "bytes": "8KiB"},
                          {"collective": "all_gather", "groups": "y", "bytes": "4KiB"}]"#;
const ONE_WAY: &str = r#"[{"collective": "all_to_all", "blocks": "3x1"}, {"collective": "all_to_allv", "demand":
  [[0,3,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0],
   [0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0]]}]"#;

fn survey(bench: &Bench, folder: &str) -> Value {
    serde_json::from_slice(&bench.read(&format!("{folder}/survey.json"))).expect("JSON")
}

/// The records of sets of a unit.
fn records(survey: &Value, unit: &str) -> Vec<Value> {
    let mut first = 0;
    let groups = survey["head"]["groups"].as_array().expect("groups");
    let of = groups.iter().filter_map(|group| {
        let classes = group["classes"].as_u64().expect("a number") as usize;
        first += classes;
        (group["unit"] == unit).then_some(first - classes..first)
    });
    let all = survey["records"].as_array().expect("records");
    of.flat_map(|numbers| all[numbers].to_vec()).collect()
}

/// The failures of 3x3, one by one.
fn failures(unit: &str) -> Vec<String> {
    let right = |rank: u32| rank / 3 * 3 + (rank + 1) % 3;
    let up = |rank: u32| (rank + 3) % 9;
    let pairs = || (0..9).flat_map(|rank| [(rank, right(rank)), (rank, up(rank))]);
    match unit {
        "cable" => pairs().map(|(from, to)| format!("--fail {from},{to}")).collect(),
        "link" => pairs()
            .flat_map(|(from, to)| [(from, to), (to, from)])
            .map(|(from, to)| format!("--fail-link {from},{to}"))
            .collect(),
        _ => (0..9).map(|rank| format!("--fail-rank {rank}")).collect(),
    }
}

/// How many sets have each bound: of the classes of a survey, and of every set planned by itself.
#[test]
fn classes_stand_for_the_sets_that_have_their_bounds() {
    let bench = Bench::new();
    bench.write("job.json", ROWS_AND_ROOT);
    bench.ended(0, "survey --torus 3x3 --job job.json --parts 1 --cables 1 --links 1 --ranks 1 -q -o s");
    let survey = survey(&bench, "s");
    for unit in ["cable", "link", "rank"] {
        let mut stands = BTreeMap::new();
        for record in records(&survey, unit) {
            let sets = record["sets"].as_u64().expect("a number");
            let bound = &record["outcome"]["planned"]["job"]["least_width"];
            *stands.entry(bound.to_string()).or_insert(0) += sets;
        }
        let mut alone = BTreeMap::new();
        for failure in failures(unit) {
            let planned = bench.run(&format!("--torus 3x3 --job job.json --parts 1 {failure} --format json -o p.json"));
            let figures: Value = serde_json::from_slice(&planned.stderr).unwrap_or_default();
            assert!(planned.status.success() || failure == "--fail-rank 4", "{failure}");
            *alone.entry(figures["total_width"]["at_least"].to_string()).or_insert(0) += 1;
        }
        assert_eq!(stands, alone, "{unit}");
    }
    let said = text(&bench.read("s/table.csv"));
    assert!(said.contains("job,rank,1,\"4\",1,root_failed,,,,,,,,"), "{said}");
}

/// By hand: of ROWS_AND_ROOT, both reflections at rank 4 are left; rows and columns of equal shards may be swapped; of
/// a message from 0 to 1 with rows, the reflection that keeps row 0 is.
#[test]
fn symmetries_that_do_not_keep_the_job_merge_nothing() {
    let bench = Bench::new();
    for (name, job, expected) in [
        ("root", ROWS_AND_ROOT, &[4, 4, 2, 2, 2, 2, 1, 1][..]),
        ("equal", ROWS_AND_COLUMNS, &[18]),
        ("unequal", UNEQUAL, &[9, 9]),
        ("demand", ONE_WAY, &[2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1]),
    ] {
        bench.write(&format!("{name}.json"), job);
        bench.ended(0, &format!("survey --torus 3x3 --job {name}.json --parts 1 --cables 1 -q -o {name}"));
        let survey = survey(&bench, name);
        let mut sets: Vec<u64> =
            records(&survey, "cable").iter().map(|record| record["sets"].as_u64().expect("a number")).collect();
        sets.sort_unstable_by_key(|&sets| std::cmp::Reverse(sets));
        assert_eq!(sets, expected, "{name}");
    }
}

/// Translations by a cell keep every switch, but not the root: by hand, a quarter turn around it carries x:0 onto y:1.
#[test]
fn switches_are_told_apart_by_what_is_planned() {
    let bench = Bench::new();
    bench.write("all.json", r#"[{"collective": "all_gather", "bytes": 64}]"#);
    bench.write("root.json", r#"[{"collective": "gather", "root": 1, "bytes": 64}]"#);
    for (job, classes) in [("all", 1), ("root", 2)] {
        bench.ended(0, &format!("survey --torus 4x4 --job {job}.json --parts 1 --switches 1 --period 2x2 -q -o {job}"));
        let survey = survey(&bench, job);
        let records = records(&survey, "switch");
        assert_eq!(records.len(), classes, "{job}");
        assert_eq!(records.iter().map(|record| record["sets"].as_u64().unwrap()).sum::<u64>(), 4);
    }
}

#[test]
fn volumes_of_jobs_are_bytes_and_compare_in_other_parts() {
    let bench = Bench::new();
    bench.write("job.json", UNEQUAL);
    let said = bench.stdout("survey --torus 3x3 --job job.json --cables 1 --ranks 1 -q -o s");
    assert!(said.starts_with("job, any single cable: ") && said.lines().count() == 2, "{said}");
    let table = text(&bench.read("s/table.csv"));
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0][7..], ["volume", "bound", "optimal", "slower", "parts", "width", "least_width"]);
    let survey = survey(&bench, "s");
    let number = |cell: &str| -> f64 {
        let (above, below) = cell.split_once('/').unwrap_or((cell, "1"));
        above.parse::<f64>().expect("a number") / below.parse::<f64>().expect("a number")
    };
    let intact = number(survey["records"][0]["outcome"]["planned"]["volume"].as_str().expect("a volume"));
    for row in &rows[1..] {
        // A chunk is 4 KiB over the parts of the smaller shard.
        let parts: Vec<f64> = row[11].split(' ').map(number).collect();
        assert!((number(row[7]) - number(row[12]) * 4096.0 / parts[1]).abs() < 1e-6, "{row:?}");
        assert!((number(row[8]) - number(row[13]) * 4096.0 / parts[1]).abs() < 1e-6, "{row:?}");
        assert!((number(row[10]) - (number(row[7]) / intact - 1.0)).abs() < 1e-5, "{row:?}");
        assert_eq!((2.0 * parts[1], row[9]), (parts[0], if row[12] == row[13] { "true" } else { "false" }), "{row:?}");
    }
    // Nothing that fails makes it faster.
    assert!(rows[1..].iter().all(|row| number(row[10].trim_start_matches('-')) >= 0.0 && !row[10].starts_with('-')));
}

#[test]
fn surveys_of_jobs_go_on_in_parts_and_know_their_job() {
    let bench = Bench::new();
    bench.write("job.json", ROWS_AND_ROOT);
    let words = "survey --torus 3x2 --job job.json --parts 1 --cables 1 --seed 3 -q";
    bench.ended(0, &format!("{words} -o whole --threads 1"));
    let whole = bench.read("whole/survey.json");
    for part in 1..=2 {
        bench.ended(0, &format!("{words} --shard {part}/2 -o part{part}"));
    }
    bench.ended(0, "survey merge part2 part1 -o merged");
    assert!(bench.read("merged/survey.json") == whole);
    bench.ended(0, &format!("{words} -o whole"));
    assert!(bench.read("whole/survey.json") == whole);
    let survey = survey(&bench, "whole");
    assert_eq!(
        survey["head"]["job"],
        serde_json::json!([
            {"collective": "broadcast", "root": 4},
            {"collective": "all_gather", "groups": [[0, 1, 2], [3, 4, 5]], "relays": true}
        ])
    );
    let command = survey["head"]["command"].as_str().expect("a command");
    assert_eq!(command, "synth survey --torus 3x2 --job job.json --cables 1 --parts 1 --seed 3");
    // The file has another job now.
    bench.write("job.json", ROWS_AND_COLUMNS);
    let other = bench.ended(2, &format!("{words} -o whole"));
    assert!(text(&other.stderr).contains("whole holds another survey"), "{}", text(&other.stderr));
}

#[test]
fn what_is_not_surveyed_as_a_job_is_said() {
    let bench = Bench::new();
    bench.write("job.json", ROWS_AND_ROOT);
    bench.write("far.json", r#"[{"collective": "broadcast", "root": 40}]"#);
    bench.write("cut.json", r#"[{"collective": "broadcast", "parts": 2}]"#);
    bench.write("still.json", r#"[{"collective": "barrier"}]"#);
    for (words, said) in [
        ("--job job.json --collective all_gather", "--collective"),
        ("--job far.json", "rank 40 is out of range"),
        ("--job cut.json --parts 3", "this job states parts itself"),
        ("--job still.json --parts 3", "barrier is not cut in parts"),
        ("--job none.json", "cannot read none.json"),
        ("--job job.json --fail-rank 4", "root 4 is a failed rank"),
    ] {
        let output = bench.ended(2, &format!("survey --torus 3x3 {words} --cables 1 -o s"));
        assert!(text(&output.stderr).contains(said), "{words}: {}", text(&output.stderr));
    }
    let output = bench.ended(2, "fallbacks build --torus 3x3 --job job.json --cables 1 -o s");
    assert!(text(&output.stderr).contains("survey takes --job"), "{}", text(&output.stderr));
    // Parts that the job states are kept.
    bench.ended(0, "survey --torus 3x3 --job cut.json --cables 1 -q -o cut");
    assert_eq!(survey(&bench, "cut")["records"][1]["outcome"]["planned"]["job"]["parts"], serde_json::json!([2]));
}
