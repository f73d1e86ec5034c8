//! The two judges on many generated files.
//!
//! `SYNTH_FUZZ_SEED=7 cargo test -p collsynth-fuzz --release -- --ignored` compares many more, from another seed on; a
//! case that fails prints its seed and its file, and repeats alone with `SYNTH_FUZZ_CASES=1`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use collsynth_fuzz::compare::{Disagreement, Seen, agree_on, compare_certificate, compare_program, compare_schedule};
use collsynth_fuzz::dice::Dice;
use collsynth_fuzz::naive::{program, schedule};
use collsynth_verify::json::{parse_solution, solution_to_string};
use serde_json::Value;

type Compare = fn(&mut Dice) -> Result<Seen, Box<Disagreement>>;

/// How often each verdict was agreed on, and in how many files each code was given.
type Counts = BTreeMap<String, usize>;

fn compare(what: &str, compare: Compare, first: u64, cases: u64) -> Counts {
    let mut counts = Counts::new();
    for seed in first..first + cases {
        match compare(&mut Dice::from_seed(seed)) {
            Ok(seen) => {
                for word in seen.codes.into_keys().chain([seen.verdict]) {
                    *counts.entry(word).or_default() += 1;
                }
            }
            Err(disagreement) => panic!("{what}, seed {seed}: {disagreement}"),
        }
    }
    counts
}

/// Each of these was met so often.
fn met(counts: &Counts, expected: &[(&str, usize)]) {
    for &(word, least) in expected {
        let count = counts.get(word).copied().unwrap_or(0);
        assert!(count >= least, "{word} was met {count} times, not {least}: {counts:?}");
    }
}

#[test]
fn schedules() {
    let counts = compare("schedules", compare_schedule, 0, 1500);
    let often = ["D001", "D002", "L001", "R002", "T002", "W001", "W002", "W004"].map(|code| (code, 60));
    let seldom =
        ["D003", "F002", "F003", "F004", "F006", "L002", "R001", "R003", "T001", "T003"].map(|code| (code, 20));
    let rarely = ["F001", "F005", "F007", "F008", "F009", "W003"].map(|code| (code, 5));
    met(&counts, &[("holds", 400), ("refuted", 400), ("unreadable", 100)]);
    met(&counts, &[&often[..], &seldom, &rarely].concat());
}

#[test]
fn programs() {
    let counts = compare("programs", compare_program, 0, 2000);
    let often = ["F002", "P001", "P006", "P008"].map(|code| (code, 25));
    let rarely = ["D002", "P002", "P003", "P004", "P005", "P007", "R002", "T001", "T002", "T003"].map(|code| (code, 3));
    met(&counts, &[("holds", 200), ("refuted", 200), ("unreadable", 50)]);
    met(&counts, &[&often[..], &rarely].concat());
}

#[test]
fn certificates() {
    let counts = compare("certificates", compare_certificate, 0, 700);
    met(&counts, &[("C001", 200), ("F003", 30), ("holds", 5)]);
    let readable = counts["holds"] + counts["refuted"];
    assert!(readable - counts["C001"] >= 100, "claims that are proven: {counts:?}");
}

/// The hand-written files, right and wrong, that are JSON, and those on which the judges once disagreed.
#[test]
fn examples() {
    let mut folders =
        ["../schedules", "disagreed"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).to_vec();
    let mut compared = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("topologies") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                // A repeated key is gone once the file is read as a value.
                if path.ends_with("repeated-key.json") {
                    continue;
                }
                let mut text = fs::read_to_string(&path).expect("a text");
                // The second judge knows explicit schedules alone.
                if text.contains("\"exceptions\"") {
                    let Ok(expanded) = parse_solution(&text) else { continue };
                    text = solution_to_string(&expanded);
                }
                let Ok(file) = serde_json::from_str::<Value>(&text) else { continue };
                // The second judge knows no jobs, but each of their schedules by itself.
                if let Some(schedules) = file["schedules"].as_array() {
                    for schedule in schedules {
                        let mut alone = schedule.clone();
                        alone["format"] = "collective-schedule/1".into();
                        alone["topology"] = file["topology"].clone();
                        if let Err(disagreement) = agree_on(&alone.to_string(), &schedule::judge(&alone)) {
                            panic!("{}: {disagreement}", path.display());
                        }
                    }
                    continue;
                }
                let is_program = file["format"].as_str().is_some_and(|format| format.starts_with("rank-program/"));
                let opinion = if is_program { program::judge(&file) } else { schedule::judge(&file) };
                if let Err(disagreement) = agree_on(&text, &opinion) {
                    panic!("{}: {disagreement}", path.display());
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared} files");
}

/// Bytes of a fuzzer: they may be few, all alike, or anything.
#[test]
fn any_bytes_make_a_file() {
    let mut dice = Dice::from_seed(0);
    for length in [0, 1, 7, 64, 300, 2000] {
        for sort in 0..20 {
            let bytes: Vec<_> = match sort {
                0..4 => vec![[0, 1, 127, 255][sort]; length],
                _ => (0..length).map(|_| dice.below(256) as u8).collect(),
            };
            for compare in [compare_schedule, compare_program, compare_certificate] {
                compare(&mut Dice::from_bytes(&bytes)).unwrap_or_else(|disagreement| panic!("{disagreement}"));
            }
        }
    }
}

#[test]
#[ignore = "minutes"]
fn many() {
    let number = |name, default| env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let first = number("SYNTH_FUZZ_SEED", 0);
    let sorts: [(&str, Compare, u64); 3] = [
        ("schedules", compare_schedule, 10_000),
        ("programs", compare_program, 5_000),
        ("certificates", compare_certificate, 5_000),
    ];
    for (what, sort, cases) in sorts {
        let cases = number("SYNTH_FUZZ_CASES", cases);
        println!("{cases} {what} from seed {first}: {:?}", compare(what, sort, first, cases));
    }
}
