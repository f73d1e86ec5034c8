//! The rules of ARCHITECTURE.md that cargo does not enforce: which rooms of a crate use which, where printing happens,
//! how long files and lines are; and of the documents: links lead somewhere, every page is listed, no private paths.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use collsynth::collective::{Demand, Kind};
use collsynth::topology::RankId;

/// Rooms of the crates, each with the other rooms of its crate that it may use. Manifests rule between crates.
const MAY_USE: &[(&str, &str, &[&str])] = &[
    ("crates/core", "exact", &[]),
    ("crates/core", "topology", &["exact"]),
    ("crates/core", "collective", &["exact", "topology"]),
    ("crates/core", "problem", &["exact", "topology", "collective"]),
    ("crates/core", "layout", &["exact", "topology", "collective", "problem"]),
    ("crates/core", "certificate", &["exact", "topology", "collective", "problem"]),
    ("crates/core", "schedule", &["exact", "topology", "collective", "problem", "certificate"]),
    ("crates/core", "program", &["exact", "topology", "collective", "problem", "schedule", "layout"]),
    ("crates/verify", "claim", &[]),
    ("crates/verify", "code", &[]),
    ("crates/verify", "limits", &[]),
    ("crates/verify", "shown", &[]),
    ("crates/verify", "verdict", &["limits"]),
    ("crates/verify", "explain", &[]),
    ("crates/verify", "verify", &["code", "limits", "verdict"]),
    ("crates/verify", "audit", &["code", "limits", "verdict"]),
    ("crates/verify", "shrink", &["verdict", "verify", "audit"]),
    ("crates/verify", "file", &["limits", "shown"]),
    ("crates/verify", "json", &["code", "limits", "shown"]),
    ("crates/verify", "report", &["claim", "verdict", "verify", "audit", "json", "shown", "explain"]),
    ("crates/plan", "link_table", &[]),
    ("crates/plan", "symmetry", &["link_table"]),
    ("crates/plan", "divided_trees", &[]),
    ("crates/plan", "hops", &[]),
    ("crates/plan", "pace", &[]),
    ("crates/plan", "bound", &["symmetry", "divided_trees", "hops", "pace"]),
    ("crates/plan", "cost", &[]),
    ("crates/runtime", "lower", &[]),
];

/// The trusted base, part by part, each with its folders and files.
const TRUSTED: &[(&str, &[&str])] = &[
    ("The language of problems, schedules and programs, and the check of bounds", &["crates/core/src"]),
    (
        "The reader of files",
        &[
            "crates/verify/src/json",
            "crates/verify/src/file",
            "crates/verify/src/limits.rs",
            "crates/verify/src/shown.rs",
        ],
    ),
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
            "src/cli/verify.rs",
        ],
    ),
];

/// Files beside the trusted base that need not be believed: they make text, files and smaller examples.
const UNTRUSTED: &[&str] = &[
    "crates/verify/src/audit/diagnosis",
    "crates/verify/src/verify/diagnosis",
    "crates/verify/src/report",
    "crates/verify/src/explain.rs",
    "crates/verify/src/shrink",
    "crates/verify/src/json/write.rs",
    "crates/verify/src/json/schema.rs",
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
verdicts and claims afterwards.

No arithmetic here can wrap in favor of a claim. Certificates and claims compute with checked operations, and lints keep
it so; release builds of this workspace check the rest for overflow too, and stop.

A test keeps this page current: `SYNTH_UPDATE_RESULTS=1 cargo test --test architecture` writes it anew. Lines are those
of code: no comments, no blank lines, no tests.
";

/// More lines than this: split the file.
const LONGEST_FILE: usize = 600;

/// The width of comments; tables keep a row to a line, and rustfmt sees to code.
const LONGEST_LINE: usize = 120;

/// The most files that name a kind of collective: where kinds are defined, read and called, and where one is planned by
/// means of others. All others ask a kind for its properties.
const MOST_NAME_KINDS: usize = 10;

struct Source {
    path: PathBuf,
    /// The folder of the package: `crates/core`; the root package is `.`.
    package: String,
    /// The room: `topology` for `src/topology/spec.rs` and for `src/topology.rs`.
    room: String,
    /// How many `super::` lead from this module to the crate root.
    depth: usize,
    text: String,
}

impl Source {
    /// The path from the root of the project.
    fn name(&self) -> String {
        let inner = self.path.strip_prefix(root()).expect("found below the root");
        inner.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    }
}

#[test]
fn rooms_use_only_what_they_may() {
    let mut broken = Vec::new();
    for source in sources() {
        let allowed = MAY_USE.iter().find(|(package, room, _)| *package == source.package && *room == source.room);
        let Some((_, room, allowed)) = allowed else { continue };
        for used in rooms_used(&source) {
            if used != *room && !allowed.contains(&used.as_str()) {
                broken.push(format!("{}: `{room}` may not use `{used}`", source.path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    for (package, room, _) in MAY_USE {
        let exists = sources().iter().any(|source| source.package == *package && source.room == *room);
        assert!(exists, "the rule for `{room}` in {package} is about nothing");
    }
}

#[test]
fn what_decides_uses_nothing_that_is_not_believed() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| is_trusted(source) && !JOINTS.contains(&source.name().as_str())) {
        // Declaring a file is not using it.
        let code = code(&source.text);
        let lines = code.lines().filter(|line| !line.starts_with("mod ") && !line.starts_with("pub use "));
        for line in lines {
            for place in ["diagnosis", "crate::report", "crate::explain", "crate::shrink", "write::", "schema::"] {
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
    table(&mut page, "Not believed: diagnosis, reports, writers, schemas", &beside);
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

#[test]
fn the_runtime_runs_only_what_holds() {
    for source in sources().iter().filter(|source| source.package == "crates/runtime") {
        let text = code(&source.text);
        for (judge, evidence) in
            [("collsynth_verify::verify::", "Verified"), ("collsynth_verify::audit::", "AuditedProgram")]
        {
            for (at, _) in text.match_indices(judge) {
                assert!(text[at + judge.len()..].starts_with(evidence), "{}", source.path.display());
            }
        }
    }
}

#[test]
fn only_the_commands_print_exit_or_read_the_environment() {
    let forbidden =
        ["println!", "eprintln!", "print!(", "dbg!", "process::exit", "env::var", "env::args", "io::stderr"];
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| !["main", "cli"].contains(&source.room.as_str())) {
        for word in forbidden.iter().filter(|word| code(&source.text).contains(**word)) {
            broken.push(format!("{}: `{word}`", source.path.display()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn files_and_lines_stay_short() {
    let mut broken = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > LONGEST_FILE {
            broken.push(format!("{}: {lines} lines; split it", source.path.display()));
        }
        for (number, line) in source.text.lines().enumerate() {
            let width = line.chars().count();
            let comment = line.trim_start().starts_with("//") && !line.contains("//! |");
            if width > LONGEST_LINE && comment {
                broken.push(format!("{}:{}: {width} columns", source.path.display(), number + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn few_files_name_kinds_of_collectives() {
    let word = |text: &str| text.chars().take_while(|letter| letter.is_alphanumeric()).collect::<String>();
    let variants = Kind::every(RankId(0), Demand::default()).map(|kind| word(&format!("{kind:?}")));
    let names = |source: &Source| {
        let text = code(&source.text);
        text.match_indices("Kind::").any(|(at, path)| {
            let (before, name) = (&text[..at], &text[at + path.len()..]);
            let other = before.ends_with(|letter: char| letter.is_alphanumeric());
            !other && (name.starts_with(['{', '*']) || variants.contains(&word(name)))
        })
    };
    let naming: Vec<_> = sources().into_iter().filter(names).map(|source| source.path.display().to_string()).collect();
    assert!(naming.len() <= MOST_NAME_KINDS, "{} files:\n{}", naming.len(), naming.join("\n"));
    assert!(!naming.is_empty(), "the search finds nothing");
}

#[test]
fn no_file_names_a_place_on_someones_machine() {
    let places = ["home", "root", "work", "Users", "tmp/wt"].map(|place| format!("/{place}/"));
    let mut broken = Vec::new();
    for path in files_below(root()) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let absolute = |place: &String| {
                line.match_indices(place.as_str())
                    .any(|(at, _)| line[..at].chars().next_back().is_none_or(|before| " \"'`=(:".contains(before)))
            };
            if places.iter().any(absolute) {
                broken.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_test_module_is_described() {
    let description = fs::read_to_string(root().join("tests/README.md")).expect("tests/README.md");
    let (mut program, mut modules) = (String::new(), Vec::new());
    for line in description.lines() {
        if let Some(heading) = line.strip_prefix("## `") {
            program = heading.split('`').next().unwrap_or_default().trim_end_matches('/').to_owned();
            modules.push(program.clone());
        } else if let Some(row) = line.strip_prefix("| `").filter(|_| !program.is_empty()) {
            modules.push(format!("{program}/{}", row.split('`').next().unwrap_or_default().trim_end_matches('/')));
        }
    }
    let tests = root().join("tests");
    let is_module =
        |path: &&PathBuf| path.join("mod.rs").is_file() || path.extension().is_some_and(|kind| kind == "rs");
    let mut found = vec!["architecture.rs".to_owned()];
    for program in entries(&tests).iter().filter(|path| path.join("main.rs").is_file()) {
        found.push(program.strip_prefix(&tests).expect("found below").display().to_string());
        let inner = entries(program);
        let modules = inner.iter().filter(is_module).filter(|path| !path.ends_with("main.rs"));
        found.extend(modules.map(|path| path.strip_prefix(&tests).expect("found below").display().to_string()));
    }
    found.sort();
    modules.sort();
    assert_eq!(modules, found, "tests/README.md beside the folder tests");
}

#[test]
fn every_page_is_listed() {
    let docs = root().join("docs");
    let list = fs::read_to_string(docs.join("README.md")).expect("docs/README.md");
    for path in files_below(&docs).iter().filter(|path| !path.ends_with("README.md")) {
        let name = path.strip_prefix(&docs).expect("found below").display().to_string();
        let listed = list.matches(&format!("]({name})")).count();
        assert_eq!(listed, 1, "docs/README.md lists {name} once");
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for path in files_below(root()).into_iter().filter(|path| is_document(path)) {
        let text = fs::read_to_string(&path).expect("documents are text");
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', ' ']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !leads_somewhere(&path, target) {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "md")
}

/// Whether a file is there and, if the link names a heading of a document, that heading too.
fn leads_somewhere(document: &Path, target: &str) -> bool {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let led_to = match file {
        "" => document.to_owned(),
        _ => document.parent().unwrap_or(root()).join(file),
    };
    if heading.is_empty() || !is_document(&led_to) {
        return led_to.exists();
    }
    fs::read_to_string(led_to).is_ok_and(|text| anchors(&text).any(|anchor| anchor == heading))
}

/// The names by which links find the headings of a document, made as code hosts make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let outside_code = text.split("```").step_by(2);
    outside_code.flat_map(str::lines).filter_map(|line| {
        let heading = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))?;
        let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
    })
}

/// Rooms named after `crate::`, `collsynth::` or a `super::` chain that leads to the crate root.
fn rooms_used(source: &Source) -> Vec<String> {
    let text = code(&source.text);
    let to_root = format!("{}{}", "super::".repeat(source.depth - 1), "super::");
    let mut used = Vec::new();
    for prefix in ["crate::", to_root.as_str()] {
        for (at, _) in text.match_indices(prefix) {
            if text[..at].ends_with(|before: char| before.is_alphanumeric() || "_:$".contains(before)) {
                continue;
            }
            used.extend(first_names(&text[at + prefix.len()..]));
        }
    }
    used
}

/// The first name of a path, or of each path of a `{...}` group.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(name(&group[start..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    names
}

/// The text without comment lines and without a module of tests at its end.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every source file of every package but modules of tests.
fn sources() -> Vec<Source> {
    let folders = ["crates", "solvers"].map(|folder| fs::read_dir(root().join(folder)).expect("a readable folder"));
    let packages = folders.into_iter().flatten().map(|entry| entry.expect("a readable folder").path());
    let mut sources: Vec<Source> =
        packages.chain([root().to_owned()]).flat_map(|package| sources_of(&package)).collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.len() > 100, "the sources were found");
    sources
}

fn sources_of(package: &Path) -> Vec<Source> {
    let src = package.join("src");
    let name = package.strip_prefix(root()).expect("found below the root").display().to_string();
    files_below(&src)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (path.strip_prefix(&src).expect("found below src").with_extension(""), path))
        .filter(|(inner, _)| !inner.iter().any(|part| part == "tests"))
        .map(|(inner, path)| {
            let mut modules: Vec<String> = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            modules.retain(|module| module != "mod");
            let text = fs::read_to_string(&path).expect("sources are text");
            Source { path, package: name.clone(), room: modules[0].clone(), depth: modules.len(), text }
        })
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("a readable folder").map(|entry| entry.expect("a readable folder").path()).collect()
}

/// All files below a folder, but for build output and version control.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", ".git"].contains(&name.as_str()) {
                files.extend(files_below(&path));
            }
        } else if name != ".git" {
            files.push(path);
        }
    }
    files
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
