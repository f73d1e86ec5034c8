//! Exit codes, files that stay whole, limits, signals, readers that leave.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assert_cmd::assert::OutputAssertExt;

use crate::support::bench::{Bench, built, text};

#[test]
fn quiet_is_silent() {
    let output = Bench::new().run("--torus 4x4 --fail 0,1 -q");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
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
fn standard_input_stands_for_one_file() {
    let bench = Bench::new();
    let plan = bench.stdout("--torus 4");
    for words in [
        "verify - -",
        "verify - --topology -",
        "compare - -",
        "view - - -o view.html",
        "--topology - --collective all_to_allv --demand -",
        "--topology - --names -",
    ] {
        let output = bench.run_with(words, plan.as_bytes());
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains("standard input is read once: `-` stands for one file"), "{words}: {said}");
        assert_eq!(output.status.code(), Some(2), "{words}");
    }
    bench.run_with("verify - --shrink", plan.as_bytes()).assert().code(0);
}

#[test]
#[cfg(target_os = "linux")]
fn answers_that_cannot_be_written_are_failures() {
    let bench = Bench::new();
    for words in ["--help", "plan -h", "--version", "planners", "--torus 4 -q", "explain C001"] {
        let output = bench.shell(&format!("synth {words} >/dev/full"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(text(&output.stderr).starts_with("error: cannot write to standard output: "), "{words}");
    }
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

/// What a terminal shows of a command in this folder.
#[cfg(target_os = "linux")]
fn on_a_terminal(bench: &Bench, words: &str) -> String {
    let command = format!("{} {words}", env!("CARGO_BIN_EXE_synth"));
    let mut script = std::process::Command::new("script");
    let shown = script.args(["-qec", &command, "/dev/null"]).current_dir(bench.folder.path()).stdin(Stdio::null());
    text(&shown.output().expect("script, of util-linux, gives a terminal").stdout)
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_gets_a_summary_not_the_file() {
    let bench = Bench::new();
    bench.run("--torus 3 --collective all_gather -q -o s.json").assert().success();
    bench.run("convert s.json --to msccl -o p.xml").assert().success();
    for words in ["--torus 4x4 --fail 0,1", "polish s.json", "lower s.json", "convert p.xml --from msccl"] {
        let shown = on_a_terminal(&bench, words);
        assert!(!shown.contains("\"format\""), "{words}: {shown}");
        assert!(
            shown.contains("hint: -o FILE writes the ") && shown.contains("-o - to this terminal"),
            "{words}: {shown}"
        );
    }
    let shown = on_a_terminal(&bench, "--torus 4x4 --fail 0,1");
    assert!(shown.contains("certified optimal") && !shown.contains("next: "), "{shown}");
    let insisted = on_a_terminal(&bench, "--torus 4x4 --fail 0,1 -o -");
    assert!(insisted.contains("\"format\"") && !insisted.contains("hint: "), "{insisted}");
    // What to do next is for people who wrote a file.
    let written = on_a_terminal(&bench, "--torus 4x4 --fail 0,1 -o t.json");
    for word in ["next: synth run t.json", "synth lower t.json", "synth convert t.json"] {
        assert!(written.contains(word), "{written}");
    }
    assert!(!text(&bench.run("--torus 4x4 -o t.json").stderr).contains("next: "));
}

/// The exit code and standard error of a command whose standard output nobody reads.
fn unread(bench: &Bench, program: &Path, words: &str) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = std::process::Command::new(program);
    command.args(words.split_whitespace()).current_dir(bench.folder.path()).stdin(Stdio::null()).stdout(writer);
    let output = command.stderr(Stdio::piped()).output().expect("the command runs");
    (output.status.code(), text(&output.stderr))
}

/// One rule for every command: the exit code is that of a reader that stays.
#[test]
fn a_reader_that_leaves_changes_no_exit_code() {
    let bench = Bench::new();
    bench.run("--torus 4x4x4 -q -o s.json").assert().success();
    bench.run("--torus 3 --collective all_gather -q -o small.json").assert().success();
    bench.run("lower small.json -q -o p.json").assert().success();
    bench.run("convert small.json --to msccl -o p.xml").assert().success();
    bench.write("wrong.json", &String::from_utf8(bench.read("small.json")).unwrap().replacen("[0]", "[1]", 1));
    bench
        .write("wrong.xml", &String::from_utf8(bench.read("p.xml")).unwrap().replacen("type=\"s\"", "type=\"nop\"", 1));
    bench.write("broken.json", "{");
    let synth = Path::new(env!("CARGO_BIN_EXE_synth"));
    let mut commands = vec![
        (0, "topology --torus 32x32x32".to_owned()),
        (0, "show s.json --all".to_owned()),
        (0, "--torus 4x4x4 -q".to_owned()),
        (0, "--torus 4x4 -q -o /dev/stdout".to_owned()),
        (0, "verify --format json s.json".to_owned()),
        (0, "verify s.json p.json".to_owned()),
        (1, "verify s.json wrong.json".to_owned()),
        (1, "verify --shrink wrong.json".to_owned()),
        (2, "verify wrong.json broken.json".to_owned()),
        (0, "lower s.json".to_owned()),
        (0, "lower s.json -o /dev/stdout".to_owned()),
        (0, "convert p.xml --from msccl".to_owned()),
        (1, "convert wrong.xml --from msccl".to_owned()),
        (0, "polish small.json".to_owned()),
        (0, "pareto --torus 3".to_owned()),
        (0, "compare --torus 3".to_owned()),
        (0, "bound --torus 4x4".to_owned()),
        (0, "run s.json --bytes 64KiB".to_owned()),
        (0, "planners".to_owned()),
        (0, "explain D001".to_owned()),
        (0, "util schema schedule".to_owned()),
        (0, "util completions bash".to_owned()),
        (0, "--help".to_owned()),
        (0, "--version".to_owned()),
    ];
    commands.extend(["csv", "trace", "msccl", "rccl", "goal"].map(|to| (0, format!("convert s.json --to {to}"))));
    commands.extend(["sarif", "github"].map(|form| (1, format!("verify wrong.json --format {form}"))));
    for (code, words) in commands {
        let staying = bench.run(&words.replace("/dev/stdout", "-"));
        assert_eq!(staying.status.code(), Some(code), "{words}: {}", text(&staying.stderr));
        let (ending, said) = unread(&bench, synth, &words);
        assert!(ending == Some(code) && !said.contains("error:"), "{words}: {ending:?} {said}");
    }
    for (code, words) in [(0, "s.json"), (1, "s.json wrong.json"), (2, "wrong.json broken.json"), (0, "--help")] {
        assert_eq!(unread(&bench, &built().join("synth-verify"), words), (Some(code), String::new()), "{words}");
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
    bench.ended(4, "--torus 4x4 --fail 0,1 --parts 5 --time-limit 0s -o s.json");
    if bench.names() == ["s.json"] {
        bench.run("verify s.json").assert().code(0);
    }
}

/// Answers without the linear program are given all the same.
#[test]
fn bounds_that_were_not_stopped_are_printed() {
    let bench = Bench::new();
    let machine = "bound --torus 4x4 --fail 0,1 --time-limit 0s";
    let output = bench.ended(4, &format!("{machine} --lp"));
    assert!(text(&output.stderr).contains("the time limit came before the solution; these are the bounds without it"));
    assert!(text(&output.stdout).contains("for whole messages: volume >= 10"), "{}", text(&output.stdout));
    let output = bench.ended(4, &format!("{machine} --frontier"));
    assert_eq!(text(&output.stdout), "");
}

/// A row of the frontier is no weaker than the bounds on any number of steps, those for these parts alone among them.
#[test]
fn frontiers_heed_bounds_for_these_parts() {
    let bench = Bench::new();
    let all_gather = "bound --torus 2x3 --collective all_gather --parts 2 --wrap no --fail-link 0,y+";
    let broadcast = "bound --torus 3x2 --collective broadcast --parts 2 --fail-link 0,x+";
    for (problem, width) in [(all_gather, 6), (broadcast, 3)] {
        assert!(bench.stdout(problem).contains(" in 2 parts  flow over time"), "{problem}");
        let frontier: serde_json::Value =
            serde_json::from_str(&bench.stdout(&format!("{problem} --frontier --format json"))).expect("an object");
        let rows = frontier["frontier"].as_array().expect("rows");
        assert!(!rows.is_empty() && rows.iter().all(|row| row["total_width"].as_u64() >= Some(width)), "{frontier}");
        let optimal = rows.iter().filter(|row| row["planned_width"].as_u64() == Some(width));
        assert!(optimal.into_iter().all(|row| !row["optimal_for"].is_null()), "{frontier}");
    }
}

/// Judging this plan takes longer than a search may after Ctrl-C.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_time_to_judge_what_there_is() {
    let plan = "--torus 16x16x16 --fail 2,3 --collective all_reduce --max-steps 48 -o s.json";
    // How long that takes here, now.
    let bench = Bench::new();
    let begun = Instant::now();
    let whole = bench.run(plan);
    let (took, said) = (begun.elapsed(), text(&whole.stderr));
    let seconds = |after: &str| -> f64 {
        let rest = said.split(after).nth(1).unwrap_or_else(|| panic!("{said}"));
        rest.split(" s").next().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"))
    };
    let judging = Duration::from_secs_f64(seconds("verified in "));
    let bench = Bench::new();
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_synth"))
        .args(plan.split_whitespace())
        .current_dir(bench.folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    std::thread::sleep(took - judging.mul_f64(0.8));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("a signal is sent");
    let output = child.wait_with_output().expect("the command ends");
    let said = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 4)), "{said}");
    assert!(said.contains("verified in") && bench.names() == ["s.json"], "{said}");
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
