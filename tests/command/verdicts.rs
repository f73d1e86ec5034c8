//! What `synth verify` and `synth show` say of a schedule.

use assert_cmd::assert::OutputAssertExt;
use serde_json::Value;

use crate::support::bench::{Bench, HOLDS, REFUTED, text};

#[test]
fn verify_says_where_and_what() {
    let bench = Bench::new();
    bench.write("bad.json", REFUTED);
    bench.write("good.json", HOLDS);
    bench.write("broken.json", "{\n  \"format\": 1\n}\n");
    let output = bench.ended(1, "verify bad.json");
    let verdict = text(&output.stdout);
    assert!(
        verdict.starts_with("bad.json: refuted\n  broadcast from 0 on a ring of 3 ranks with 1 failed cable\n"),
        "{verdict}"
    );
    assert!(verdict.contains("\n  bad.json:7:7: T003: "), "{verdict}");
    // An unreadable file outweighs a refuted one, which outweighs one that holds.
    bench.run("verify good.json").assert().code(0);
    bench.run("verify good.json bad.json").assert().code(1);
    bench.run("verify bad.json broken.json good.json").assert().code(2);
    bench.run("verify good.json missing.json").assert().code(2);
    let unreadable = text(&bench.run("verify broken.json").stdout);
    assert!(unreadable.starts_with("broken.json: unreadable\n  broken.json:2:13: F0"), "{unreadable}");
}

#[test]
fn verdicts_for_people() {
    let bench = Bench::new();
    bench.write("bad.json", REFUTED);
    bench.write("good.json", HOLDS);
    bench.write("broken.json", "{\n  \"format\": 1\n}\n");
    let bounded = HOLDS
        .replace("  \"steps\"", "  \"bounds\": {\"steps\": {\"at_least\": 1, \"from\": 1, \"to\": 0}},\n  \"steps\"");
    bench.write("bounded.json", &bounded);
    bench.write("claims.json", &bounded.replace("\"at_least\": 1", "\"at_least\": 2"));
    bench.write("idle.json", &HOLDS.replace("\"steps\": [", "\"steps\": [{\"transfers\": []},"));
    let output = bench.run("verify good.json bad.json broken.json bounded.json claims.json idle.json missing.json");
    insta::assert_snapshot!("verdicts", text(&output.stdout));
}

#[test]
fn verify_speaks_json() {
    let bench = Bench::new();
    bench.write("bad.json", REFUTED);
    bench.write("good.json", HOLDS);
    bench.write("broken.json", "{");
    let output = bench.run("verify --format json good.json bad.json broken.json missing.json");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdicts: Vec<&str> = (0..4).filter_map(|index| answer["files"][index]["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["holds", "refuted", "unreadable", "unreadable"]);
    let finding = &answer["files"][1]["violations"][0];
    assert_eq!((&finding["code"], &finding["line"], &finding["step"]), (&"T003".into(), &7.into(), &1.into()));
    assert_eq!(answer["files"][1]["totals"]["T003"], 1);
    assert_eq!(answer["files"][0]["figures"]["steps"]["value"], 1);
    assert_eq!(answer["files"][2]["code"], "F001");
}

#[test]
fn bounds_are_found_for_schedules_without() {
    let bench = Bench::new();
    bench.write("good.json", HOLDS);
    bench.write("bad.json", REFUTED);
    let without = text(&bench.ended(0, "verify good.json").stdout);
    assert!(without.contains("no bound stated") && !without.contains("certified"), "{without}");
    let found = text(&bench.ended(0, "verify --bounds good.json").stdout);
    assert!(!found.contains("no bound stated"), "{found}");
    assert!(
        found.lines().any(|line| line.starts_with("  steps ") && line.ends_with("bound 1  certified optimal")),
        "{found}"
    );
    // Line and column are still those of the file, and bounds that it states are not replaced.
    let refuted = text(&bench.ended(1, "verify --bounds bad.json").stdout);
    assert!(refuted.contains("\n  bad.json:7:7: T003: "), "{refuted}");
    let claim = "  \"bounds\": {\"steps\": {\"at_least\": 2, \"from\": 1, \"to\": 0}},\n  \"steps\"";
    bench.write("claims.json", &HOLDS.replace("  \"steps\"", claim));
    assert_eq!(bench.ended(1, "verify --bounds claims.json").stdout, bench.ended(1, "verify claims.json").stdout);
}

#[test]
fn verify_lists_as_many_errors_as_wished_and_counts_all() {
    let bench = Bench::new();
    let transfer = r#"{"from": 0, "to": 2, "chunks": [0]}"#;
    let steps = vec![format!(r#"{{"transfers": [{transfer}]}}"#); 5].join(",");
    let (head, _) = HOLDS.split_once("\"steps\"").expect("a schedule");
    bench.write("bad.json", &format!("{head}\"steps\": [{steps}]}}"));
    let verdict = text(&bench.run("verify --max-errors 2 bad.json").stdout);
    assert!(
        verdict.contains("T002 5") && verdict.contains("(the first 2 are listed; --max-errors lists more)"),
        "{verdict}"
    );
}

#[test]
fn show_selects_steps_ranks_and_chunks() {
    let bench = Bench::new();
    bench.run("--torus 4x4 --fail 0,1,x --parts 2 -o s.json").assert().success();
    let all = bench.stdout("show s.json");
    assert!(all.starts_with("all_to_all on a 4x4 torus with 1 failed cable, messages in 2 parts\n  steps "), "{all}");
    assert!(all.contains("\nstep 1, width ") && all.contains("\nstep 2, width "));
    let one = bench.stdout("show s.json --step 2");
    assert!(!one.contains("\nstep 1,") && one.contains("\nstep 2,"));
    let rank = bench.stdout("show s.json --rank 2.1");
    let rows = rank.lines().filter(|line| line.starts_with("  ") && line.contains('('));
    assert!(rows.into_iter().all(|row| row.contains("6 (2,1)")), "{rank}");
    let whole = bench.stdout("show s.json --chunk 0>1");
    let part = bench.stdout("show s.json --chunk 0>1/1");
    assert!(whole.contains("0>1/0") && whole.contains("0>1/1"), "{whole}");
    assert!(!part.contains("0>1/0") && part.contains("0>1/1"), "{part}");
}
