//! Every program in `examples/` does what it says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::bench::built;

/// Needs an MPI job: `.ci/mpi` runs it.
const ELSEWHERE: &str = "mpi";

#[test]
fn every_example_ends_well() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = fs::read_dir(&folder).expect("the examples").map(|entry| entry.expect("an entry").path());
    let programs =
        entries.filter(|path| path.join("main.rs").is_file() || path.extension().is_some_and(|end| end == "rs"));
    let names: BTreeSet<String> =
        programs.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    assert!(names.contains("plan") && names.contains(ELSEWHERE), "{names:?}");
    for name in names.iter().filter(|name| *name != ELSEWHERE) {
        let output = Command::new(built().join("examples").join(name)).output().expect("an example that was built");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{name} shows nothing");
    }
}
