//! The judges on many generated files, and on those in which they once disagreed.
//!
//! `SYNTH_FUZZ_SEED=7 cargo test -p collsynth-judging-kit --release -- --ignored --nocapture` compares a million, from another
//! seed on, and prints what was met; a case that fails prints its seed and its file, and repeats alone with
//! `SYNTH_FUZZ_CASES=1` and `SYNTH_FUZZ_SORT=jobs`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::{env, fs};

use collsynth_judging_kit::compare::{Compare, Disagreement, SORTS, Seen, agree_on, compare_schedule};
use collsynth_judging_kit::dice::Dice;
use collsynth_judging_kit::naive;
use collsynth_judging_kit::naive::program::judge;
use collsynth_judging_kit::naive::program::place::Placing;
use collsynth_judging_kit::naive::reader::from_text;
use proptest::prelude::{ProptestConfig, any};
use proptest::{prop_assert, proptest};
use serde_json::Value;

/// How often each verdict was agreed on, each code given, and each thing met that an opinion names.
type Tally = BTreeMap<String, usize>;

fn tally(what: &str, compare: Compare, first: u64, cases: u64) -> Tally {
    let mut tally = Tally::new();
    for seed in first..first + cases {
        let compared = catch_unwind(AssertUnwindSafe(|| compare(&mut Dice::from_seed(seed))));
        match compared {
            Ok(Ok(seen)) => {
                for word in seen.codes.into_keys().chain([seen.verdict]).chain(seen.reached) {
                    *tally.entry(word).or_default() += 1;
                }
            }
            Ok(Err(disagreement)) => panic!("{what}, seed {seed}: {disagreement}"),
            Err(panic) => {
                println!("{what}, seed {seed}: a judge panics");
                resume_unwind(panic);
            }
        }
    }
    tally
}

/// Compares files of a sort, and each of these words is met so often.
fn met(sort: &str, cases: u64, expected: &[(usize, &[&str])]) {
    let &(what, compare) = SORTS.iter().find(|(name, _)| *name == sort).expect("a sort of files");
    let tally = tally(what, compare, 0, cases);
    for &(least, words) in expected {
        let seldom: Vec<_> = words.iter().filter(|word| tally.get(**word).copied().unwrap_or(0) < least).collect();
        assert!(seldom.is_empty(), "met less than {least} times: {seldom:?} of {tally:#?}");
    }
}

#[test]
fn schedules() {
    met(
        "schedules",
        6000,
        &[
            (70, &["D001", "D002", "L001", "R002", "T002", "W001", "W002", "W004", "holds", "refuted", "unreadable"]),
            (20, &["D003", "F001", "F002", "F003", "F004", "F005", "F006", "L002", "R001", "R003", "T001", "T003"]),
            (5, &["D004", "F007", "F008", "F009", "W003"]),
            (50, &["groups with relays", "groups without relays", "steps optimal", "trees", "volume optimal"]),
            (20, &["F010", "way back"]),
        ],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    /// Others each time.
    #[test]
    fn schedules_of_any_seed(seed in any::<u64>()) {
        if let Err(disagreement) = compare_schedule(&mut Dice::from_seed(seed)) {
            prop_assert!(false, "seed {}: {}", seed, disagreement);
        }
    }
}

#[test]
fn programs() {
    met(
        "programs",
        3000,
        &[
            (50, &["D002", "F002", "F003", "P001", "P006", "P008", "T002", "holds", "refuted", "unreadable"]),
            (5, &["P002", "P003", "P004", "P005", "P007", "R001", "R002", "T001", "T003", "F008", "F009"]),
            (50, &["holds on its own machine", "holds on any machine", "holds on its own machine, no link shared"]),
            (20, &["holds on any machine, no link shared"]),
        ],
    );
}

#[test]
fn programs_on_machines() {
    met(
        "programs on machines",
        3000,
        &[
            (50, &["D002", "P001", "P006", "P008", "T001", "T002", "T003", "usage", "holds", "refuted", "unreadable"]),
            (20, &["a map too short", "a map too long", "a map out of range", "a map a place twice"]),
            (20, &["holds on another machine", "holds on another machine by a map"]),
            (5, &["holds on another machine by a map, no link shared"]),
        ],
    );
}

#[test]
fn certificates() {
    met(
        "certificates",
        3000,
        &[
            (300, &["C001", "holds", "refuted", "unreadable"]),
            (30, &["cut not proven", "joint not proven", "metric not proven", "metric_over_time not proven"]),
            (30, &["cut proven", "joint proven", "metric proven", "metric_over_time proven", "steps not proven"]),
            (30, &["metric with a period proven", "metric with a period not proven"]),
            (5, &["partition not proven", "partition proven", "steps proven", "groups without relays"]),
            (20, &["steps optimal", "steps above", "volume optimal", "volume above", "2^127 holds", "2^64 refuted"]),
        ],
    );
}

#[test]
fn jobs() {
    met(
        "jobs",
        4000,
        &[
            (
                100,
                &[
                    "C001",
                    "J002",
                    "holds",
                    "refuted",
                    "unreadable",
                    "job partitions proven",
                    "job partitions not proven",
                ],
            ),
            (20, &["J001", "job cuts proven", "job cuts not proven", "job weights proven", "job weights not proven"]),
            (10, &["job steps optimal", "job total_width optimal", "2^127 holds", "2^64 holds", "2^32 holds"]),
            (5, &["cut proven, in jobs", "joint proven, in jobs", "metric proven, in jobs", "steps proven, in jobs"]),
            (5, &["groups with relays, in jobs", "groups without relays, in jobs", "metric_over_time proven, in jobs"]),
        ],
    );
}

#[test]
fn compact_forms() {
    met(
        "compact forms",
        9000,
        &[
            (50, &["D001", "D002", "F005", "F006", "F010", "R002", "T001", "T003", "W002", "W004", "holds", "refuted"]),
            (10, &["F002", "F003", "F008", "L001", "L002", "R001", "R003", "T002", "W001", "W003", "unreadable"]),
            (500, &["compact form"]),
            (200, &["cells"]),
            (200, &["altered chunks"]),
            (50, &["way back"]),
        ],
    );
}

#[test]
#[cfg(feature = "lowered")]
fn lowered_schedules() {
    met(
        "lowered schedules",
        1000,
        &[
            (50, &["lowered with barriers none", "lowered with barriers neighbour", "lowered with barriers global"]),
            (5, &["lowered with barriers none, without relays", "lowered with barriers neighbour, without relays"]),
            (5, &["lowered with barriers global, without relays"]),
        ],
    );
}

#[test]
#[cfg(feature = "lowered")]
fn changed_lowered_schedules() {
    met(
        "lowered schedules, changed",
        4000,
        &[
            (50, &["D002", "P001", "P002", "P003", "P004", "P006", "P008", "holds", "refuted"]),
            (10, &["P005", "P007", "R001", "R002", "T001", "T002", "T003"]),
        ],
    );
}

/// Both judges on a file as it stands.
fn both(text: &str) -> Option<Result<Seen, Box<Disagreement>>> {
    let mut file = from_text(text)?;
    // What is stated beside a program stands in its file here.
    let beside = file.get("beside").cloned();
    let Some(beside) = beside else {
        return Some(agree_on(text, &Placing::default(), &naive::judge(&file)));
    };
    file = file["file"].take();
    let ranks = |map: &Value| map.as_array().map(|map| map.iter().filter_map(Value::as_u64).collect());
    let placing = Placing {
        machine: beside.get("topology").cloned(),
        map: beside.get("rank_map").and_then(ranks),
        contention_free: beside["contention_free"] == true,
    };
    Some(agree_on(&file.to_string(), &placing, &judge::judge(&file, &placing)))
}

/// The hand-written files, right and wrong, that are JSON, and those on which the judges once disagreed.
#[test]
fn examples() {
    let mut folders =
        ["../../schedules", "disagreed"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).to_vec();
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
                match both(&fs::read_to_string(&path).expect("a text")) {
                    Some(Err(disagreement)) => panic!("{}: {disagreement}", path.display()),
                    compared_both => compared += usize::from(compared_both.is_some()),
                }
            }
        }
    }
    assert!(compared > 80, "{compared} files");
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
            for (_, compare) in SORTS {
                compare(&mut Dice::from_bytes(&bytes)).unwrap_or_else(|disagreement| panic!("{disagreement}"));
            }
        }
    }
}

/// A million files, each sort by its share.
#[test]
#[ignore = "half an hour"]
fn many() {
    let number = |name, default| env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let first = number("SYNTH_FUZZ_SEED", 0);
    let sort = env::var("SYNTH_FUZZ_SORT").ok();
    for (what, compare) in SORTS.iter().filter(|(what, _)| sort.as_ref().is_none_or(|sort| sort == what)) {
        let cases = number("SYNTH_FUZZ_CASES", if what.starts_with("lowered") { 40_000 } else { 160_000 });
        println!("{cases} {what} from seed {first}: {:#?}", tally(what, *compare, first, cases));
    }
}
