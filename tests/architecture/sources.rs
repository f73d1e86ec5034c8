//! The sources of all packages, and all files of the project.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
pub struct Source {
    pub path: PathBuf,
    /// The folder of the package: `crates/core`; the root package is `.`.
    pub package: String,
    /// The room: `topology` for `src/topology/spec.rs` and for `src/topology.rs`.
    pub room: String,
    /// The modules from the root of the crate to this one.
    pub modules: Vec<String>,
    pub text: String,
}

impl Source {
    /// The path from the root of the project.
    pub fn name(&self) -> String {
        let inner = self.path.strip_prefix(root()).expect("found below the root");
        inner.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    }
}

/// The text without comment lines and without a module of tests at its end.
pub fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every source file of every package but modules of tests.
pub fn sources() -> Vec<Source> {
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
    let name = if name.is_empty() { ".".to_owned() } else { name };
    files_below(&src)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (path.strip_prefix(&src).expect("found below src").with_extension(""), path))
        .filter(|(inner, _)| !inner.iter().any(|part| part == "tests"))
        .map(|(inner, path)| {
            let mut modules: Vec<String> = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            modules.retain(|module| module != "mod");
            let text = fs::read_to_string(&path).expect("sources are text");
            let room = modules[0].clone();
            // What is said there is said at the root of the crate.
            modules.retain(|module| module != "lib" && module != "main");
            Source { path, package: name.clone(), room, modules, text }
        })
        .collect()
}

pub fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("a readable folder").map(|entry| entry.expect("a readable folder").path()).collect()
}

/// All files below a folder, but for build output and version control.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
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

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
