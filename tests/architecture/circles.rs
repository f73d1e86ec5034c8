//! No circles: of the files and folders side by side in a folder, none uses itself by way of others.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::packages;

/// In a folder: who uses whom, with an example.
type Uses<'a> = BTreeMap<&'a str, BTreeMap<&'a str, String>>;

/// Circles that are left, each as the folder and those in it. The list may only become shorter.
const LEFT: &[(&str, &[&str])] = &[];

#[test]
fn nothing_side_by_side_uses_itself_by_way_of_others() {
    let packages = packages();
    let mut found = Vec::new();
    for package in &packages {
        let mut folders: BTreeMap<&[String], Uses<'_>> = BTreeMap::new();
        for used in &package.uses {
            let common = used.by.iter().zip(&used.module).take_while(|(one, other)| one == other).count();
            let (Some(by), Some(of)) = (used.by.get(common), used.module.get(common)) else { continue };
            let example = format!("{} uses {}", used.by.join("::"), used.written.join("::"));
            folders.entry(&used.by[..common]).or_default().entry(by).or_default().insert(of, example);
        }
        for (folder, uses) in &folders {
            let folder = [&package.name, "src"].into_iter().chain(folder.iter().map(String::as_str));
            let folder = folder.collect::<Vec<_>>().join("/");
            for circle in circles(uses) {
                let within = |name: &&str| circle.contains(name);
                let arrows = circle.iter().flat_map(|by| uses[by].iter().filter(|(of, _)| within(of)));
                let examples: Vec<&str> = arrows.map(|(_, example)| example.as_str()).collect();
                found.push((folder.clone(), circle, examples.join("\n  ")));
            }
        }
    }
    let is_left = |(folder, circle, _): &&(String, Vec<&str>, String)| LEFT.contains(&(folder, circle));
    let broken: Vec<_> = found.iter().filter(|one| !is_left(one)).collect();
    let broken: Vec<_> = broken.iter().map(|(folder, circle, why)| format!("{folder}: {circle:?}\n  {why}")).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert_eq!(found.len(), LEFT.len(), "a circle of the list is no more");
}

/// The sets of names of which each reaches each.
fn circles<'a>(uses: &Uses<'a>) -> Vec<Vec<&'a str>> {
    let reached = |from: &'a str| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(by) = open.pop() {
            open.extend(uses.get(by).into_iter().flat_map(BTreeMap::keys).filter(|of| reached.insert(**of)));
        }
        reached
    };
    let reach: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|&name| (name, reached(name))).collect();
    let circle = |name: &'a str| -> Vec<&'a str> {
        let back = |other: &&&str| reach.get(**other).is_some_and(|reached| reached.contains(name));
        reach[name].iter().filter(back).copied().collect()
    };
    let circles: BTreeSet<Vec<&str>> =
        uses.keys().map(|&name| circle(name)).filter(|circle| circle.len() > 1).collect();
    circles.into_iter().collect()
}
