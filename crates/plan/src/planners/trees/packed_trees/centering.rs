//! Roots of trees near their middles: what is deep takes long to begin and to end.

use collsynth_bound::divided_trees::{NONE, Tree};

/// Hops that a root may be farther from the middle of its tree.
const SLACK: u32 = 2;

/// Hangs every tree from a rank near its middle, so that no rank is the root of many more trees than others.
pub(super) fn center(trees: &mut [Tree]) {
    let mut roots = Vec::new();
    for tree in trees {
        let ranks = ranks_of(tree);
        let reach = reach_of(tree, &ranks);
        roots.resize(tree.cable.len(), 0_u32);
        let least = ranks.iter().map(|&rank| reach[rank as usize]).min().unwrap_or(0);
        let near = ranks.iter().copied().filter(|&rank| reach[rank as usize] <= least + SLACK);
        let root = near.min_by_key(|&rank| (roots[rank as usize], reach[rank as usize])).unwrap_or(tree.root);
        roots[root as usize] += 1;
        hang_from(tree, root);
    }
}

/// The ranks in the tree, ascending.
fn ranks_of(tree: &Tree) -> Vec<u32> {
    (0..tree.cable.len() as u32).filter(|&rank| rank == tree.root || tree.cable[rank as usize] != NONE).collect()
}

/// The hops from each rank to the farthest over the tree.
fn reach_of(tree: &Tree, live: &[u32]) -> Vec<u32> {
    // From any rank, the farthest is one end of a longest path; from there, the farthest is the other.
    let distances = |from: u32| {
        let mut up = vec![u32::MAX; tree.parent.len()];
        let (mut at, mut far) = (from, 0);
        while at != NONE {
            up[at as usize] = far;
            (at, far) = (tree.parent[at as usize], far + 1);
        }
        let mut climbed = Vec::new();
        for &rank in live {
            let mut at = rank;
            while up[at as usize] == u32::MAX {
                climbed.push(at);
                at = tree.parent[at as usize];
            }
            let mut here = up[at as usize];
            while let Some(rank) = climbed.pop() {
                here += 1;
                up[rank as usize] = here;
            }
        }
        up
    };
    let farthest = |from: &[u32]| live.iter().copied().max_by_key(|&rank| from[rank as usize]).unwrap_or(tree.root);
    let first = distances(farthest(&distances(tree.root)));
    let second = distances(farthest(&first));
    first.into_iter().zip(second).map(|(first, second)| first.max(second)).collect()
}

/// Makes a rank the root.
fn hang_from(tree: &mut Tree, root: u32) {
    tree.root = root;
    let (mut rank, mut cable, mut parent) = (root, NONE, NONE);
    while rank != NONE {
        let above = (tree.cable[rank as usize], tree.parent[rank as usize]);
        (tree.cable[rank as usize], tree.parent[rank as usize]) = (cable, parent);
        (cable, parent, rank) = (above.0, rank, above.1);
    }
}
