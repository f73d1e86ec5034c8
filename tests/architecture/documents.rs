//! Documents: links lead somewhere, every page and every test module is listed, no private paths.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sources::{entries, files_below, root};

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
    let mut found = Vec::new();
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
