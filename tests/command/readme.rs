//! The transcripts in README.md.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::bench::{Bench, text};

/// Every `console` block of the README is run and compared. After a wanted change,
/// `SYNTH_UPDATE_README=1 cargo test --test command` writes the answers anew.
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
