//! The rules of ARCHITECTURE.md, held: who uses whom, where printing happens, how long files are; and of the
//! documents: links that lead somewhere, no private paths.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of `src/`, each with the rooms it may use besides itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("topology", &[]),
    ("collective", &["topology"]),
    ("problem", &["topology", "collective"]),
    ("certificate", &["topology", "collective", "problem"]),
    ("schedule", &["topology", "collective", "problem", "certificate"]),
    ("verify", &["topology", "collective", "problem", "schedule", "certificate"]),
    ("program", &["topology", "collective", "problem", "schedule"]),
    ("audit", &["topology", "collective", "problem", "program", "verify"]),
    ("lower", &["topology", "collective", "problem", "schedule", "program", "verify"]),
    ("shrink", &["topology", "problem", "certificate", "schedule", "program", "verify", "audit"]),
    ("bound", &["topology", "collective", "problem", "certificate"]),
    ("cost", &["topology", "problem", "schedule"]),
    ("plan", &["topology", "collective", "problem", "certificate", "schedule", "bound", "cost"]),
    ("format", &["topology", "collective", "problem", "certificate", "schedule", "program", "verify", "cost"]),
    ("runtime", &["topology", "collective", "problem", "schedule", "program", "verify", "audit"]),
    (
        "report",
        &[
            "topology",
            "collective",
            "problem",
            "certificate",
            "schedule",
            "program",
            "verify",
            "audit",
            "bound",
            "cost",
            "plan",
            "format",
            "runtime",
        ],
    ),
];

/// What the rooms that must be believed may not lean on.
const NOT_TRUSTED: &[&str] = &["petgraph::", "rayon::", "synth_lp::", "synth_smt::"];
const TRUSTED: &[&str] = &["collective", "problem", "certificate", "schedule", "program", "verify", "audit", "format"];

/// More lines than this: split the file.
const LONGEST_FILE: usize = 600;

struct Source {
    path: PathBuf,
    /// The room: `topology` for `src/topology/spec.rs` and for `src/topology.rs`.
    room: String,
    /// How many `super::` lead from this module to the crate root.
    depth: usize,
    text: String,
}

#[test]
fn rooms_use_only_what_they_may() {
    let rooms: Vec<&str> = MAY_USE.iter().map(|(room, _)| *room).collect();
    let mut broken = Vec::new();
    for source in sources() {
        if ["lib", "main", "cli"].contains(&source.room.as_str()) {
            continue;
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(room, _)| *room == source.room) else {
            panic!(
                "{}: room `{}` has no rule: add one here and in ARCHITECTURE.md",
                source.path.display(),
                source.room
            );
        };
        for used in rooms_used(&source) {
            if used != source.room && rooms.contains(&used.as_str()) && !allowed.contains(&used.as_str()) {
                broken.push(format!("{}: `{}` may not use `{used}`", source.path.display(), source.room));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn what_must_be_believed_leans_on_little() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| TRUSTED.contains(&source.room.as_str())) {
        for library in NOT_TRUSTED.iter().filter(|library| code(&source.text).contains(**library)) {
            broken.push(format!("{}: uses `{library}`", source.path.display()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_runtime_runs_only_what_holds() {
    for source in sources().iter().filter(|source| source.room == "runtime") {
        for (judge, evidence) in [("verify::", "verify::Verified"), ("audit::", "audit::AuditedProgram")] {
            for (at, _) in code(&source.text).match_indices(judge) {
                let used = &code(&source.text)[at..];
                assert!(used.starts_with(evidence), "{}: {}", source.path.display(), &used[..30.min(used.len())]);
            }
        }
    }
}

#[test]
fn only_the_command_line_prints_exits_or_reads_the_environment() {
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
fn files_stay_short() {
    let main = sources().into_iter().find(|source| source.room == "main").expect("there is a main.rs");
    assert!(main.text.lines().count() <= 30, "main.rs only hands over to the command line");
    let long: Vec<String> = sources()
        .iter()
        .map(|source| (source.text.lines().count(), source.path.display().to_string()))
        .filter(|(lines, _)| *lines > LONGEST_FILE)
        .map(|(lines, path)| format!("{path}: {lines} lines; split it"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
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
fn every_test_program_is_described() {
    let description = fs::read_to_string(root().join("tests/README.md")).expect("tests/README.md");
    for entry in fs::read_dir(root().join("tests")).expect("the tests") {
        let path = entry.expect("the tests").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let listed = match path.join("main.rs").is_file() {
            true => format!("| `{name}/` |"),
            false => format!("| `{name}` |"),
        };
        if path.join("main.rs").is_file() || name.ends_with(".rs") {
            assert!(description.contains(&listed), "tests/README.md says nothing about {name}");
        }
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for path in files_below(root()).into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "md")) {
        let text = fs::read_to_string(&path).expect("documents are text");
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', '#', ' ']).next().unwrap_or_default();
            let inside = !target.is_empty() && !target.contains("://");
            if inside && !path.parent().unwrap_or(root()).join(target).exists() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Rooms named after `crate::`, `synth::` or a `super::` chain that leads to the crate root.
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

/// Every source file but modules of tests.
fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut sources: Vec<Source> = files_below(&src)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| !path.ends_with("tests.rs") && !path.iter().any(|part| part == "tests"))
        .map(|path| {
            let inner = path.strip_prefix(&src).expect("found below src").with_extension("");
            let mut modules: Vec<String> = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            modules.retain(|module| module != "mod");
            let text = fs::read_to_string(&path).expect("sources are text");
            Source { path, room: modules[0].clone(), depth: modules.len(), text }
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.len() > 10, "the sources were found");
    sources
}

/// All files below a folder, without what was built or belongs to version control.
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
