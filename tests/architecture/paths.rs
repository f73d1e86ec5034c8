//! From a path in a source file to the module that defines what it names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::sources::{code, sources};

/// A name by its path from the root of its crate.
pub type Path = Vec<String>;

/// A path that a module names.
pub struct Use {
    /// The module, from the root of the crate.
    pub by: Path,
    /// What it names, as it is written but from the root of the crate.
    pub written: Path,
    /// The module that defines it.
    pub module: Path,
}

/// What the modules of a package name of each other.
pub struct Package {
    pub name: String,
    modules: BTreeSet<Path>,
    /// The names that each module has from elsewhere.
    imports: HashMap<Path, HashMap<String, Path>>,
    pub uses: Vec<Use>,
}

/// All packages.
pub fn packages() -> Vec<Package> {
    let mut texts: BTreeMap<String, Vec<(Path, String)>> = BTreeMap::new();
    for source in sources() {
        texts.entry(source.package).or_default().push((source.modules, code(&source.text)));
    }
    let packages: Vec<Package> = texts.into_iter().map(|(name, modules)| Package::new(name, &modules)).collect();
    assert!(packages.iter().map(|package| package.uses.len()).sum::<usize>() > 1000, "the paths were found");
    packages
}

impl Package {
    fn new(name: String, texts: &[(Path, String)]) -> Self {
        let modules = texts.iter().map(|(module, _)| module.clone()).collect();
        let mut package = Self { name, modules, imports: HashMap::new(), uses: Vec::new() };
        let mut named = Vec::new();
        for (module, text) in texts {
            let mut imports = HashMap::new();
            for (path, name) in imported(text) {
                let Some(written) = package.absolute(module, &path) else { continue };
                named.push((module, written.clone()));
                // A module names its own parts without having them from elsewhere.
                if written.len() != module.len() + 1 || !written.starts_with(module) {
                    imports.insert(name, written);
                }
            }
            let inline = inline(text);
            named.extend(inline.iter().filter_map(|path| Some((module, package.absolute(module, path)?))));
            package.imports.entry(module.clone()).or_default().extend(imports);
        }
        let uses = named.into_iter().filter(|(by, written)| !written.is_empty() && written != *by);
        let uses = uses.filter_map(|(by, written)| {
            Some(Use { by: by.clone(), module: package.definition(&written, 0)?, written })
        });
        package.uses = uses.collect();
        package
    }

    /// Is this a module of the package?
    pub fn has(&self, path: &[String]) -> bool {
        self.modules.contains(path)
    }

    /// A path from the root of the crate; `None` if it leads out of the package.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Path> {
        let first = path.first()?.as_str();
        let ups = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match first {
            "crate" => (&module[..0], &path[1..]),
            "self" => (module, &path[1..]),
            "super" => (&module[..module.len().checked_sub(ups)?], &path[ups..]),
            _ if self.has(&[module, &path[..1]].concat()) => (module, path),
            _ => return None,
        };
        Some([base, rest].concat())
    }

    /// The module that defines what a path from the root names, through all that is only named on the way.
    fn definition(&self, path: &[String], depth: usize) -> Option<Path> {
        let known = (0..=path.len()).rev().find(|&length| self.has(&path[..length]))?;
        let (module, rest) = path.split_at(known);
        match rest.first().and_then(|name| self.imports.get(module)?.get(name)) {
            Some(import) if depth < self.modules.len() => self.definition(&[import, &rest[1..]].concat(), depth + 1),
            _ => Some(module.to_vec()),
        }
    }
}

/// What `use` items name: the paths, each with the name that it has here.
fn imported(text: &str) -> Vec<(Path, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let line = text[..at].rsplit('\n').next().unwrap_or_default().trim();
        if line.is_empty() || (line.starts_with("pub") && !line.contains('"')) {
            let tree = text[at + "use ".len()..].split(';').next().unwrap_or_default();
            leaves(tree, &Vec::new(), &mut found);
        }
    }
    found
}

/// Adds the paths of a tree of a `use` item.
fn leaves(tree: &str, before: &[String], found: &mut Vec<(Path, String)>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let before = [before, &parts(head)].concat();
        let (mut depth, mut start) = (0, 0);
        for (at, letter) in group.char_indices() {
            match letter {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    leaves(&group[start..at], &before, found);
                    start = at + 1;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    } else if !tree.is_empty() && tree != "self" {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path = [before, &parts(path)].concat();
        let name = if alias.is_empty() { path.last().cloned().unwrap_or_default() } else { alias.trim().to_owned() };
        found.push((path, name));
    } else if let Some(name) = before.last().filter(|_| tree == "self") {
        found.push((before.to_vec(), name.clone()));
    }
}

/// Paths that code names where it uses them.
fn inline(text: &str) -> Vec<Path> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let is_inside = |before: char| before.is_alphanumeric() || "_:$".contains(before);
            if !text[..at].ends_with(is_inside) {
                let end = |letter: char| !letter.is_alphanumeric() && !"_:".contains(letter);
                found.push(parts(text[at..].split(end).next().unwrap_or_default()));
            }
        }
    }
    found
}

fn parts(path: &str) -> Path {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
