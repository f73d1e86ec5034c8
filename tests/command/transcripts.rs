//! The transcripts in README.md and of pages in docs/: every `console` block is run and compared. After a
//! wanted change, `SYNTH_UPDATE_README=1 cargo test --test command` renews the answers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::bench::{Bench, text};

#[test]
fn the_readme_tells_the_truth() {
    tells_the_truth("README.md", 3);
}

#[test]
fn the_tutorial_tells_the_truth() {
    tells_the_truth("docs/tutorial.md", 10);
}

#[test]
fn the_page_on_viewing_tells_the_truth() {
    tells_the_truth("docs/view.md", 2);
}

#[test]
fn the_page_on_surveys_tells_the_truth() {
    tells_the_truth("docs/survey.md", 1);
}

/// Runs the commands of a page one after the other in a folder; there are at least `least` of them.
fn tells_the_truth(page: &str, least: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let published = fs::read_to_string(&path).expect("the page");
    let bench = Bench::new();
    let (mut renewed, mut in_block, mut commands) = (String::new(), false, 0);
    for line in published.lines() {
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
    assert!(commands >= least, "{page} shows the command at work");
    if std::env::var_os("SYNTH_UPDATE_README").is_some() {
        fs::write(&path, renewed).expect("the page");
    } else {
        assert!(
            renewed == published,
            "{page} differs from what the command says; SYNTH_UPDATE_README=1 renews it:\n{renewed}"
        );
    }
}

/// What a terminal shows for a command, `> FILE` included, without the times taken.
fn transcript(bench: &Bench, command: &str) -> String {
    let (command, file) = match command.split_once(" > ") {
        Some((command, file)) => (command, Some(file)),
        None => (command, None),
    };
    let (program, words) = command.split_once(' ').expect("a program and its words");
    // No word has blanks, so quotes only keep a shell from reading > as its own.
    let words = words.replace('\'', "");
    let output = match program {
        "synth" => bench.run(&words),
        "synth-verify" => bench.judge(&words),
        _ => panic!("`{command}` is no command of ours"),
    };
    let mut seen = text(&output.stderr);
    match file {
        Some(file) => bench.write(file, &text(&output.stdout)),
        None => seen.push_str(&text(&output.stdout)),
    }
    let mut shown = String::new();
    for line in seen.lines() {
        let _ = match (line.split_once(" in "), line.starts_with("planned by ")) {
            (Some((planner, _)), true) => writeln!(shown, "{planner} in ... s; verified in ... s"),
            _ => writeln!(shown, "{line}"),
        };
        if words.starts_with("run ") && line.starts_with("  result ") {
            shown.push_str("  ...\n");
            break;
        }
    }
    shown
}
