//! `synth run` in one process, from outside.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::bench::{Bench, text};

pub const RING: &str = "schedules/ring-all-reduce.json";

pub fn synth(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
    command.args(words.split_whitespace()).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command
}

pub fn run(words: &str) -> Output {
    synth(words).output().expect("the command runs")
}

fn json(words: &str) -> Value {
    let output = run(words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a JSON object")
}

#[test]
fn every_schedule_that_was_written_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schedules");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = format!("schedules/{}", path.file_name().expect("a name").to_string_lossy());
            let bytes = if name.contains("barrier") { "" } else { "--bytes 10KB" };
            let report = json(&format!("run {name} {bytes} --repeat 2 --format json"));
            assert_eq!((&report["correct"], &report["repeatable"]), (&Value::Bool(true), &Value::Bool(true)), "{name}");
            count += 1;
        }
    }
    assert!(count > 10, "the schedules were found");
}

#[test]
fn the_figures_are_those_of_collective_benchmarks() {
    let report = json("run schedules/ring-all-reduce.json --bytes 4000 --dtype f16 --op max --format json");
    assert_eq!(report["bytes"], 4000);
    let number = |key: &str| report[key].as_f64().expect("a number");
    let ranks = number("ranks");
    assert!((number("algbw") * number("seconds") - 4000.0).abs() < 1e-6);
    assert!((number("busbw") / number("algbw") - 2.0 * (ranks - 1.0) / ranks).abs() < 1e-9);
    assert_eq!(report["step_seconds"].as_array().map(Vec::len), Some(2 * (ranks as usize - 1)));
}

#[test]
fn any_number_of_elements_and_none() {
    for elements in [0, 1, 3, 4, 5] {
        let bytes = 4 * elements;
        let report = json(&format!("run schedules/ring-all-reduce.json --repeat 1 --bytes {bytes} --format json"));
        assert_eq!((&report["bytes"], &report["correct"]), (&Value::from(bytes), &Value::Bool(true)));
    }
}

#[test]
fn what_does_not_hold_is_not_run() {
    let output = run("run schedules/rejected/D001/no-such-file.json");
    assert_eq!(output.status.code(), Some(2));
    let wrong = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("schedules/rejected/D001"));
    for entry in wrong.expect("the folder") {
        let output = run(&format!("run {}", entry.expect("an entry").path().display()));
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true));
        assert!(String::from_utf8_lossy(&output.stderr).contains("D001"));
    }
    for words in ["--dtype f8", "--op mean", "--bytes many", "--rank 0", "--repeat 0", "--bytes 1TiB"] {
        assert_eq!(run(&format!("run schedules/all-to-all-ring.json {words}")).status.code(), Some(2), "{words}");
    }
}

#[test]
fn sizes_are_swept_as_by_collective_benchmarks() {
    let reports = json("run schedules/ring-all-reduce.json -b 1KiB -e 20KiB -f 4 --repeat 2 --format json");
    let sizes: Vec<u64> =
        reports.as_array().expect("a list").iter().map(|run| run["bytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [1024, 4096, 16384]);
    let text = run("run schedules/ring-all-reduce.json -b 1KiB -e 2KiB --repeat 2 --dtype f64 --op max");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    let rows: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert_eq!((&rows[1][..4], rows[1].last()), (&["2048", "256", "f64", "max"][..], Some(&"0")), "{text}");
    for words in ["-b 1KiB", "-e 1KiB", "-b 1KiB -e 2KiB -f 1", "-b 1KiB -e 2KiB --bytes 3"] {
        assert_eq!(run(&format!("run schedules/ring-all-reduce.json {words}")).status.code(), Some(2), "{words}");
    }
    let rounded = run("run schedules/ring-all-reduce.json --bytes 3 --repeat 1");
    assert!(String::from_utf8_lossy(&rounded.stderr).contains("3 bytes do not divide into blocks of f32: 4 were run"));
}

#[test]
fn as_a_group() {
    for file in ["all-to-all-ring", "ring-all-reduce"] {
        let report =
            json(&format!("run schedules/{file}.json --transport group --bytes 100KB --repeat 2 --format json"));
        assert_eq!((&report["correct"], &report["repeatable"]), (&Value::Bool(true), &Value::Bool(true)), "{file}");
        assert_eq!(report["transport"], "group");
        let times = report["step_seconds"].as_array().expect("times of steps");
        assert!(times.iter().all(|time| time.as_f64().is_some_and(|time| time > 0.0)));
    }
    let rank = run("run schedules/all-to-all-ring.json --transport group --rank 0 --rank-table none");
    assert_eq!(rank.status.code(), Some(2));
    let output = run("run schedules/barrier-ring.json --transport group");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a group has no calls for barrier"));
}

/// The commands of docs/use/runtimes.md that need only one process.
#[cfg(unix)]
#[test]
fn what_the_documentation_says_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("docs/use/runtimes.md")).expect("the document");
    let folder = TempDir::new().expect("a temporary folder");
    std::os::unix::fs::symlink(root.join("schedules"), folder.path().join("schedules")).expect("a link");
    let synth = Path::new(env!("CARGO_BIN_EXE_synth")).parent().expect("a folder").to_str().expect("a plain name");
    let sh = |line: &str| {
        let script = format!("set -e; PATH={synth}:$PATH; {line}");
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    sh("synth convert schedules/ring-all-reduce.json --to msccl -o ring.xml");
    let mut count = 0;
    for block in text.split("```sh\n").skip(1) {
        let lines = block.split("```").next().unwrap_or_default().lines();
        for line in lines.filter(|line| line.starts_with("synth ") && !line.contains("--rank")) {
            sh(&line.replace("16MiB", "100KB"));
            count += 1;
        }
    }
    assert!(count > 10, "the commands were found");
    assert!(folder.path().join("all-reduce.3.et").is_file());
}

#[test]
fn rank_programs_are_run_too() {
    let folder = TempDir::new().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name).to_str().expect("a plain name").to_owned();
    let (program, xml, wrong) = (place("program.json"), place("program.xml"), place("wrong.json"));
    let done = |words: &str| assert_eq!(run(words).status.code(), Some(0), "{words}");
    done(&format!("lower {RING} --barriers neighbour --quiet -o {program}"));
    done(&format!("convert {RING} --to msccl -o {xml}"));
    done(&format!("convert {xml} --from msccl -o {place}", place = place("imported.json")));
    for file in [program.clone(), place("imported.json")] {
        for transport in ["threads", "tcp"] {
            let report = json(&format!("run {file} --transport {transport} --bytes 10KB --repeat 2 --format json"));
            assert_eq!((&report["correct"], &report["repeatable"]), (&Value::Bool(true), &Value::Bool(true)));
        }
    }
    let text = fs::read_to_string(&program).expect("a program").replacen("\"recv_reduce\"", "\"recv\"", 1);
    fs::write(&wrong, text).expect("a file");
    let output = run(&format!("run {wrong}"));
    // Without a source, a receive is no valid operation, or loses a contribution.
    assert!(matches!(output.status.code(), Some(1 | 2)) && output.stdout.is_empty());
}

/// Of many steps the longest are shown; in JSON all of them are.
#[test]
fn the_longest_steps_are_shown() {
    let bench = Bench::new();
    bench.ended(0, "--torus 8 --collective all_reduce --planner ring_all_reduce -q -o s.json");
    bench.ended(0, "lower s.json -q -o p.json");
    for (file, step) in [("s.json", "step"), ("p.json", "round")] {
        let said = bench.stdout(&format!("run {file} --bytes 1KiB -n 2"));
        assert!(said.contains(&format!("  the 10 longest of 14 {step}s\n  {step}  time\n")), "{said}");
        let of_steps = |line: &&str| line.trim().starts_with(|letter: char| letter.is_ascii_digit());
        assert_eq!(said.lines().filter(of_steps).count(), 10, "{said}");
        assert!(!said.contains('%'), "{said}");
    }
}

/// Chunks of all collectives of a job are equally large, and a block of an all_to_allv is one chunk.
#[test]
fn the_chunks_of_a_job_are_equally_large() {
    let bench = Bench::new();
    let ones = "[[0,1,1,1],[1,0,1,1],[1,1,0,1],[1,1,1,0]]";
    let job = [
        r#"{"collective":"all_to_all","bytes":"16KiB"}"#.to_owned(),
        format!(r#"{{"collective":"all_to_allv","demand":{ones},"bytes":"16KiB"}}"#),
        format!(r#"{{"collective":"all_to_allv","demand":{},"bytes":"16KiB"}}"#, ones.replace('1', "0")),
        r#"{"collective":"broadcast","bytes":"1KiB"}"#.to_owned(),
    ];
    bench.write("j.json", &format!("[{}]", job.join(",")));
    bench.ended(0, "--torus 4 --job j.json -q -o b.json");
    let reports: Value = serde_json::from_str(&bench.stdout("run b.json --bytes 1MiB -n 1 --format json")).unwrap();
    let number = |at: usize, key: &str| reports[at][key].as_u64().expect("a number");
    let chunk = number(1, "block");
    assert!(number(0, "parts") > 1, "{reports}");
    assert_eq!(number(0, "block"), chunk * number(0, "parts"), "{reports}");
    assert_eq!(number(3, "block"), chunk * number(3, "parts"), "{reports}");
    // A rank has 4 blocks of all parts there, and here a block for each part of 3 units.
    assert_eq!((number(0, "bytes"), number(1, "bytes")), (1 << 20, 3 << 18), "{reports}");
    assert_eq!(number(2, "bytes"), 0, "{reports}");
}

#[test]
fn a_demand_of_nothing_has_no_bytes() {
    let bench = Bench::new();
    bench.write("d.csv", "0,0\n0,0\n");
    bench.ended(0, "--torus 2 --collective all_to_allv --demand d.csv -q -o s.json");
    let output = bench.ended(0, "run s.json -n 1");
    let (said, noted) = (text(&output.stdout), text(&output.stderr));
    assert!(said.contains("0 bytes: nothing is demanded"), "{said}");
    assert_eq!(noted, "", "{said}");
}
