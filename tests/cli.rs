//! The `synth` command from outside: what it prints, writes and returns.
//!
//! Help texts and error messages are kept in `tests/snapshots`; after a wanted change,
//! `INSTA_UPDATE=always cargo test --test cli` writes them anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::assert::OutputAssertExt;
use serde_json::Value;
use tempfile::TempDir;

/// A folder to work in, and the command run in it.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// `synth` with these words, in this folder.
    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
        command.args(words.split_whitespace()).current_dir(self.folder.path());
        command.env("COLUMNS", "100").timeout(Duration::from_secs(120));
        command
    }

    fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("the command runs")
    }

    /// Runs it with this on standard input.
    fn run_with(&self, words: &str, input: &[u8]) -> Output {
        self.command(words).write_stdin(input).output().expect("the command runs")
    }

    /// Runs it, expects success, and gives standard output.
    fn stdout(&self, words: &str) -> String {
        text(&self.run(words).assert().success().get_output().stdout)
    }

    fn write(&self, name: &str, contents: &str) {
        fs::write(self.folder.path().join(name), contents).expect("a file");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("a file")
    }

    /// The names of the files in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// A schedule that uses a link that failed.
const REFUTED: &str = r#"{
  "format": "collective-schedule/1",
  "topology": {"torus": [3], "failed_links": [{"from": 0, "to": 1}]},
  "collective": {"kind": "broadcast", "root": 0},
  "steps": [
    {"transfers": [
      {"from": 0, "to": 1, "chunks": [0]},
      {"from": 0, "to": 2, "chunks": [0]}]}
  ]
}
"#;

/// A broadcast on a line of three, from the middle.
const HOLDS: &str = r#"{
  "format": "collective-schedule/1",
  "topology": {"torus": [3], "wrap": [false]},
  "collective": {"kind": "broadcast", "root": 1},
  "steps": [
    {"transfers": [
      {"from": 1, "to": 0, "chunks": [0]},
      {"from": 1, "to": 2, "chunks": [0]}]}
  ]
}
"#;

#[test]
fn the_main_command_prints_a_schedule_that_holds() {
    let bench = Bench::new();
    for machine in ["--torus 4x4x4 --fail 2,3,x", "--torus 4x4", "--torus 5 --fail 0,1", "--torus 2x3 --fail-rank 4"] {
        let output = bench.run(machine);
        assert_eq!(output.status.code(), Some(0), "{machine}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("verified in"), "{machine}: {}", text(&output.stderr));
        bench.run_with("verify -", &output.stdout).assert().code(0);
    }
}

#[test]
fn the_example_is_optimal_for_whole_messages() {
    let bench = Bench::new();
    let output = bench.run("--torus 4x4x4 --fail 2,3,x --format json");
    let summary: Value = serde_json::from_slice(&output.stderr).expect("a JSON summary");
    assert_eq!(summary["steps"]["value"], 6);
    assert_eq!(summary["steps"]["standing"], "optimal");
    assert_eq!(summary["volume"]["value"], "34");
    assert_eq!(summary["volume"]["bound"], "1024/31");
    assert_eq!(summary["volume"]["standing"], "optimal for parts");
    assert_eq!(summary["verified"], true);
}

#[test]
fn a_stated_price_predicts_the_time() {
    let bench = Bench::new();
    let words = "--torus 4 --message-bytes 64KiB --alpha 1us --bandwidth 50GB/s";
    let output = bench.run(words);
    // 2 steps of 1 us, and a volume of 2 messages of 65536 bytes at 50 GB/s.
    assert!(text(&output.stderr).contains("  time     4.62 us "), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("--message-bytes 65536 --alpha 1000ns --bandwidth 50000000000B/s"));
}

#[test]
fn quiet_is_silent() {
    let output = Bench::new().run("--torus 4x4 --fail 0,1 -q");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn the_same_wish_gives_the_same_bytes() {
    let bench = Bench::new();
    let first = bench.stdout("--torus 4x4 --fail 0,1,x --parts 3");
    for words in ["", "--threads 1", "--threads 2", "-q", "--format json"] {
        assert!(
            bench.stdout(&format!("--torus 4x4 --fail 0,1,x --parts 3 {words}")) == first,
            "differs with `{words}`"
        );
    }
}

#[test]
fn schedules_go_to_files_plain_and_packed() {
    let bench = Bench::new();
    let plain = bench.stdout("--torus 4x4");
    bench.run("--torus 4x4 -o a.json").assert().success().stdout("");
    bench.run("--torus 4x4 --output b.json.gz").assert().success().stdout("");
    bench.run("--torus 4x4 -o -").assert().success().stdout(plain.clone());
    assert_eq!(bench.read("a.json"), plain.as_bytes());
    assert!(bench.read("b.json.gz").starts_with(&[0x1f, 0x8b]));
    bench.run("verify a.json b.json.gz").assert().code(0);
    bench.run_with("verify -", &bench.read("b.json.gz")).assert().code(0);
    assert_eq!(bench.names(), ["a.json", "b.json.gz"]);
}

#[test]
fn a_file_stays_as_it_was_when_planning_fails() {
    let bench = Bench::new();
    bench.write("kept.json", "precious");
    bench.run("--torus 4 --fail 0,1 --fail 2,3 -o kept.json").assert().code(3);
    bench.run("--torus 4x4 --max-steps 1 -o kept.json").assert().code(3);
    bench.run("--torus 4x4 --planner none -o kept.json").assert().code(2);
    bench.run("--torus 4x4 -o missing/folder.json").assert().code(2);
    assert_eq!(bench.read("kept.json"), b"precious");
    assert_eq!(bench.names(), ["kept.json"]);
}

#[test]
fn a_machine_can_be_written_and_read_again() {
    let bench = Bench::new();
    let words = "--torus 4x3 --wrap yes,no --capacity 2,1 --fail 1.0,2.0,x --fail-link 4,5 --fail-rank 11";
    bench.write("machine.json", &bench.stdout(&format!("topology {words} --format json")));
    let again = bench.stdout("topology --topology machine.json --format json");
    assert_eq!(bench.read("machine.json"), again.as_bytes());
    assert_eq!(bench.stdout(&format!("topology {words}")), bench.stdout("topology --topology machine.json"));
    // Failures on the command line add to those of the file.
    let more = bench.stdout("topology --topology machine.json --fail 0,1");
    assert!(more.starts_with("4x3 torus (y open) with 2 failed cables, 1 failed link, 1 failed rank\n"), "{more}");
    bench.run("--topology machine.json").assert().success();
}

#[test]
fn explicit_graphs_are_planned_too() {
    let bench = Bench::new();
    let links = [(0, 1), (1, 2), (2, 0), (1, 0)].map(|(from, to)| format!(r#"{{"from":{from},"to":{to}}}"#));
    bench.write("graph.json", &format!(r#"{{"links": [{}]}}"#, links.join(",")));
    bench.run("--topology graph.json").assert().success();
    let text = bench.stdout("topology --topology graph.json");
    assert!(text.starts_with("graph of 3 ranks\n"), "{text}");
}

#[test]
fn verify_says_where_and_what() {
    let bench = Bench::new();
    bench.write("bad.json", REFUTED);
    bench.write("good.json", HOLDS);
    bench.write("broken.json", "{\n  \"format\": 1\n}\n");
    let output = bench.run("verify bad.json");
    assert_eq!(output.status.code(), Some(1));
    let verdict = text(&output.stdout);
    assert!(
        verdict.starts_with("bad.json: refuted\n  broadcast from 0 (0) on a ring of 3 ranks with 1 failed cable\n"),
        "{verdict}"
    );
    assert!(verdict.contains("\n  bad.json:7:7: T003: "), "{verdict}");
    // What cannot be read outweighs what is refuted, which outweighs what holds.
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
fn every_collective_that_has_a_planner_is_planned() {
    let bench = Bench::new();
    bench.write("demand.csv", &"0,1,0,2,0,0,0,0,3\n".repeat(9));
    let cases = [
        ("all_to_all", "all_to_all on"),
        ("all_to_allv --demand demand.csv", "all_to_allv on"),
        ("all_gather", "all_gather on"),
        ("reduce_scatter", "reduce_scatter on"),
        ("broadcast --root 1.1", "broadcast from 4 (1,1) on"),
        ("reduce --root 5", "reduce to 5 (2,1) on"),
        ("scatter", "scatter from 0 (0,0) on"),
        ("gather --root 8", "gather to 8 (2,2) on"),
        ("barrier", "barrier on"),
        ("all_reduce", "all_reduce on"),
        ("all_reduce_gathered", "all_reduce_gathered on"),
    ];
    for (words, headline) in cases {
        let words = format!("--torus 3x3 --fail 0,1 --collective {words}");
        let output = bench.run(&words);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
        assert!(text(&output.stderr).starts_with(headline), "{words}: {}", text(&output.stderr));
        let typed = words.replace(" --collective all_to_all", "");
        let typed = if words.ends_with(" all_to_all") { &typed } else { &words };
        assert!(text(&output.stdout).contains(&format!("\"command\": \"synth {typed}\"")), "{words}");
        bench.run_with("verify -", &output.stdout).assert().code(0);
        assert!(bench.stdout(&format!("bound {words}")).starts_with(headline), "{words}");
    }
}

#[test]
fn a_demand_comes_from_standard_input_too() {
    let bench = Bench::new();
    let output = bench.run_with("--torus 2 --collective all_to_allv --demand -", b"[[0, 3], [1, 0]]");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    bench.run_with("verify -", &output.stdout).assert().code(0);
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
fn bound_speaks_json() {
    let answer = Bench::new().stdout("bound --torus 4x4x4 --fail 2,3,x --format json");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!((&answer["steps"], &answer["volume"]), (&6.into(), &"1024/31".into()));
    assert_eq!(answer["total_width"], 34);
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
        let schema: Value = serde_json::from_str(&bench.stdout(&format!("schema {files}"))).expect("JSON");
        assert!(schema["$schema"].is_string());
    }
}

#[test]
fn every_shell_is_completed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(bench.stdout(&format!("completions {shell}")).contains("synth"), "{shell}");
    }
}

#[test]
fn all_planners_are_listed() {
    let list = Bench::new().stdout("planners");
    for planner in synth::plan::planners() {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(planner.name())), "{list}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let bench = Bench::new();
    bench.run("--torus 4x4x4 -o s.json").assert().success();
    for words in ["topology --torus 32x32x32", "show s.json --all", "--torus 4x4x4 -q"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_synth"))
            .args(words.split_whitespace())
            .current_dir(bench.folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{words}");
    }
}

#[test]
fn no_colour_means_no_colour() {
    let bench = Bench::new();
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        for words in ["--help", "--torus nonsense", "--torus 4x4 --fail 0,5", "verify missing.json"] {
            let output = bench.command(words).env(name, value).output().expect("the command runs");
            assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{name} {words}");
        }
    }
}

#[test]
fn a_limit_that_comes_too_soon_is_exit_code_4() {
    let bench = Bench::new();
    let output = bench.run("--torus 4x4 --fail 0,1 --parts 5 --time-limit 0s -o s.json");
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    if bench.names() == ["s.json"] {
        bench.run("verify s.json").assert().code(0);
    }
}

/// What needs no linear program is said all the same.
#[test]
fn bounds_that_were_not_stopped_are_printed() {
    let bench = Bench::new();
    let machine = "bound --torus 4x4 --fail 0,1 --time-limit 0s";
    let output = bench.run(&format!("{machine} --lp"));
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the time limit came before the solution; these are the bounds without it"));
    assert!(text(&output.stdout).contains("for whole messages: volume >= 10"), "{}", text(&output.stdout));
    let output = bench.run(&format!("{machine} --frontier"));
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
}

/// The machine and its parts are chosen so that planning takes seconds.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_there_is() {
    let bench = Bench::new();
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_synth"))
        .args("--torus 7x7 --wrap no --fail 0,1 --fail 8,9 --parts 26 -o s.json".split_whitespace())
        .current_dir(bench.folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    std::thread::sleep(Duration::from_millis(500));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("a signal is sent");
    let output = child.wait_with_output().expect("the command ends");
    let said = text(&output.stderr);
    if output.status.success() {
        return; // Planning ended before the signal came.
    }
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.starts_with("stopping with the best so far; once more to stop at once\n"), "{said}");
    match bench.names()[..] {
        [] => assert!(said.contains("nothing is written"), "{said}"),
        _ => {
            assert!(said.contains(", interrupted; verified in"), "{said}");
            bench.run("verify s.json").assert().code(0);
        }
    }
}

#[test]
fn refutations_leave_proofs_and_better_schedules() {
    let bench = Bench::new();
    let narrow = "--torus 4 --collective all_reduce --parts 3 --planner smt --steps 2 --width 3";
    for name in ["no.drat", "no.lrat"] {
        let said = bench.run(&format!("{narrow} --proof {name}")).assert().code(3).get_output().stderr.clone();
        let said = String::from_utf8(said).expect("text");
        assert!(
            said.contains("proof written to") && said.contains("cadical refutes 2 steps of total width 3"),
            "{said}"
        );
    }
    let mut files = bench.names();
    files.sort();
    assert_eq!(files, ["no.drat", "no.drat.cnf", "no.lrat", "no.lrat.cnf"]);
    bench.run("--torus 4 --planner smt --steps 4 --width 6 -o s.json").assert().code(0);
    bench.run("polish s.json -o p.json").assert().code(0);
    bench.run("verify p.json").assert().code(0);
    let shown = bench.stdout("show p.json");
    assert!(shown.contains("steps    2") && shown.contains("volume   2"), "{shown}");
}

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
        "run",
        "lower",
        "export",
        "import",
        "topology",
        "planners",
        "explain",
        "schema",
        "completions",
    ] {
        let name = if command.is_empty() { "synth" } else { command };
        insta::assert_snapshot!(format!("help_{name}"), bench.stdout(&format!("{command} --help")));
    }
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
        "--torus 4x4x4 --fail 2-3",
        "--torus 4x4x4 --fail 2,0,0,3,0,0,x",
        "--torus 4x4x4 --fail 2.0.0,3.0.9,x",
        "--torus 4x4x4 --fail 2,64,x",
        "--torus 4x4 --fail 0,1 --fail 1,0",
        "--torus 4x2 --wrap yes --fail 0,4,y",
        "--torus 4x4 --fail-rank here",
        "--torus 4x4 --fail-rank 3 --fail-rank 3",
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
        "schema picture",
        "completions cmd",
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

/// Every `console` block of the README is run and compared. After a wanted change,
/// `SYNTH_UPDATE_README=1 cargo test --test cli` writes the answers anew.
#[test]
fn the_readme_tells_the_truth() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).expect("the README");
    let bench = Bench::new();
    let (mut renewed, mut in_block, mut commands) = (String::new(), false, 0);
    for line in readme.lines() {
        if line.starts_with("```") {
            in_block = line == "```console";
        }
        if let Some(command) = line.strip_prefix("$ ").filter(|_| in_block) {
            commands += 1;
            let _ = write!(renewed, "{line}\n{}", transcript(&bench, command));
        } else if !in_block || line.starts_with("```") {
            let _ = writeln!(renewed, "{line}");
        }
    }
    assert!(commands >= 3, "the README shows the command at work");
    if std::env::var_os("SYNTH_UPDATE_README").is_some() {
        fs::write(&path, renewed).expect("the README");
    } else {
        assert!(
            renewed == readme,
            "the README differs from what the command says; SYNTH_UPDATE_README=1 renews it:\n{renewed}"
        );
    }
}

/// What a person sees who types a command, `> FILE` included, with the times taken masked.
fn transcript(bench: &Bench, command: &str) -> String {
    let words = command.strip_prefix("synth ").expect("a command of ours");
    let (words, file) = match words.split_once(" > ") {
        Some((words, file)) => (words, Some(file)),
        None => (words, None),
    };
    let output = bench.run(words);
    let mut seen = text(&output.stderr);
    match file {
        Some(file) => bench.write(file, &text(&output.stdout)),
        None => seen.push_str(&text(&output.stdout)),
    }
    seen.lines().fold(String::new(), |mut all, line| {
        let _ = match (line.split_once(" in "), line.starts_with("planned by ")) {
            (Some((planner, _)), true) => writeln!(all, "{planner} in ... s; verified in ... s"),
            _ => writeln!(all, "{line}"),
        };
        all
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text is UTF-8")
}
