//! docs/internals/planner-guide.md adds a planner by a diff: it applies to these sources, and the result passes its
//! test.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::bench::built;

/// What a build of the planners needs, beside the manifest's other targets.
const SOURCES: [&str; 10] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "rustfmt.toml",
    "src",
    "crates",
    "solvers",
    "fuzz",
    "examples",
    "benches",
];

#[test]
fn the_planner_of_the_guide_can_be_added() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/internals/planner-guide.md")).expect("the guide");
    let diff = page.split("```diff\n").nth(1).and_then(|rest| rest.split("\n```\n").next()).expect("a diff");
    let copy = tempfile::tempdir().expect("a folder");
    for name in SOURCES {
        copy_all(&root.join(name), &copy.path().join(name));
    }
    fs::write(copy.path().join("guide.diff"), format!("{diff}\n")).expect("a file");
    run(Command::new("git").args(["apply", "--verbose", "guide.diff"]).current_dir(copy.path()));

    // Into the same folder as everything else, so that what it depends on need not be built again.
    let target = built().parent().expect("the profile is a folder of the target").to_owned();
    run(Command::new(env!("CARGO"))
        .args(["test", "--offline", "--package", "collsynth-plan", "--lib", "breadth_first"])
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .current_dir(copy.path()));
    let formatted = Command::new(env!("CARGO")).args(["fmt", "--all", "--check"]).current_dir(copy.path()).output();
    assert!(formatted.is_ok_and(|output| output.status.success()), "the diff is not formatted");
}

fn copy_all(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).expect("a file can be copied");
        return;
    }
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        copy_all(&from.join(&name), &to.join(&name));
    }
}

/// Runs a command that must succeed, and a test of which must have run if it is one.
fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("it can be started");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{said}{errors}");
    assert!(!said.contains("running 0 tests"), "no test of the guide's planner ran\n{said}");
}
