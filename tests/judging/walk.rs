//! Every command that reads a file, on every hostile file and on mutants of them, with 3 GiB of address space: a
//! command may refuse a file, but neither abort, nor panic, nor run on.
//!
//! The files are those in `hostile/`, and some that are made here as they are long. Every file goes to every command in
//! one way, with `SYNTH_FULL` in all ways. `SYNTH_FUZZ_RUNS` states the number of mutants, `SYNTH_FUZZ_SEED` the first;
//! each goes to the judge and to three commands that are drawn.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::{env, fs, thread};

use collsynth_judging_kit::dice::Dice;

use crate::support::bench::{Bench, built, text};

/// The address space of a command in KiB, and its seconds of the processor, which other work does not take.
const ADDRESS_SPACE: u64 = 3 << 20;
const SECONDS: u64 = 30;

/// Lines for a shell that read the file `$f`, by the command that they test.
const READING: &[(&str, &[&str])] = &[
    (
        "verify",
        &[
            "synth verify $f",
            "synth verify --format json $f",
            "synth verify --bounds $f",
            "synth verify --shrink --time-limit 2s $f -o $o",
        ],
    ),
    ("verify", &["synth-verify $f", "synth verify --format sarif $f"]),
    (
        "show",
        &[
            "synth show $f",
            "synth show $f --links --format csv",
            "synth show $f --format json --step 1 | head -c 1000000",
        ],
    ),
    ("show", &["synth show $f --format svg", "synth show $f --format map", "synth show $f --rank 0 --all"]),
    ("view", &["synth view $f -o $o"]),
    (
        "lower",
        &["synth lower $f -q -o $o", "synth lower $f -q --rank 0 -o $o", "synth lower $f -q --barriers global -o $o"],
    ),
    (
        "convert",
        &["synth convert $f --to csv -o $o", "synth convert $f --to trace -o $o", "synth convert $f --to goal -o $o"],
    ),
    ("convert", &["synth convert $f --to msccl -o $o", "synth convert $f --to csv --rank 0 -o $o"]),
    ("run", &["synth run $f --bytes 1KiB -n 1 --timeout 5s", "synth run $f --bytes 1KiB -n 1 --transport group"]),
    ("polish", &["synth polish $f --time-limit 2s -q -o $o"]),
    ("convert", &["synth convert $f --to compact -o $o"]),
    // Its output is as long as it says.
    ("convert", &["synth convert $f --to explicit | head -c 1000000"]),
    ("convert", &["synth convert $f --schedule 0 -o $o"]),
    (
        "convert",
        &["synth convert $f --from forestcoll --topology ring4.json -o $o", "synth convert $f --from sccl -o $o"],
    ),
    ("convert", &["synth convert $f --from msccl -o $o"]),
    ("convert", &["synth convert $f --from teccl --topology ring4.json --collective all_gather -o $o"]),
    ("topology", &["synth topology --topology $f"]),
    ("bound", &["synth bound --topology $f", "synth bound --torus 4 --collective all_to_allv --demand $f"]),
    (
        "plan",
        &["synth plan --topology $f --time-limit 2s -q -o $o", "synth --torus 4 --job $f --time-limit 2s -q -o $o"],
    ),
    ("compare", &["synth compare --topology $f --time-limit 2s"]),
    ("pareto", &["synth pareto --topology $f --time-limit 2s"]),
    ("survey", &["synth survey --topology $f --cables 1"]),
    // A set whose only schedule is the file.
    ("fallbacks", &["cp $f set/0.json && synth fallbacks get set --fail 0,1 -o $o"]),
];
/// Commands that read no such file.
const NOT_READING: [&str; 3] = ["planners", "explain", "util"];

#[test]
fn every_command_is_tried() {
    let all = collsynth::cli::command();
    let names = all.get_subcommands().map(|command| command.get_name());
    let tried: BTreeSet<&str> = READING.iter().map(|(name, _)| *name).chain(NOT_READING).collect();
    assert_eq!(names.collect::<BTreeSet<_>>(), tried);
}

#[test]
fn hostile_files_are_judged_or_refused_by_every_command() {
    let ways = if env::var_os("SYNTH_FULL").is_some() { usize::MAX } else { 1 };
    let lines = || READING.iter().flat_map(move |(_, lines)| lines.iter().copied().take(ways));
    let cases = files().into_iter().flat_map(|(name, file)| {
        lines().map(move |line| Case { name: name.clone(), file: file.clone(), line }).collect::<Vec<_>>()
    });
    try_all(cases.collect());
}

#[test]
fn mutants_of_hostile_files_are_judged_or_refused() {
    let number = |name, default| env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let first: u64 = number("SYNTH_FUZZ_SEED", 0);
    // Long files are mostly repetition: mutants of them are not other files.
    let files: Vec<_> = files().into_iter().filter(|(_, file)| file.len() < 100_000).collect();
    let all: Vec<&str> = lines().collect();
    let mut cases = Vec::new();
    for seed in first..first + number("SYNTH_FUZZ_RUNS", 24) {
        let mut dice = Dice::from_seed(seed);
        let (name, file) = dice.pick(&files);
        let file = mutant(&mut dice, file);
        let mut case = |line| cases.push(Case { name: format!("{name}, seed {seed}"), file: file.clone(), line });
        case("synth-verify $f");
        (0..3).for_each(|_| case(*dice.pick(&all[..])));
    }
    try_all(cases);
}

/// A line to try on a file.
struct Case {
    name: String,
    file: String,
    line: &'static str,
}

fn lines() -> impl Iterator<Item = &'static str> {
    READING.iter().flat_map(|(_, lines)| lines.iter().copied())
}

/// Tries all, a few at a time.
fn try_all(mut cases: Vec<Case>) {
    assert!(!cases.is_empty());
    cases.reverse();
    let (cases, wrong) = (Mutex::new(cases), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                let bench = bench();
                while let Some(case) = { cases.lock().expect("no panic").pop() } {
                    // Not in one expression, which would hold the lock while the case runs, and the other threads up.
                    let found = trouble(&bench, &case);
                    wrong.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// A folder with what lines name beside the file.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("ring4.json", r#"{"torus": [4]}"#);
    bench.ended(0, "fallbacks build --torus 4 --collective all_gather --cables 1 -o set -q");
    let index = bench.folder.path().join("set/index.json");
    let text = fs::read_to_string(&index).expect("an index");
    let mut set: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    set["classes"][0]["file"] = "0.json".into();
    fs::write(index, set.to_string()).expect("an index");
    bench
}

/// What went wrong with a case, if anything did.
fn trouble(bench: &Bench, case: &Case) -> Option<String> {
    bench.write("f", &case.file);
    let line = format!("set -o pipefail; ulimit -v {ADDRESS_SPACE}; ulimit -t {SECONDS}; f=f o=out; {}", case.line);
    let paths = format!("{}:{}", built().display(), env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).env("PATH", paths).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    let output = shell.current_dir(bench.folder.path()).output().expect("the shell runs");
    let said = text(&output.stderr);
    // Of `expand | head`, that the output was closed.
    let is_right = matches!(output.status.code(), Some(0..=4)) || case.line.contains("| head");
    let is_well = is_right && !said.contains("panicked") && !said.contains("memory allocation");
    (!is_well)
        .then(|| format!("{}: {}: {:?}\n  {:.300}\n  {said:.300}", case.line, case.name, output.status, case.file))
}

/// Hostile files and their names.
fn files() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judging/hostile");
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let stored = entries.filter(|path| path.extension().is_some_and(|ending| ending != "txt"));
    let mut files: Vec<(String, String)> = stored
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read_to_string(&path)))
        .map(|(name, text)| (name, text.expect("a text")))
        .collect();
    files.sort();
    let list = |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(",");
    let schedule = |rest: String| format!(r#"{{"format":"collective-schedule/1",{rest}}}"#);
    let broadcast = r#""collective":{"kind":"broadcast","root":0}"#;
    // A pattern that expands to 262 million moves.
    let zeros = list(16_000, &|_| "0".to_owned());
    let step = format!(r#"{{"pattern":[{{"from":0,"to":1,"chunks":[{zeros}]}}],"transfers":[]}}"#);
    let gather = r#""topology":{"torus":[16384]},"collective":{"kind":"all_gather"}"#;
    let expand = format!(r#"{gather},"exceptions":[],"steps":[{step}]"#);
    files.push(("expand".to_owned(), schedule(expand)));
    // No transfers in many steps on a large machine.
    let idle = list(2900, &|_| r#"{"transfers":[]}"#.to_owned());
    files.push((
        "idle".to_owned(),
        schedule(format!(r#""topology":{{"torus":[300,300]}},{broadcast},"steps":[{idle}]"#)),
    ));
    // Ranks by coordinates on a machine whose ranks have names.
    let (names, places) = (
        list(90_000, &|rank| format!(r#""a{rank}""#)),
        list(90_000, &|rank| format!(r#""{}.{}""#, rank % 300, rank / 300)),
    );
    let named =
        format!(r#""topology":{{"torus":[300,300],"names":[{names}]}},{broadcast},"groups":[[{places}]],"steps":[]"#);
    files.push(("named".to_owned(), schedule(named)));
    // A cut through many groups of a kind with roots.
    let groups = 32_000;
    let pairs = list(groups, &|group| format!("[{},{}]", 2 * group, 2 * group + 1));
    let sends = list(groups, &|group| format!(r#"{{"from":{},"to":{},"chunks":[{group}]}}"#, 2 * group, 2 * group + 1));
    let cut = list(groups, &|group| (2 * group + 1).to_string());
    let problem = format!(r#""topology":{{"torus":[64000]}},{broadcast},"groups":[{pairs}]"#);
    let bounds = format!(r#"{{"volume":{{"at_least":"1/4","kind":"cut","ranks":[{cut}]}}}}"#);
    let divided = format!(r#"{problem},"steps":[{{"transfers":[{sends}]}}],"bounds":{bounds}"#);
    files.push(("divided".to_owned(), schedule(divided)));
    // A reduce along a ring, one move a step: too large for the planner that polishes.
    let chain = list(2000, &|step| {
        format!(r#"{{"transfers":[{{"from":{},"to":{step},"op":"reduce","chunks":[0]}}]}}"#, step + 1)
    });
    let reduce = r#""collective":{"kind":"reduce","root":0}"#;
    files.push(("sums".to_owned(), schedule(format!(r#""topology":{{"torus":[16384]}},{reduce},"steps":[{chain}]"#))));
    files
}

/// The text with some numbers changed, or entries left out or repeated.
fn mutant(dice: &mut Dice, file: &str) -> String {
    let mut text = file.to_owned();
    for _ in 0..1 + dice.below(3) {
        text = if dice.chance(33) { without_or_twice(dice, &text) } else { other_number(dice, &text) };
    }
    text
}

/// A number becomes another, most often one near a power of two.
fn other_number(dice: &mut Dice, text: &str) -> String {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> = (0..text.len()).filter(|&at| is_digit(at) && (at == 0 || !is_digit(at - 1))).collect();
    if starts.is_empty() {
        return text.to_owned();
    }
    let start = *dice.pick(&starts);
    let end = (start..).find(|&at| !is_digit(at)).unwrap_or(text.len());
    let near = (1_i128 << dice.below(65)) + dice.below(3) as i128 - 1;
    let number = match dice.below(4) {
        0 => (dice.below(5) as i128).to_string(),
        1 => format!("-{near}"),
        _ => near.to_string(),
    };
    format!("{}{number}{}", &text[..start], &text[end..])
}

/// An entry, between two commas, is left out or stands twice.
fn without_or_twice(dice: &mut Dice, text: &str) -> String {
    let commas: Vec<usize> = text.match_indices(',').map(|(at, _)| at).collect();
    if commas.len() < 2 {
        return text.to_owned();
    }
    let first = dice.below(commas.len() - 1);
    let (start, end) = (commas[first], commas[first + 1]);
    match dice.chance(50) {
        true => format!("{}{}", &text[..start], &text[end..]),
        false => format!("{}{}", &text[..end], &text[start..]),
    }
}
