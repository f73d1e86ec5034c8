//! Exit codes, files that stay whole, limits, signals, readers that leave.

use std::process::Stdio;
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;

use crate::support::bench::{Bench, text};

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
