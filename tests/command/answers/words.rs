//! Help, error messages and explanations; after a wanted change, `INSTA_UPDATE=always cargo test --test command`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::bench::{Bench, HOLDS, text};

#[test]
fn help_texts() {
    let bench = Bench::new();
    for command in [
        "",
        "verify",
        "pareto",
        "polish",
        "compare",
        "bound",
        "show",
        "view",
        "survey",
        "fallbacks",
        "run",
        "lower",
        "convert",
        "topology",
        "planners",
        "explain",
        "util",
        "util schema",
        "util completions",
        "util manual",
        "plan",
    ] {
        let name = if command.is_empty() { "synth" } else { command };
        insta::assert_snapshot!(format!("help_{name}"), bench.stdout(&format!("{command} --help")));
    }
}

/// The door: what people do most, on one screen.
#[test]
fn the_short_help_fits_a_screen() {
    let bench = Bench::new();
    let help = bench.stdout("-h");
    assert!(help.lines().count() <= 50, "{help}");
    assert!(help.contains("--message-bytes 64KiB --alpha 1us --bandwidth 50GB/s") && help.contains("synth plan -h"));
    assert!(!help.contains("--smt-backend") && bench.stdout("plan -h").contains("--smt-backend"));
    assert_eq!(bench.stdout("plan --torus 4 -q"), bench.stdout("--torus 4 -q"));
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    bench.ended(0, "util manual .");
    let pages = bench.names();
    assert!(pages.contains(&"synth.1".to_owned()) && pages.contains(&"synth-verify.1".to_owned()), "{pages:?}");
    let page = text(&bench.read("synth-plan.1"));
    assert!(page.starts_with(".ie") && page.contains("fail\\-rank"), "{page}");
    bench.ended(0, "util manual made/here");
    assert_eq!(bench.read("made/here/synth.1"), bench.read("synth.1"));
    assert!(bench.stdout("util completions bash").contains("negotiated"), "planners are completed");
}

#[test]
fn error_messages() {
    let bench = Bench::new();
    bench.write("broken.json", "{\"torus\": [4, 4], \"colour\": 1}\n");
    bench.write("schedule.json", HOLDS);
    let cases = [
        "",
        "--torus 4by4",
        "--torus 4 --width 3",
        "--torus 8 --planner smt --width 7",
        "--torus 5 --collective all_reduce --planner smt --steps 2",
        "--torus 4 --planner smt --proof no.drat --steps 2",
        "--torus 0x4",
        "--torus 4x4 --topology broken.json",
        "--topology missing.json",
        "--topology broken.json",
        "--torus 4x4x4 --fail 2,4,x",
        "--torus 4x4x4 --fail 2,3,y",
        "--torus 4x4x4 --fail 2,3,q",
        "--torus 4x4x4 --fail 2-q",
        "--torus 4x4x4 --fail 2,0,0,3,0,0,x",
        "--torus 4x4x4 --fail 2.0.0,3.0.9,x",
        "--torus 4x4x4 --fail 2,64,x",
        "--torus 4x4 --fail-rank 7-4",
        "--torus 4x4 --fail-rank 4-16",
        "--torus 4x4 --fail-rank 0.0-1.1",
        "--torus 4x4 --fail-rank 1,,2",
        "--torus 4x4 --fail-box 0.0-1.1",
        "--torus 4x4 --fail-box 0.0..1.4",
        "--torus 4x4 --wrap no --fail-box 3.0..1.1",
        "--torus 8x8x8 --fail-switch x:1",
        "--torus 8x8x8 --fail-switch x1,2",
        "--torus 8x8x8 --fail-switch x:1,4",
        "--torus 8x8 --fail-switch z:1",
        "--torus 8x6 --fail-switch x:1",
        "--torus 8x6 --fail-switch x:1 --period 4",
        "--torus 8x6 --fail-switch x:1 --period 4x0",
        "--torus 8x6 --fail-switch x:1 --period 99999999999x1",
        "--torus 8x6 --fail-switch x:1 --period 4294967295x2",
        "--torus 8x8 --fail 0,1 --period 4x4",
        "--torus 4x8 --twist --fail-switch x:1 --period 4x8",
        "--torus 4x2 --wrap yes --fail 0,4,y",
        "--torus 4x4 --fail-rank here",
        "--torus 4x4x4 --wrap yes,no",
        "--torus 4x4 --wrap maybe",
        "--torus 4x4 --capacity 0",
        "--wrap yes",
        "--torus 4 --fail 0,1 --fail 2,3",
        "--torus 4x4x4 --wrap no --fail 0,1 --fail 0,4 --fail 0,16",
        "--torus 4x4 --planner best",
        "--torus 4x4 --fail 0,1 --planner template",
        "--torus 4x4 --parts 0",
        "--torus 4x4 --steps 0",
        "--torus 4x4 --steps -1",
        "--torus 5x2 --steps 1",
        "--torus 4x4 --steps 3",
        "--torus 4x4 --steps 5 --max-steps 6",
        "--torus 4x4 --alpha 1us",
        "--torus 4x4 --message-bytes many --alpha 1us --bandwidth 1GB/s",
        "--torus 4x4 --message-bytes 1KiB --alpha soon --bandwidth 1GB/s",
        "--torus 4x4 --message-bytes 1KiB --alpha 1us --bandwidth 1GB",
        "--torus 4x4 --time-limit 5",
        "--torus 4x4 --threads 0",
        "--torus 4x4 --fail-rank -1",
        "--torus 4x4 -o missing/schedule.json",
        "--torus 1000x1000x1000",
        "--torus 100x100",
        "--torus 8x8x8 --parts 1000",
        "bound --torus 255x255",
        "--torus 3x3 --collective everything",
        "--torus 3x3 --collective all_gather --root 1",
        "--torus 3x3 --collective broadcast --root 9",
        "--torus 3x3 --collective broadcast --root 4 --fail-rank 4",
        "--torus 3x3 --collective all_to_allv",
        "--torus 3x3 --demand ragged.csv",
        "--torus 2 --collective all_to_allv --demand ragged.csv",
        "bound --torus 3 --collective all_to_allv --demand negative.json",
        "--torus 3 --topology - --collective all_to_allv --demand missing.csv",
        "--torus 3 --collective all_to_allv --demand missing.csv",
        "--torus 4x4 verify",
        "bound",
        "bound --torus 4 --fail 0,1 --fail 1,2",
        "verify",
        "show missing.json",
        "show broken.json",
        "show schedule.json --step 2",
        "show schedule.json --rank 7",
        "show schedule.json --chunk 0>1",
        "explain X001",
        "util schema picture",
        "util completions cmd",
        "frobnicate",
    ];
    bench.write("ragged.csv", "0,1\n2\n");
    bench.write("negative.json", "[[0, 1],\n [2, -3]]\n");
    let mut all = String::new();
    for words in cases {
        let output = bench.run(words);
        let code = output.status.code().expect("the command ends by itself");
        assert!(output.stdout.is_empty(), "{words}: nothing is printed for programs when there is no answer");
        assert!(text(&output.stderr).starts_with("error: "), "{words}: {}", text(&output.stderr));
        let _ = writeln!(all, "$ synth {words}\n{}[exit code {code}]\n", text(&output.stderr));
    }
    insta::assert_snapshot!("errors", all);
}

#[test]
fn every_code_is_explained() {
    let bench = Bench::new();
    let list = bench.stdout("explain");
    let codes: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(codes.contains(&"D001") && codes.contains(&"W001") && codes.contains(&"F001"), "{list}");
    for code in codes {
        let explanation = bench.stdout(&format!("explain {code}"));
        assert!(explanation.starts_with(&format!("{code}: ")) && explanation.lines().count() > 2, "{explanation}");
        assert!(explanation.lines().all(|line| line.chars().count() <= 100), "{explanation}");
    }
}

#[test]
fn schemas_are_json() {
    let bench = Bench::new();
    for files in ["", "schedule", "topology"] {
        let schema: Value = serde_json::from_str(&bench.stdout(&format!("util schema {files}"))).expect("JSON");
        assert!(schema["$schema"].is_string());
    }
}

#[test]
fn every_shell_is_completed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(bench.stdout(&format!("util completions {shell}")).contains("synth"), "{shell}");
    }
}
