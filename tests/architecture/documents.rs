//! Documents: links lead somewhere, every page is in the book and every test module is listed, no private paths.

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
        let name = |path: &PathBuf| path.strip_prefix(&tests).expect("found below").display().to_string();
        for path in inner.iter().filter(is_module).filter(|path| !path.ends_with("main.rs")) {
            // A folder has a row, or each of its files.
            let within = format!("{}/", name(path));
            match modules.iter().any(|row| row.starts_with(&within)) {
                true => {
                    let files = entries(path);
                    found.extend(files.iter().filter(is_module).filter(|path| !path.ends_with("mod.rs")).map(name));
                }
                false => found.push(name(path)),
            }
        }
    }
    found.sort();
    modules.sort();
    assert_eq!(modules, found, "tests/README.md beside the folder tests");
}

#[test]
fn every_page_is_in_the_book_once() {
    let (book, docs) = (book(), root().join("docs"));
    let pages = files_below(&docs).into_iter().filter(|path| is_document(path) && !path.ends_with("SUMMARY.md"));
    for page in pages.map(|path| real(&path)).chain(book.clone()) {
        let listed = book.iter().filter(|&other| *other == page).count();
        assert_eq!(listed, 1, "docs/SUMMARY.md lists {} once", page.display());
    }
    // A file that no page leads to is not in the book, and is found by nobody.
    let mut linked: Vec<PathBuf> = book.iter().flat_map(|page| led_to(page)).collect();
    linked.extend(led_to(&docs.join("SUMMARY.md")));
    for path in files_below(&docs).iter().filter(|path| !is_document(path) && !path.ends_with("book.toml")) {
        assert!(linked.contains(&real(path)), "no page links to {}", path.display());
    }
}

#[test]
fn pages_of_the_book_lead_to_no_other_documents() {
    let book = book();
    let mut others = Vec::new();
    for page in &book {
        let outside = |path: &PathBuf| is_document(path) && !path.ends_with("docs/SUMMARY.md") && !book.contains(path);
        others.extend(led_to(page).into_iter().filter(outside).map(|path| (page.clone(), path)));
    }
    assert!(others.is_empty(), "docs/SUMMARY.md does not list what pages link to: {others:?}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for path in files_below(root()).into_iter().filter(|path| is_document(path)) {
        for target in links(&path).into_iter().filter(|target| !leads_somewhere(&path, target)) {
            broken.push(format!("{}: {target}", path.display()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_readme_stays_short() {
    let words = fs::read_to_string(root().join("README.md")).expect("README.md").split_whitespace().count();
    assert!(words <= 1200, "README.md has {words} words");
}

#[test]
fn citations_name_this_version() {
    let citation = fs::read_to_string(root().join("CITATION.cff")).expect("CITATION.cff");
    let version = citation.lines().find_map(|line| line.strip_prefix("version: "));
    assert_eq!(version, Some(env!("CARGO_PKG_VERSION")), "the version in CITATION.cff");
}

/// The pages of the book, in order: the first link of each item of docs/SUMMARY.md, and of lines that are links.
fn book() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("docs/SUMMARY.md");
    let items = summary.lines().filter_map(|line| {
        let item = line.trim_start().strip_prefix("- ").unwrap_or(line).strip_prefix('[')?;
        Some(item.split_once("](")?.1.split(')').next().unwrap_or_default())
    });
    items.map(|target| real(&docs.join(target))).collect()
}

/// The targets of a document's links within the project.
fn links(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("documents are text");
    let targets = text.split("](").skip(1).map(|rest| rest.split([')', ' ']).next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).map(str::to_owned).collect()
}

/// The files that a document links to.
fn led_to(document: &Path) -> Vec<PathBuf> {
    let folder = document.parent().unwrap_or(root());
    let files = links(document).into_iter().filter(|target| !target.starts_with('#'));
    files.map(|target| real(&folder.join(target.split('#').next().unwrap_or_default()))).collect()
}

/// The path without `..`, if the file is there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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
