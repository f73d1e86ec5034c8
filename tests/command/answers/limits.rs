//! Time limits and signals: every command that takes a limit keeps it, every command that searches ends at Ctrl-C, and
//! nothing is left half written. The machines are chosen so that without a limit most take minutes; the clock here is
//! generous, as other work may keep the processor busy.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::support::bench::{Bench, text};

/// A limit of 2 s, and 2 s more, on a processor that many share.
const PATIENCE: Duration = Duration::from_secs(30);

/// All commands, and theirs, with their help.
fn commands(bench: &Bench, words: &str) -> BTreeMap<String, String> {
    let help = bench.stdout(&format!("{words} --help"));
    let mut command = &collsynth::cli::command();
    for name in words.split_whitespace() {
        command = command.find_subcommand(name).expect("a command");
    }
    let names = command.get_subcommands().map(|command| command.get_name());
    let below: Vec<String> = names.map(|name| format!("{words} {name}").trim().to_owned()).collect();
    let mut all = BTreeMap::from([(words.to_owned(), help)]);
    below.iter().for_each(|words| all.extend(commands(bench, words)));
    all
}

/// What takes long: for each command with a time limit, words that go with it.
const LONG: &[(&str, &str)] = &[
    ("", "--torus 64x64 --fail 0,1 --collective gather -q -o answer.json"),
    ("plan", "--torus 40x40 --fail 0,1 --collective all_reduce --parts 40 -q -o answer.json"),
    ("bound", "--torus 6x6x6 --fail 0,1 --lp"),
    ("compare", "--torus 12x12 --fail 0,1 -q -o answer.txt"),
    ("pareto", "--torus 12x12 --fail 0,1 -q -o answer.txt"),
    ("polish", "hard.json -q -o answer.json"),
    ("verify", "--shrink wrong.json -o answer.json"),
];

/// Files that the commands read: a schedule far from the best, and a large one with a mistake.
fn write_inputs(bench: &Bench) {
    bench.ended(0, "--torus 5x5 --planner ring -q -o hard.json");
    bench.ended(0, "--torus 6x6x3 --collective all_to_all --form explicit -q -o right.json");
    let right = text(&bench.read("right.json"));
    bench.write("wrong.json", &right.replacen("\"from\": 7,", "\"from\": 8,", 1));
}

#[test]
fn every_command_with_a_time_limit_keeps_it() {
    let bench = Bench::new();
    write_inputs(&bench);
    let limited: BTreeSet<String> = commands(&bench, "")
        .into_iter()
        .filter(|(_, help)| help.contains("--time-limit"))
        .map(|(words, _)| words)
        .collect();
    let known: BTreeSet<String> = LONG.iter().map(|(command, _)| (*command).to_owned()).collect();
    assert_eq!(limited, known, "each command with a time limit is tried here on something that takes long");
    for (command, words) in LONG {
        let line = format!("{command} {words} --time-limit 2s");
        let started = Instant::now();
        let output = bench.run(&line);
        let (took, said) = (started.elapsed(), text(&output.stderr));
        assert!(took < PATIENCE, "{line}: {took:?}");
        // Refuted files are what shrinking is for.
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 4)) || (*command == "verify" && code == Some(1)), "{line}: {code:?} {said}");
        judged_or_none(&bench, &line);
    }
}

/// What was written holds, and nothing is half written.
fn judged_or_none(bench: &Bench, line: &str) {
    for name in bench.names() {
        assert!(!name.ends_with(".part"), "{line}: {name} is left");
    }
    if bench.names().contains(&"answer.json".to_owned()) && !line.contains("--shrink") {
        bench.ended(0, "verify answer.json");
    }
    let _ = std::fs::remove_file(bench.folder.path().join("answer.json"));
}

#[cfg(unix)]
fn signalled(
    bench: &Bench,
    words: &str,
    name: &str,
    ready: impl Fn(&Bench) -> bool,
) -> (Option<i32>, Duration, String) {
    let command = std::process::Command::new(env!("CARGO_BIN_EXE_synth"))
        .args(words.split_whitespace())
        .current_dir(bench.folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let mut child = command.expect("the command runs");
    let started = Instant::now();
    while !ready(bench) && started.elapsed() < PATIENCE && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = Instant::now();
    let kill = std::process::Command::new("kill").args([name, &child.id().to_string()]).status();
    kill.expect("a signal is sent");
    let output = child.wait_with_output().expect("the command ends");
    (output.status.code(), sent.elapsed(), text(&output.stderr))
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_every_search() {
    let more = [
        ("fallbacks build", "--torus 16x16 --cables 1,2 -q -o answer"),
        ("survey", "--torus 16x16 --cables 1,2 -q -o answer"),
        ("bound", "--torus 9x9x9 --fail 0,1 --frontier"),
        ("", "--torus 128x128 --fail 0,1 --collective broadcast -q -o answer.json"),
    ];
    for (command, words) in LONG.iter().chain(&more) {
        let bench = Bench::new();
        write_inputs(&bench);
        let (line, begun) = (format!("{command} {words}"), Instant::now());
        let long_enough = |_: &Bench| begun.elapsed() > Duration::from_millis(1500);
        let (code, took, said) = signalled(&bench, &line, "-INT", long_enough);
        assert!(took < PATIENCE, "{line}: {took:?}");
        // 130: it was still reading its file.
        assert!(matches!(code, Some(0 | 1 | 4 | 130)), "{line}: {code:?} {said}");
        judged_or_none(&bench, &line);
    }
}

/// Whatever the signal, a file that was being written is gone, and the one before it is whole.
#[cfg(unix)]
#[test]
fn signals_leave_no_temporary_files() {
    let bench = Bench::new();
    bench.ended(0, "--torus 16x16 --collective all_to_all --form compact --planner template -q -o large.json");
    bench.write("old.json", "precious");
    let writes =
        |bench: &Bench| bench.names().iter().any(|name| name.starts_with("old.json.") && name.ends_with(".part"));
    for name in ["-INT", "-TERM", "-HUP"] {
        let (code, _, said) = signalled(&bench, "convert large.json --to explicit -o old.json", name, writes);
        if code == Some(0) {
            continue; // It was done before the signal came.
        }
        assert_eq!(code, Some(130), "{name}: {said}");
        assert_eq!(bench.names(), ["large.json", "old.json"], "{name}");
        assert_eq!(bench.read("old.json"), b"precious", "{name}");
    }
}

/// A set of schedules that was interrupted goes on where it was: what is kept is not planned again.
#[test]
fn fallbacks_go_on_with_what_is_kept() {
    let bench = Bench::new();
    let build = "fallbacks build --torus 4x4 --cables 1,2 -q -o set";
    bench.ended(0, build);
    let index = bench.read("set/index.json");
    let files: Vec<String> = (0..3).map(|number| format!("set/{number}.json.gz")).collect();
    let kept = bench.read(&files[0]);
    // As if it had been interrupted: no index, one class without a schedule, one with that of another class.
    std::fs::remove_file(bench.folder.path().join("set/index.json")).expect("an index");
    std::fs::remove_file(bench.folder.path().join(&files[1])).expect("a schedule");
    std::fs::copy(bench.folder.path().join(&files[0]), bench.folder.path().join(&files[2])).expect("a schedule");
    let before =
        std::fs::metadata(bench.folder.path().join(&files[0])).and_then(|file| file.modified()).expect("a file");
    bench.ended(0, build);
    let after =
        std::fs::metadata(bench.folder.path().join(&files[0])).and_then(|file| file.modified()).expect("a file");
    assert_eq!((bench.read("set/index.json"), bench.read(&files[0]), after), (index, kept.clone(), before));
    assert_ne!(bench.read(&files[2]), kept);
    // Of another command nothing is taken.
    std::fs::remove_file(bench.folder.path().join("set/index.json")).expect("an index");
    bench.ended(0, &format!("{build} --seed 7"));
    assert_ne!(bench.read(&files[0]), kept);
}
