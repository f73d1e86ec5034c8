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

#[test]
fn yesterday_s_files_are_judged_on_tonight_s_machine() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4 -q -o s.json");
    bench.ended(0, "lower s.json -q -o p.json");
    bench.ended(0, "--torus 8x8x8 -q -o compact.json");
    bench.ended(0, "topology --torus 4x4 --fail 2,x+ -o tonight.json");
    bench.run("verify s.json p.json compact.json").assert().code(0);
    let refuted = |words: &str| {
        let output = bench.ended(1, words);
        (text(&output.stdout), text(&output.stderr))
    };
    let (verdict, hint) = refuted("verify s.json --topology tonight.json");
    assert!(
        verdict.contains("on a 4x4 torus with 1 failed cable") && verdict.contains("T003: link 2 (2,0)"),
        "{verdict}"
    );
    assert_eq!(hint, "hint: `synth --topology tonight.json --collective all_to_all` plans it anew for this machine\n");
    assert_eq!(refuted("verify s.json --fail 2,x+").0, verdict);
    // It is planned for what the file was planned for.
    let price = "--message-bytes 4096 --alpha 1000ns --bandwidth 50000000000B/s";
    bench.ended(0, &format!("--torus 4x4 --collective all_reduce {price} -q -o priced.json"));
    let (_, hint) = refuted("verify priced.json --fail 2,x+");
    assert!(hint.contains(&format!("--fail 2,3,x --collective all_reduce {price}` plans it anew")), "{hint}");
    assert!(refuted("verify p.json --topology tonight.json").0.contains("T003"));
    // No line of the file states this transfer, so its step says where it is.
    assert!(refuted("verify compact.json --fail 0,1").0.contains("\n  step 1: T003: link 0 "));
    // The command of the hint holds there, and a failure that the schedule does not meet leaves it as it is.
    let (_, hint) = refuted("verify s.json --fail-rank 3");
    let command = hint.split('`').nth(1).and_then(|command| command.strip_prefix("synth ")).expect("a command");
    bench.ended(0, &format!("{command} -q -o again.json"));
    bench.run("verify again.json --fail-rank 3").assert().code(0);
    bench.run("verify again.json --topology tonight.json").assert().code(1);
    // What it claims of its own machine is not said of this one.
    bench.write("bounded.json", &bench.stdout("--torus 3 --wrap no --collective broadcast -o -"));
    assert!(text(&bench.ended(0, "verify bounded.json").stdout).contains("certified optimal"));
    bench.ended(0, "topology --torus 3 --fail 0,2 -o ring.json");
    let said = |words: &str| text(&bench.ended(0, &format!("verify bounded.json --topology ring.json {words}")).stdout);
    assert!(said("").contains("volume   33/32 = 1.031         no bound stated"), "{}", said(""));
    assert!(said("--bounds").contains("bound 1 "), "{}", said("--bounds"));
    // On its own machine, stated again, it stays.
    bench.ended(0, "--torus 4x4 --fail 0,1 -q -o own.json");
    let again = |words: &str| text(&bench.ended(0, &format!("verify {words}")).stdout);
    assert!(again("own.json").contains("certified optimal"));
    assert_eq!(again("own.json --fail 1,0"), again("own.json"));
    bench.write(
        "jobs.json",
        r#"[{"collective": "all_gather", "groups": "x"}, {"collective": "all_to_all", "groups": "y"}]"#,
    );
    bench.ended(0, "--torus 4x4 --fail 0,1 --job jobs.json -q -o job.json");
    assert_eq!(again("job.json --fail 0,x+"), again("job.json"));
    // A part of it that is still refuted there.
    bench.ended(1, "verify s.json --topology tonight.json --shrink -o part.json");
    bench.run("verify part.json").assert().code(1);
    for (words, wrong) in [
        ("verify s.json --fail 0,9", "are not neighbors"),
        ("verify s.json --fail 0,1 --rank-map 1,0", "--rank-map goes with --topology"),
        ("verify compact.json --topology tonight.json", "another shape"),
    ] {
        let output = bench.ended(2, words);
        assert!((text(&output.stderr) + &text(&output.stdout)).contains(wrong), "{words}");
    }
}
