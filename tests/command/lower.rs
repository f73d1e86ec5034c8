//! `synth lower`, and `synth verify` of rank programs, from outside.

use std::fs;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn synth(folder: &TempDir, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
    command.args(words.split_whitespace()).current_dir(folder.path()).output().expect("the command runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_schedule_is_lowered_and_judged() {
    let folder = TempDir::new().unwrap();
    assert!(synth(&folder, "--torus 3x3 --fail 0,1 --collective all_reduce -q -o s.json").status.success());
    let output = synth(&folder, "lower s.json --barriers neighbour -o p.json.gz");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("barriers    neighbour"), "{}", text(&output.stderr));
    let output = synth(&folder, "verify p.json.gz s.json");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).starts_with("p.json.gz: holds in every interleaving\n"), "{}", text(&output.stdout));
    let first = synth(&folder, "lower s.json -q").stdout;
    assert_eq!(first, synth(&folder, "lower s.json -q").stdout, "the same bytes");
}

#[test]
fn a_wrong_program_is_refuted_with_its_place() {
    let folder = TempDir::new().unwrap();
    synth(&folder, "--torus 4 --collective all_gather -q -o s.json");
    synth(&folder, "lower s.json -q -o p.json");
    let good = fs::read_to_string(folder.path().join("p.json")).unwrap();
    let bad = good.replacen("\"dst\": [\"o\", 3]", "\"dst\": [\"o\", 2]", 1);
    assert_ne!(good, bad);
    fs::write(folder.path().join("bad.json"), &bad).unwrap();
    let output = synth(&folder, "verify bad.json --format json");
    assert_eq!(output.status.code(), Some(1));
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    let violations = verdict["files"][0]["violations"].as_array().unwrap();
    let first = violations.iter().find(|one| one["line"].is_u64()).expect("one is about an operation");
    assert!(first["excerpt"].as_str().unwrap().contains("\"op\""));
    let line = bad.lines().nth(first["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(line.contains("\"op\""), "{line}");
    fs::write(folder.path().join("old.json"), good.replace("rank-program/1", "rank-program/0")).unwrap();
    assert_eq!(synth(&folder, "verify old.json").status.code(), Some(2));
    fs::write(folder.path().join("mesh.json"), r#"{"torus": [4], "wrap": [false]}"#).unwrap();
    let output = synth(&folder, "verify p.json --topology mesh.json");
    assert!(output.status.code() == Some(1) && text(&output.stdout).contains("T002"), "{}", text(&output.stdout));
    assert_eq!(synth(&folder, "verify p.json --topology mesh.json --rank-map 0,1,2").status.code(), Some(1));
    assert_eq!(synth(&folder, "explain p003").status.code(), Some(0));
}

#[test]
fn what_cannot_be_lowered_is_said() {
    let folder = TempDir::new().unwrap();
    synth(&folder, "--torus 4 -q -o s.json");
    let output = synth(&folder, "lower s.json --in-place");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("all_to_all is not lowered in place"), "{}", text(&output.stderr));
    fs::write(
        folder.path().join("bad.json"),
        text(&fs::read(folder.path().join("s.json")).unwrap()).replace("\"to\": 1", "\"to\": 2"),
    )
    .unwrap();
    assert_eq!(synth(&folder, "lower bad.json").status.code(), Some(1));
}

#[test]
fn findings_for_code_hosts() {
    let folder = TempDir::new().unwrap();
    synth(&folder, "--torus 4 --collective all_gather -q -o s.json");
    synth(&folder, "lower s.json -q -o p.json");
    let spoilt = |name: &str, new: &str| {
        let good = fs::read_to_string(folder.path().join(name)).unwrap();
        let place = good.rfind("\"to\": 3").unwrap();
        let bad = format!("{}\"to\": 0{}", &good[..place], &good[place + 7..]);
        fs::write(folder.path().join(new), bad).unwrap();
    };
    spoilt("s.json", "bad,s.json");
    spoilt("p.json", "bad-p.json");
    fs::write(folder.path().join("no.json"), "{").unwrap();
    let words = "verify bad,s.json bad-p.json no.json s.json --format";
    let output = synth(&folder, &format!("{words} json"));
    assert_eq!(output.status.code(), Some(2));
    let verdicts: Value = serde_json::from_slice(&output.stdout).unwrap();
    let count = |key: &str| -> usize {
        verdicts["files"].as_array().unwrap().iter().filter_map(|file| file[key].as_array()).map(Vec::len).sum()
    };
    let sarif: Value = serde_json::from_slice(&synth(&folder, &format!("{words} sarif")).stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), count("violations") + count("warnings") + 1);
    let first = &verdicts["files"][0]["violations"][0];
    assert_eq!(results[0]["ruleId"], first["code"]);
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&first["line"], &first["column"]));
    let ids: Vec<&Value> =
        sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
    assert!(results.iter().all(|result| ids.contains(&&result["ruleId"])), "every rule is described");
    let github = text(&synth(&folder, &format!("{words} github")).stdout);
    assert_eq!(github.lines().count(), results.len());
    let line = first["line"].as_u64().unwrap();
    assert!(github.starts_with(&format!("::error file=bad%2Cs.json,line={line},col=")), "{github}");
    assert!(github.lines().all(|line| line.contains(",title=")), "{github}");
}

#[test]
fn what_is_refuted_is_shrunk() {
    let folder = TempDir::new().unwrap();
    synth(&folder, "--torus 4x4 --collective broadcast -q -o s.json");
    let good = fs::read_to_string(folder.path().join("s.json")).unwrap();
    // The first step comes last: nothing is where it is sent from.
    let mut wrong: Value = serde_json::from_str(&good).unwrap();
    wrong["steps"].as_array_mut().unwrap().rotate_left(1);
    wrong["bounds"] = serde_json::json!({});
    fs::write(folder.path().join("wrong.json"), wrong.to_string()).unwrap();
    let output = synth(&folder, "verify --shrink wrong.json -o small.json");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("2 of 15 chunk moves are left; none can be left out\n  D001: "), "{said}");
    assert!(said.contains("was to send it in step 1, but receives it only in step 2; it left rank 0"), "{said}");
    let output = synth(&folder, "verify small.json");
    assert!(output.status.code() == Some(1) && text(&output.stdout).contains(": D001: "), "{}", text(&output.stdout));
    let small = synth(&folder, "verify --shrink wrong.json").stdout;
    assert_eq!(text(&small), fs::read_to_string(folder.path().join("small.json")).unwrap());
    // Nothing to shrink, no time, and what does not go together.
    let output = synth(&folder, "verify --shrink s.json -o none.json");
    assert!(output.status.code() == Some(0) && !folder.path().join("none.json").exists(), "{}", text(&output.stderr));
    let output = synth(&folder, "verify --shrink wrong.json --time-limit 0s -o all.json");
    assert!(output.status.code() == Some(4) && text(&output.stderr).contains("15 of 15"), "{}", text(&output.stderr));
    assert_eq!(synth(&folder, "verify --shrink wrong.json s.json").status.code(), Some(2));
    assert_eq!(synth(&folder, "verify wrong.json -o small.json").status.code(), Some(2));
    wrong["bounds"] = serde_json::json!({"steps": {"at_least": 99, "from": 0, "to": 1}});
    wrong["steps"].as_array_mut().unwrap().rotate_right(1);
    fs::write(folder.path().join("bound.json"), wrong.to_string()).unwrap();
    let output = synth(&folder, "verify --shrink bound.json");
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("no matter of transfers"));

    synth(&folder, "lower s.json -q -o p.json");
    let good = fs::read_to_string(folder.path().join("p.json")).unwrap();
    let op = "{\"op\": \"send\", \"channel\": 0, \"src\": [\"i\", 0]}";
    assert!(good.contains(op), "{good}");
    fs::write(folder.path().join("q.json"), good.replacen(op, &format!("{op}, {op}"), 1)).unwrap();
    let output = synth(&folder, "verify --shrink q.json -o r.json");
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains(" operations are left") && said.contains("P00"), "{said}");
    assert_eq!(synth(&folder, "verify r.json").status.code(), Some(1));
}
