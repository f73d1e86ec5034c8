//! Files in formats of other tools, written by hand, right and wrong: `foreign/cases.txt` says what is said of each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// The machines that the cases name.
const MACHINES: [(&str, &str); 4] = [
    ("ring3.json", r#"{"torus": [3]}"#),
    ("line3.json", r#"{"torus": [3], "wrap": [false]}"#),
    ("line4.json", r#"{"torus": [4], "wrap": [false]}"#),
    ("mesh2x2.json", r#"{"torus": [2, 2]}"#),
];

#[test]
fn every_file_is_judged_as_listed() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/formats/foreign");
    let folder = TempDir::new().unwrap();
    for (name, text) in MACHINES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let (mut listed, mut verdicts) = (BTreeSet::from(["cases.txt".to_owned()]), BTreeSet::new());
    for case in include_str!("foreign/cases.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = case.split_whitespace();
        let (name, verdict) = (words.next().unwrap(), words.next().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
        command.arg("import").arg(files.join(name)).args(words).args(["-o", "out.json"]).current_dir(folder.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let expected = match verdict {
            "holds" => 0,
            code if code.starts_with('F') => 2,
            _ => 1,
        };
        let words = if expected == 0 { "holds" } else { verdict };
        assert!(output.status.code() == Some(expected) && said.contains(words), "{case}\n{said}");
        // A violation that is about something in an XML file shows it.
        if expected == 2 || (name.ends_with(".xml") && (verdict.starts_with('P') || verdict.starts_with('R'))) {
            assert!(said.contains(&format!("{name}:")) && said.contains(" | "), "{case}\n{said}");
        }
        // What was read is judged the same when it is read again.
        if expected < 2 && !case.contains("--topology line4.json") {
            let mut again = Command::new(env!("CARGO_BIN_EXE_synth"));
            let output = again.args(["verify", "out.json"]).current_dir(folder.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.code() == Some(expected) && said.contains(words), "{case}\n{said}");
        }
        listed.insert(name.to_owned());
        verdicts.insert(verdict);
    }
    let there: BTreeSet<String> =
        fs::read_dir(&files).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(listed, there, "every file is listed, and no other");
    assert!(verdicts.len() >= 13, "{verdicts:?}");
}

#[test]
fn options_without_a_meaning_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("ring3.json"), MACHINES[0].1).unwrap();
    let synth = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
        let output = command.args(words.split_whitespace()).current_dir(folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(synth("--torus 3 --collective all_gather -q -o s.json").0, Some(0));
    assert_eq!(synth("lower s.json -q -o p.json").0, Some(0));
    for (words, said) in [
        ("import x.json --from sccl --topology ring3.json", "--topology has no meaning for files of the format sccl"),
        ("import x.xml --from forestcoll --parts 2", "--parts has no meaning for files of the format forestcoll"),
        ("import x.xml --from teccl --slots 2", "--slots has no meaning for files of the format teccl"),
        ("export s.json --to csv --barriers none", "--barriers has no meaning here: csv and trace show"),
        ("export p.json --to msccl --in-place", "--in-place has no meaning here: a program is lowered already"),
        ("export s.json --to msccl --chunk-bytes 8", "--chunk-bytes is for goal and chakra"),
    ] {
        let (ending, text) = synth(words);
        assert!(ending == Some(2) && text.contains(said), "{words}: {text}");
    }
}
