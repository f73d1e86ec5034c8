//! A folder of sources can be taken in at a glance.

use std::path::PathBuf;

use crate::sources::{entries, files_below, root};

/// The most files and folders side by side.
const MOST: usize = 14;

#[test]
fn few_files_and_folders_lie_side_by_side() {
    let is_source =
        |path: &PathBuf| path.extension().is_some_and(|kind| ["rs", "py", "js"].iter().any(|one| kind == *one));
    let sources = files_below(root()).into_iter().filter(is_source);
    let mut folders: Vec<PathBuf> = sources.filter_map(|path| Some(path.parent()?.to_owned())).collect();
    folders.sort();
    folders.dedup();
    folders.retain(|folder| entries(folder).len() > MOST);
    assert!(folders.is_empty(), "more than {MOST} files and folders side by side: {folders:?}");
}
