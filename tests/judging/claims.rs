//! Wrong claims: `claims/cases.txt` has files, what judging them says, and what it must not say. All were once judged
//! wrongly, or stand beside one that was. Both commands say the same, byte for byte.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::bench::{built, text};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judging/claims")
}

fn run(program: &Path, words: &[&str]) -> Output {
    Command::new(program).args(words).current_dir(folder()).output().expect("the command runs")
}

#[test]
fn nothing_is_claimed_that_is_not_proven() {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut unused: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for case in include_str!("claims/cases.txt").lines().filter(|line| !line.starts_with('#')) {
        let [code, words, said, unsaid] = case.split(" | ").collect::<Vec<_>>()[..] else { panic!("{case}") };
        let words: Vec<&str> = words.split(' ').collect();
        let output = run(env!("CARGO_BIN_EXE_synth").as_ref(), &words);
        let seen = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), code.parse().ok(), "{case}\n{seen}");
        assert!(seen.contains(said), "{case}\n{seen}");
        assert!(!seen.contains(unsaid), "{case}\n{seen}");
        let judge = run(&built().join("synth-verify"), &words[1..]);
        assert_eq!((judge.status.code(), text(&judge.stdout)), (output.status.code(), text(&output.stdout)), "{case}");
        unused.retain(|file| !words.contains(&file.as_str()));
    }
    assert_eq!(unused, ["cases.txt"], "files without a case");
}
