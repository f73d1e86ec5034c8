//! The two trees of a chunk where links differ from their opposites.

use collsynth_bound::divided_trees::{NONE, Tree};

/// The trees of a chunk, up and down; in place of cables, live links.
#[derive(Clone)]
pub(super) struct Pair {
    pub root: u32,
    pub trees: [Tree; 2],
}

impl Pair {
    /// The links of both trees.
    pub fn links(&self) -> impl Iterator<Item = usize> + '_ {
        self.trees.iter().flat_map(|tree| &tree.cable).filter(|&&link| link != NONE).map(|&link| link as usize)
    }
}
