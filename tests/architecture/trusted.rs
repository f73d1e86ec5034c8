//! What has to be believed: the list of it is current, and it uses nothing beside it.

use std::fmt::Write;
use std::fs;

use crate::sources::{Source, code, root, sources};

/// The trusted base, part by part, each with its folders and files.
const TRUSTED: &[(&str, &[&str])] = &[
    ("The language of problems, schedules and programs, and the check of bounds", &["crates/core/src"]),
    ("The reader of files", &["crates/verify/src/json", "crates/verify/src/file", "crates/verify/src/guard"]),
    ("The judge of schedules", &["crates/verify/src/verify"]),
    ("The judge of rank programs", &["crates/verify/src/audit"]),
    ("What may be claimed of what holds: optimal, certified, at most", &["crates/verify/src/claim"]),
    (
        "The command: a file to its exit code",
        &[
            "crates/verify/src/code.rs",
            "crates/verify/src/judge.rs",
            "crates/verify/src/lib.rs",
            "crates/verify/src/main.rs",
            "crates/verify/src/verdict.rs",
            "src/cli/commands/judging/verify.rs",
        ],
    ),
];

/// Files beside the trusted base that need not be believed: they make text, files and smaller examples. What only makes
/// an error of an error, or says where it is, cannot make a file readable.
const UNTRUSTED: &[&str] = &[
    "crates/core/src/collective/words.rs",
    "crates/core/src/topology/error.rs",
    "crates/core/src/topology/words.rs",
    "crates/verify/src/audit/diagnosis",
    "crates/verify/src/verify/diagnosis",
    "crates/verify/src/report",
    "crates/verify/src/explain",
    "crates/verify/src/shrink",
    "crates/verify/src/guard/shown.rs",
    "crates/verify/src/json/error.rs",
    "crates/verify/src/json/locate.rs",
    "crates/verify/src/json/schedule/brief.rs",
    "crates/verify/src/json/schedule/write.rs",
    "crates/verify/src/json/schedule/schema.rs",
    "crates/verify/src/json/job/write.rs",
    "crates/verify/src/json/job/schema.rs",
    "crates/verify/src/json/program/write.rs",
    "crates/verify/src/json/program/schema.rs",
    "crates/verify/src/file/write.rs",
];

/// Where facts go to diagnosis and verdicts to reports.
const JOINTS: &[&str] =
    &["crates/verify/src/verify/mod.rs", "crates/verify/src/audit/mod.rs", "crates/verify/src/judge.rs"];

const TRUSTED_PAGE: &str = "docs/internals/trusted-base.md";

const TRUSTED_HEAD: &str = "# What has to be believed

The exit code of `synth-verify` (and of `synth verify`, which runs the same code) and what it claims of a file that
holds (`optimal`, `standing`, bounds) are as good as the files listed here, the compiler, the standard library and the
[packages](../../crates/verify/Cargo.toml) that read JSON and gzip and compute fractions. A bug in any other file can
make a schedule worse, a message misleading or a command fail; it cannot make what is refuted hold, or optimal. What
decides records facts and counts them, and compares figures with bounds; diagnosis and reports make text of facts,
verdicts and claims afterwards, and an error, once there is one, only becomes another.

No arithmetic here can wrap in favor of a claim. Certificates and claims compute with checked operations, and lints keep
it so; release builds of this workspace check the rest for overflow too, and stop.

A test keeps this page current: `SYNTH_UPDATE_RESULTS=1 cargo test --test architecture` writes it anew. Lines are those
of code: no comments, no blank lines, no tests.
";

#[test]
fn what_decides_uses_nothing_that_is_not_believed() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| is_trusted(source) && !JOINTS.contains(&source.name().as_str())) {
        // Declaring a file is not using it.
        let code = code(&source.text);
        let lines = code.lines().filter(|line| !line.starts_with("mod ") && !line.starts_with("pub use "));
        for line in lines {
            for place in
                ["diagnosis", "crate::report", "crate::explain", "crate::shrink", "brief::", "write::", "schema::"]
            {
                if line.contains(place) {
                    broken.push(format!("{}: {line}", source.name()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn what_has_to_be_believed_is_listed() {
    let sources = sources();
    let judge = sources.iter().filter(|source| ["crates/core", "crates/verify"].contains(&source.package.as_str()));
    let unlisted = judge.filter(|source| !is_trusted(source) && !is_in(source, UNTRUSTED));
    let unlisted: Vec<String> = unlisted.map(Source::name).collect();
    assert!(unlisted.is_empty(), "is it to be believed? {unlisted:?}");
    let mut page = TRUSTED_HEAD.to_owned();
    let mut total = 0;
    for (part, places) in TRUSTED {
        let of_part = |source: &&Source| is_trusted(source) && is_in(source, places);
        let sources: Vec<&Source> = sources.iter().filter(of_part).collect();
        total += table(&mut page, part, &sources);
    }
    writeln!(page, "\nAll of it: {total} lines.").expect("text");
    let beside: Vec<&Source> = sources.iter().filter(|source| is_in(source, UNTRUSTED)).collect();
    table(&mut page, "Not believed: errors and their places, diagnosis, reports, writers, schemas", &beside);
    let path = root().join(TRUSTED_PAGE);
    if std::env::var_os("SYNTH_UPDATE_RESULTS").is_some() {
        fs::write(&path, &page).expect("the page is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{TRUSTED_PAGE} is old: SYNTH_UPDATE_RESULTS=1 cargo test --test architecture");
}

/// Adds the files of a part and their lines of code, and returns the sum.
fn table(page: &mut String, part: &str, sources: &[&Source]) -> usize {
    let lines = |source: &Source| code(&source.text).lines().filter(|line| !line.trim().is_empty()).count();
    let total = sources.iter().map(|source| lines(source)).sum();
    writeln!(page, "\n## {part}: {total} lines\n\n| file | lines |\n|---|---|").expect("text");
    for source in sources {
        let name = source.name();
        writeln!(page, "| [{name}](../../{name}) | {} |", lines(source)).expect("text");
    }
    total
}

fn is_trusted(source: &Source) -> bool {
    TRUSTED.iter().any(|(_, places)| is_in(source, places)) && !is_in(source, UNTRUSTED)
}

fn is_in(source: &Source, places: &[&str]) -> bool {
    places.iter().any(|place| source.path.starts_with(root().join(place)))
}
