//! A folder of sources can be taken in at a glance.

use std::path::PathBuf;

use crate::sources::{entries, files_below, root};

/// The most files and folders side by side.
const MOST: usize = 14;

/// Folders that have more, and how many. The numbers may only fall.
const MORE: &[(&str, usize)] = &[("crates/view/page/js", 16), ("python/src/collsynth", 18), ("python/tests", 19)];

#[test]
fn few_files_and_folders_lie_side_by_side() {
    let is_source =
        |path: &PathBuf| path.extension().is_some_and(|kind| ["rs", "py", "js"].iter().any(|one| kind == *one));
    let sources = files_below(root()).into_iter().filter(is_source);
    let mut folders: Vec<PathBuf> = sources.filter_map(|path| Some(path.parent()?.to_owned())).collect();
    folders.sort();
    folders.dedup();
    let mut crowds = Vec::new();
    for folder in folders {
        let count = entries(&folder).len();
        if count > MOST {
            crowds.push((folder.strip_prefix(root()).expect("found below the root").display().to_string(), count));
        }
    }
    let crowds: Vec<(&str, usize)> = crowds.iter().map(|(folder, count)| (folder.as_str(), *count)).collect();
    assert_eq!(crowds, MORE, "at most {MOST}, or as many as are listed");
}
