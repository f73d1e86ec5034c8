//! `synth verify` and `synth-verify` are one judge: same bytes, same exit code, for every file of the project and for
//! generated ones of every sort, right and wrong.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use collsynth_judging_kit::dice::Dice;
use collsynth_judging_kit::mutate;
use collsynth_judging_kit::naive::reader::to_text;
use serde_json::Value;

use crate::support::bench::built;

/// Makes a file.
type Make = fn(&mut Dice) -> Value;

/// Files that one process judges.
const AT_A_TIME: usize = 250;

#[test]
fn both_commands_say_the_same_of_every_file_in_the_project() {
    let folders = ["schedules", "tests/outside/formats/foreign"];
    let mut files: Vec<PathBuf> = folders.iter().flat_map(|folder| files_below(&root().join(folder))).collect();
    files.sort();
    files.push(root().join("schedules/no-such-file.json"));
    let rulings = compare(&files, &[]);
    assert_eq!(rulings, [true; 3], "files that hold, are refuted and cannot be read");
    // One at a time, so that each exit code is seen alone.
    for file in files.iter().filter(|file| file.iter().any(|part| part == "rejected")) {
        compare(std::slice::from_ref(file), &[]);
    }
}

#[test]
fn both_commands_say_the_same_of_mutations() {
    let folder = tempfile::tempdir().expect("a folder");
    let sorts: [(Make, u64); 5] = [
        (mutate::schedule, 400),
        (mutate::compact, 100),
        (mutate::certificate, 100),
        (mutate::job, 100),
        (mutate::program, 100),
    ];
    let made = sorts.into_iter().flat_map(|(make, count)| (0..count).map(move |seed| make(&mut Dice::from_seed(seed))));
    let mut texts: Vec<String> = made.map(|file| to_text(&file)).collect();
    for seed in 0..400 {
        let mut dice = Dice::from_seed(seed);
        let text: &String = dice.pick(&texts[..800]);
        texts.push(with_other_digit(text, &mut dice));
    }
    let files: Vec<PathBuf> = (0..texts.len()).map(|index| folder.path().join(format!("{index}.json"))).collect();
    for (file, text) in files.iter().zip(&texts) {
        fs::write(file, text).expect("a file");
    }
    assert_eq!(compare(&files, &[]), [true; 3]);
    compare(&files[..100], &["--max-errors", "1"]);
    compare(&files[700..], &["--contention-free"]);
}

#[test]
fn both_commands_take_another_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let ring = write("ring4.json", r#"{"torus": [4]}"#);
    let ring = ring.to_str().expect("a path");
    let schedule = root().join("schedules/all-gather-ring.json");
    let cut = write("cut4.json", r#"{"torus": [4], "failed_links": [{"from": 0, "to": 1}]}"#);
    let cut = cut.to_str().expect("a path");
    assert_eq!(compare(std::slice::from_ref(&schedule), &["--topology", ring]), [true, false, false]);
    assert_eq!(compare(std::slice::from_ref(&schedule), &["--topology", cut]), [false, true, false]);
    let judge = |program: &OsStr| {
        Command::new(program).args(["--topology", ring, "--rank-map", "1,2,3,0"]).arg(&schedule).output()
    };
    let output = judge(built().join("synth-verify").as_os_str()).expect("the command runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("a rank map is for rank programs"), "{output:?}");
    let program = |to: u32| {
        let text = r#"{"format": "rank-program/1", "ranks": 3, "collective": {"kind": "broadcast", "root": 0},
            "channels": [{"from": 0, "to": 1, "slots": 1}, {"from": 0, "to": TO, "slots": 1}], "programs": [
            {"workers": [[{"op": "send", "channel": 0, "src": ["i", 0]}, {"op": "send", "channel": 1, "src": ["i", 0]},
                          {"op": "copy", "src": ["i", 0], "dst": ["o", 0]}]]},
            {"workers": [[{"op": "recv", "channel": 0, "dst": ["o", 0]}]]},
            {"workers": [[{"op": "recv", "channel": 1, "dst": ["o", 0]}]]}]}"#;
        write("program.json", &text.replace("TO", &to.to_string()))
    };
    assert_eq!(compare(&[program(2)], &[]), [true, false, false]);
    assert_eq!(compare(&[program(2)], &["--topology", ring]), [false, true, false], "0 and 2 are not neighbors");
    assert_eq!(compare(&[program(2)], &["--topology", ring, "--rank-map", "0,1,3"]), [true, false, false]);
}

/// One digit of a text replaced.
fn with_other_digit(text: &str, dice: &mut Dice) -> String {
    let digits: Vec<usize> = text.match_indices(|letter: char| letter.is_ascii_digit()).map(|(at, _)| at).collect();
    let mut text = text.to_owned();
    let at = *dice.pick(&digits);
    text.replace_range(at..=at, &dice.below(10).to_string());
    text
}

/// Runs both commands, in both forms; returns whether any file held, was refuted, could not be read.
fn compare(files: &[PathBuf], options: &[&str]) -> [bool; 3] {
    let mut rulings = [false; 3];
    for files in files.chunks(AT_A_TIME) {
        for form in ["text", "json"] {
            let run = |program: &OsStr, command: &[&str]| -> Output {
                let mut run = Command::new(program);
                run.args(command).args(["--format", form]).args(options).args(files);
                run.output().expect("the command runs")
            };
            let one = run(env!("CARGO_BIN_EXE_synth").as_ref(), &["verify"]);
            let other = run(built().join("synth-verify").as_os_str(), &[]);
            let text = String::from_utf8(one.stdout).expect("text");
            assert_eq!(text, String::from_utf8_lossy(&other.stdout));
            // Only one of them knows how to plan anew.
            let said = String::from_utf8(one.stderr).expect("text");
            let said: String = said.split_inclusive('\n').filter(|line| !line.starts_with("hint: `synth --")).collect();
            assert_eq!((one.status.code(), said.as_bytes()), (other.status.code(), &*other.stderr));
            let found = ["\"verdict\": \"holds\"", "\"verdict\": \"refuted\"", "\"verdict\": \"unreadable\""];
            if form == "json" {
                let found = found.map(|verdict| text.contains(verdict));
                let worst = found.iter().rposition(|&one| one).map(|code| code as i32);
                assert_eq!(other.status.code(), worst, "the exit code is that of the worst file");
                rulings = [0, 1, 2].map(|ruling| rulings[ruling] || found[ruling]);
            }
        }
    }
    rulings
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
