//! Files judged on another machine than they state.
//!
//! The oracle is the same file with the other machine written into it and its bounds left out.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use collsynth::format::file::read_text;
use collsynth::format::json::{self, parse_topology};
use collsynth::judge::{FileOptions, Form};
use collsynth::limits::FILE;
use collsynth::topology::Topology;
use collsynth::verdict::Verdict;

fn judged(text: &str, machine: Option<&Topology>) -> Value {
    FileOptions { machine, form: Form::Json, ..FileOptions::default() }.judge_text("file", text).json
}

/// The JSON files of schedules, jobs and compact forms that hold.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("schedules");
    let inside = |folder: &Path| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = inside(&root).chain(inside(&root.join("jobs")));
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

/// The machines of a file with one more failure: each cable, each link in turn, each rank.
fn machines(stated: &Value) -> Vec<Topology> {
    let read = |value: &Value| Topology::new(parse_topology(&value.to_string()).ok()?).ok();
    let Some(whole) = read(stated) else { return Vec::new() };
    let mut machines = Vec::new();
    let mut with = |key: &str, failed: Value| {
        let mut spec = stated.clone();
        let list = spec[key].as_array().cloned().unwrap_or_default();
        spec[key] = Value::Array(list.into_iter().chain([failed]).collect());
        machines.extend(read(&spec));
    };
    for link in whole.links() {
        let mut failed = json!({"from": link.from.0, "to": link.to.0});
        if let Some(direction) = link.direction {
            failed["dim"] = json!(direction.to_string());
        }
        with("failed_links", failed.clone());
        failed["one_way"] = json!(true);
        with("failed_links", failed);
    }
    for rank in 0..whole.rank_count() {
        with("failed_ranks", json!(rank));
    }
    machines
}

#[test]
fn a_file_is_judged_as_if_it_stated_the_other_machine() {
    let (mut held, mut refuted, mut misfits) = (0, 0, 0);
    for path in files() {
        let text = read_text(&path, FILE).expect("a text");
        let stated: Value = serde_json::from_str(&text).expect("JSON");
        if stated["format"].as_str().is_some_and(|format| format.starts_with("rank-program")) {
            continue;
        }
        for machine in machines(&stated["topology"]) {
            let mut other = stated.clone();
            let topology = json::topology_to_string(machine.spec());
            other["topology"] = serde_json::from_str(&topology).expect("JSON");
            let object = other.as_object_mut().expect("an object");
            object.remove("bounds");
            object.remove("bound");
            let mut schedules = object.get_mut("schedules").and_then(Value::as_array_mut);
            for schedule in schedules.iter_mut().flat_map(|schedules| schedules.iter_mut()) {
                schedule.as_object_mut().expect("an object").remove("bounds");
            }
            let (on, rewritten) = (judged(&text, Some(&machine)), judged(&other.to_string(), None));
            let name = format!("{} on {topology}", path.display());
            match on["verdict"].as_str() {
                Some("unreadable") => {
                    // A root or a member that is gone: it can be no problem of that machine.
                    misfits += 1;
                    assert_eq!(rewritten["verdict"], on["verdict"], "{name}: {rewritten}");
                }
                Some(verdict) => {
                    *(if verdict == "holds" { &mut held } else { &mut refuted }) += 1;
                    for key in ["verdict", "totals", "steps", "total_width", "optimal"] {
                        assert_eq!(on[key], rewritten[key], "{name}: {key}");
                    }
                }
                None => panic!("{name}: {on}"),
            }
        }
    }
    assert!(held > 20 && refuted > 200 && misfits > 5, "{held} held, {refuted} refuted, {misfits} did not fit");
}

#[test]
fn machines_of_other_sizes_are_refused() {
    let text =
        read_text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("schedules/compact-ring.json"), FILE).expect("a text");
    let on = |extents: &[u32]| {
        let machine = Topology::torus(extents).expect("a torus");
        let options = FileOptions { machine: Some(&machine), ..FileOptions::default() };
        let verdict = options.judge_text("file", &text);
        assert_eq!(verdict.verdict, Verdict::NotJudged);
        verdict.text
    };
    assert!(on(&[4]).contains("another shape"), "{}", on(&[4]));
    assert!(on(&[3, 1]).contains("another shape"), "{}", on(&[3, 1]));
    let text =
        read_text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("schedules/all-gather-ring.json"), FILE).expect("a text");
    let machine = Topology::torus(&[9]).expect("a torus");
    let verdict = FileOptions { machine: Some(&machine), ..FileOptions::default() }.judge_text("file", &text);
    assert!(verdict.text.contains("and the machine has 9"), "{}", verdict.text);
}
