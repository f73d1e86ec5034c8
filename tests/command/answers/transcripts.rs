//! The transcripts in README.md and docs: every `console` block is run by a shell and compared. After a wanted change,
//! `SYNTH_UPDATE_README=1 cargo test --test command` renews the answers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::bench::{Bench, text};

#[test]
fn the_readme_tells_the_truth() {
    tells_the_truth("README.md", 3);
}

#[test]
fn the_documents_tell_the_truth() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let folders = fs::read_dir(docs).expect("a folder").map(|entry| entry.expect("an entry").path());
    for entry in folders.filter(|path| path.is_dir()).flat_map(|folder| fs::read_dir(folder).expect("a folder")) {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("found below").display().to_string();
        if name.ends_with(".md") {
            tells_the_truth(&name, if name.ends_with("tutorial.md") { 10 } else { 0 });
        }
    }
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
    let output = bench.shell(command);
    let seen = text(&output.stderr) + &text(&output.stdout);
    let mut shown = String::new();
    for line in seen.lines() {
        let _ = match (line.split_once(" in "), line.starts_with("planned by ")) {
            (Some((planner, _)), true) => writeln!(shown, "{planner} in ... s; verified in ... s"),
            _ => writeln!(shown, "{line}"),
        };
        if command.starts_with("synth run ") && line.starts_with("  result ") {
            shown.push_str("  ...\n");
            break;
        }
    }
    shown
}
