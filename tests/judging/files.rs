//! The files in `schedules/`: examples hold, rejected files and warnings have the code of their folder; all survive
//! writing; the JSON Schemas agree with the reader.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use collsynth::claim::Quality;
use collsynth::collective::{Demand, Kind};
use collsynth::format::file::read_text;
use collsynth::format::json::{
    FormatCode, parse_solution, parse_topology, schedule_schema, solution_to_string, topology_schema,
    topology_to_string,
};
use collsynth::limits::FILE;
use collsynth::schedule::Solution;
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Options, Report, verify};

/// The kinds of docs/formats/schedule-format.md, each once.
#[test]
fn every_kind_is_every_kind() {
    let page = include_str!("../../docs/formats/schedule-format.md");
    let rows = page.split_once("| kind | chunk id |").unwrap().1.lines().skip(2);
    let rows = rows.take_while(|row| row.starts_with('|'));
    let mut listed: Vec<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    let mut named =
        Kind::every(RankId(1), Demand::new(3, &[0, 2, 1, 0, 0, 0, 3, 0, 1]).unwrap()).map(|kind| kind.name());
    named.sort_unstable();
    listed.sort_unstable();
    assert_eq!(named[..], listed[..]);
}

#[test]
fn examples_hold_without_a_warning() {
    let files = files_in("schedules");
    assert!(files.len() >= 15, "the examples were found");
    for file in files {
        let solution = parse_solution(&text(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let report = verify(&solution, &Options::default());
        assert!(codes(&report).is_empty(), "{}: {report:#?}", file.display());
        survives_writing(&file, &solution);
    }
}

#[test]
fn example_topologies_are_machines() {
    for file in files_in("schedules/topologies") {
        let spec = parse_topology(&text(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(parse_topology(&topology_to_string(&spec)).unwrap(), spec, "{}", file.display());
        assert_eq!(Topology::new(spec.clone()).unwrap().spec(), &spec, "{}", file.display());
    }
}

#[test]
fn rejected_files_fail_for_the_reason_their_folder_names() {
    let mut seen = BTreeSet::new();
    for (code, file) in files_by_code("schedules/rejected") {
        match parse_solution(&text(&file)) {
            Err(error) => assert_eq!(error.code.to_string(), code, "{}: {error}", file.display()),
            Ok(solution) => {
                let report = verify(&solution, &Options::default());
                assert_ne!(report.verdict(), Verdict::Holds, "{}", file.display());
                assert_eq!(codes(&report), [code.as_str()], "{}: {report:#?}", file.display());
                survives_writing(&file, &solution);
            }
        }
        seen.insert(code);
    }
    let violations = all_codes().into_iter().filter(|code| !code.starts_with('W'));
    assert_eq!(seen, violations.collect(), "every violation has its folder");
}

#[test]
fn warned_files_hold_and_warn_of_what_their_folder_names() {
    let mut seen = BTreeSet::new();
    for (code, file) in files_by_code("schedules/warnings") {
        let solution = parse_solution(&text(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let report = verify(&solution, &Options::default());
        assert_eq!(report.verdict(), Verdict::Holds, "{}: {report:#?}", file.display());
        assert_eq!(codes(&report), [code.as_str()], "{}: {report:#?}", file.display());
        survives_writing(&file, &solution);
        seen.insert(code);
    }
    let warnings = all_codes().into_iter().filter(|code| code.starts_with('W'));
    assert_eq!(seen, warnings.collect(), "every warning has its folder");
}

/// A claim may be any fraction that fits: it holds, and is compared with the schedule, like any other.
#[test]
fn fractions_may_be_as_long_as_the_format_allows() {
    let file = text(&root().join("schedules/all-gather-ring.json"));
    let most = i128::MAX;
    let long = file.replace("\"3/2\"", &format!("\"{most}/{}\"", most - 1));
    assert_ne!(file, long);
    let solution = parse_solution(&long).unwrap();
    let report = verify(&solution, &Options::default());
    assert!(codes(&report).is_empty());
    let quality = Quality::new(&solution.problem, &solution.schedule, &solution.bounds);
    assert!(quality.steps.is_certified() && quality.volume.is_certified(), "{quality:?}");
}

#[test]
fn the_readme_tells_of_every_file() {
    let readme = fs::read_to_string(root().join("schedules/README.md")).unwrap();
    let examples = ["schedules", "schedules/topologies"].into_iter().flat_map(files_in);
    let coded = ["schedules/rejected", "schedules/warnings"].into_iter().flat_map(files_by_code).map(|(_, file)| file);
    for file in examples.chain(coded) {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(readme.contains(&format!("`{name}`")), "schedules/README.md does not tell of {}", file.display());
    }
}

#[test]
fn schemas_accept_what_is_read() {
    let schedule = jsonschema::validator_for(&schedule_schema()).unwrap();
    let topology = jsonschema::validator_for(&topology_schema()).unwrap();
    let coded = ["schedules/rejected", "schedules/warnings"].into_iter().flat_map(files_by_code).map(|(_, file)| file);
    for file in files_in("schedules").into_iter().chain(coded) {
        let text = text(&file);
        let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
        match parse_solution(&text) {
            // A repeated key is gone once the text has become a value.
            Err(error) if error.message.starts_with("duplicate field") => {}
            Err(error) if [FormatCode::F002, FormatCode::F003, FormatCode::F004].contains(&error.code) => {
                let needs_topology = error.message.contains("is not a position");
                assert!(needs_topology || !schedule.is_valid(&value), "the schema accepts {}", file.display());
            }
            Err(_) => {}
            Ok(solution) => {
                assert!(schedule.is_valid(&value), "{}: {:?}", file.display(), schedule.validate(&value));
                let written = serde_json::from_str(&solution_to_string(&solution)).unwrap();
                assert!(schedule.is_valid(&written), "{}: {:?}", file.display(), schedule.validate(&written));
                assert!(topology.is_valid(&written["topology"]), "{}", file.display());
            }
        }
    }
    for file in files_in("schedules/topologies") {
        let value = serde_json::from_str(&text(&file)).unwrap();
        assert!(topology.is_valid(&value), "{}: {:?}", file.display(), topology.validate(&value));
    }
}

#[test]
fn published_schemas_are_current() {
    for (name, schema) in [("schedule", schedule_schema()), ("topology", topology_schema())] {
        let file = format!("docs/schemas/{name}.schema.json");
        let published: Value = serde_json::from_str(&text(&root().join(&file))).unwrap();
        assert_eq!(published, schema, "{file} is old: write what `synth util schema` prints");
    }
}

#[test]
fn the_published_format_reads_as_it_says() {
    let page = fs::read_to_string(root().join("docs/formats/schedule-format.md")).unwrap();
    let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let solution = parse_solution(example).unwrap();
    assert_eq!(solution.schedule.move_count(), 2);
    for code in all_codes() {
        assert!(page.contains(&format!("| `{code}` | ")), "docs/formats/schedule-format.md has no row for {code}");
    }
}

fn survives_writing(file: &Path, solution: &Solution) {
    let written = solution_to_string(solution);
    let read = parse_solution(&written).unwrap_or_else(|error| panic!("{} written: {error}", file.display()));
    assert_eq!(solution_to_string(&read), written, "{}", file.display());
    assert_eq!((&read.problem, &read.bounds), (&solution.problem, &solution.bounds), "{}", file.display());
    let (before, after) = (verify(solution, &Options::default()), verify(&read, &Options::default()));
    let same = before.totals().eq(after.totals());
    assert!(same, "{} reads otherwise once written: {after:#?}", file.display());
}

fn codes(report: &Report) -> Vec<String> {
    report.totals().map(|(code, _)| code.to_string()).collect()
}

/// The codes of files that cannot be read, and of schedules.
fn all_codes() -> BTreeSet<String> {
    FormatCode::ALL.iter().map(FormatCode::to_string).chain(Code::ALL.iter().map(Code::to_string)).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(file: &Path) -> String {
    read_text(file, FILE).unwrap_or_else(|error| panic!("{error}"))
}

/// The JSON files that stand directly in a folder, sorted.
fn files_in(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

/// The JSON files in the folders that are named as codes, and those codes.
fn files_by_code(folder: &str) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for code in all_codes() {
        let folder = format!("{folder}/{code}");
        if root().join(&folder).is_dir() {
            files.extend(files_in(&folder).into_iter().map(|file| (code.clone(), file)));
        }
    }
    files
}
