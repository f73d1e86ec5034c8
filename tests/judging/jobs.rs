//! Jobs: every file in `schedules/jobs/`, what is right and wrong about schedules that share links, and their text.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use collsynth::certificate::{JobBound, job_value};
use collsynth::collective::{Collective, Groups, Kind};
use collsynth::format::json::{is_job, job_schema, job_to_string, parse_job};
use collsynth::judge::{FileOptions, Form};
use collsynth::plan::{Control, JobGoal, plan_job};
use collsynth::problem::Problem;
use collsynth::schedule::{Job, Schedule, Solution};
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::{JobCode, Options, verify_job};
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn judge(text: &str) -> (Verdict, Value) {
    let verdict = FileOptions { form: Form::Json, ..FileOptions::default() }.judge_text("job.json", text);
    let words = FileOptions::default().judge_text("job.json", text);
    assert_eq!(verdict.verdict, words.verdict);
    assert!(words.text.starts_with("job.json: "), "{}", words.text);
    (verdict.verdict, verdict.json)
}

#[test]
fn files_hold_or_are_refused_for_the_reason_in_their_name() {
    let schema = jsonschema::validator_for(&job_schema()).unwrap();
    for (name, text) in files("schedules/jobs") {
        assert_eq!(judge(&text).0, Verdict::Holds, "{name}");
        let job = parse_job(&text).unwrap();
        let written = job_to_string(&job);
        assert_eq!(parse_job(&written).as_ref(), Ok(&job), "{name}");
        for text in [&text, &written] {
            assert!(is_job(text) && schema.is_valid(&serde_json::from_str(text).unwrap()), "{name}");
        }
    }
    let mut seen = BTreeSet::new();
    for (name, text) in files("schedules/jobs/rejected") {
        let (verdict, json) = judge(&text);
        let code = name.split('-').next().unwrap().to_owned();
        let codes = match verdict {
            Verdict::NotJudged => vec![json["code"].as_str().unwrap().to_owned()],
            _ => json["violations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["code"].as_str().unwrap().to_owned())
                .collect(),
        };
        assert_ne!(verdict, Verdict::Holds, "{name}");
        assert!(codes.iter().all(|other| *other == code), "{name}: {codes:?}");
        seen.insert(code);
    }
    // A bound that is too dear to check needs more than a small file.
    let all: BTreeSet<String> = JobCode::ALL.iter().map(JobCode::to_string).filter(|code| code != "C002").collect();
    assert!(seen.is_superset(&all), "{seen:?}");
    let readme = fs::read_to_string(root().join("schedules/README.md")).unwrap();
    for (name, _) in files("schedules/jobs").into_iter().chain(files("schedules/jobs/rejected")) {
        assert!(readme.contains(&format!("`{name}`")), "schedules/README.md does not tell of {name}");
    }
}

#[test]
fn the_published_schema_is_current() {
    let published: Value =
        serde_json::from_str(&fs::read_to_string(root().join("docs/schemas/job.schema.json")).unwrap()).unwrap();
    assert_eq!(
        published,
        job_schema(),
        "docs/schemas/job.schema.json is old: write what `synth util schema job` prints"
    );
}

fn planned() -> Job {
    let torus = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
    let rows = (0..4).map(|row| (0..4).map(|x| RankId(4 * row + x)).collect()).collect();
    let problem = |kind, parts| Problem::new(torus.clone(), Collective { kind, parts }).unwrap();
    let problems = vec![
        problem(Kind::AllGather.in_groups(Groups::new(rows).unwrap()), 3),
        problem(Kind::AllReduce, 8),
        problem(Kind::Scatter(RankId(5)), 2),
    ];
    plan_job(problems, &JobGoal::default(), &Control::unlimited()).unwrap().0
}

/// The schedules with one of them changed.
fn with(job: &Job, index: usize, change: impl Fn(&Solution) -> Schedule) -> Job {
    let mut solutions = job.solutions().to_vec();
    solutions[index].schedule = change(&solutions[index]);
    Job::new(solutions, job.bound.clone(), None).unwrap()
}

/// The schedule, with steps as `place` orders them and of these widths.
fn arranged(schedule: &Schedule, place: impl Fn(usize) -> usize, width: impl Fn(usize) -> u32) -> Schedule {
    let steps: Vec<_> = schedule.steps().collect();
    let mut builder = Schedule::builder();
    for step in 0..steps.len() {
        builder.step(width(step));
        for transfer in steps[place(step)].transfers {
            let chunks = schedule.chunks(transfer).iter().copied();
            builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
        }
    }
    builder.finish()
}

fn codes(job: &Job) -> BTreeSet<String> {
    let report = verify_job(job, &Options::default());
    let own = report.violations.iter().map(|violation| violation.code().to_string());
    let alone = report.reports.iter().flat_map(|report| report.violations.iter().map(|one| one.code.to_string()));
    let codes: BTreeSet<String> = own.chain(alone).collect();
    assert_eq!(report.verdict() == Verdict::Holds, codes.is_empty());
    codes
}

#[test]
fn what_is_planned_holds_and_what_is_changed_does_not() {
    let job = planned();
    assert_eq!(codes(&job), BTreeSet::new());
    let only = |code: &str| BTreeSet::from([code.to_owned()]);
    let last = job.widths().len() - 1;
    for index in 0..3 {
        // A step more, a step less, a width more.
        let wider = with(&job, index, |of| {
            arranged(&of.schedule, |step| step, |step| job.widths()[step] + u32::from(step == last))
        });
        assert_eq!(codes(&wider), only("J001"), "{index}");
        let narrow = with(&job, index, |of| {
            let mut builder = Schedule::builder();
            for width in of.schedule.widths().take(last) {
                builder.step(width);
            }
            builder.finish()
        });
        assert!(codes(&narrow).contains("J001"), "{index}");
        // Steps in reverse order: chunks are sent before they are there.
        let reversed = with(&job, index, |of| arranged(&of.schedule, |step| last - step, |step| job.widths()[step]));
        assert!(!codes(&reversed).is_empty(), "{index}");
    }
    // Twice the same schedule needs twice the room.
    let mut twice = job.solutions().to_vec();
    twice.push(twice[1].clone());
    let twice = Job::new(twice, None, None).unwrap();
    assert_eq!(codes(&twice), only("J002"));
}

/// A file with a few letters changed is unreadable, refuted, or holds; nothing else happens.
#[test]
fn damaged_files_are_no_danger() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut seen = BTreeSet::new();
    for (_, text) in files("schedules/jobs").into_iter().cycle().take(3000) {
        let mut bytes = text.into_bytes();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..bytes.len());
            let digits = b"0123456789";
            match rng.u32(..3) {
                0 => bytes[at] = rng.u8(32..127),
                1 => drop(bytes.remove(at)),
                _ => {
                    let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
                    bytes[places[rng.usize(..places.len())]] = digits[rng.usize(..10)];
                }
            }
        }
        seen.insert(judge(&String::from_utf8(bytes).unwrap()).0);
    }
    assert_eq!(seen.len(), 3);
}

/// The total width of a job is bounded from below by what its evidence proves, never by more.
#[test]
fn bounds_above_their_evidence_are_refused() {
    let job = planned();
    let bound = job.bound.clone().unwrap();
    let proven = job_value(&job.problems(), &bound).unwrap();
    assert_eq!(proven, bound.at_least);
    let claim = |at_least| {
        let bound = Some(JobBound { at_least, ..bound.clone() });
        codes(&Job::new(job.solutions().to_vec(), bound, None).unwrap())
    };
    assert_eq!(claim(proven - 1), BTreeSet::new());
    assert_eq!(claim(proven + 1), BTreeSet::from(["C001".to_owned()]));
}
