//! The hops of all trees in flat arrays.

use crate::divided_trees::{Cables, DOWN, NONE, Tree, UP, Ways};

/// Hop `tree * ranks + rank` joins a rank to its parent, once up and once down, or one of them. Roots and ranks outside
/// the tree have none, but a place all the same.
pub(super) struct Hops {
    pub ranks: usize,
    pub ways: Ways,
    /// The hop of the parent; the root's own number at the root, and [`NONE`] outside the tree.
    pub above: Vec<u32>,
    /// The number of hops right below.
    pub below: Vec<u32>,
    /// The first of the hops right below, and the next with the same parent.
    first: Vec<u32>,
    next: Vec<u32>,
    /// The link up and the link down, as [`Cables::directed`] numbers them.
    pub link: [Vec<u32>; 2],
    /// The hops between a rank and the deepest rank below it.
    pub height: Vec<u16>,
    /// The hops between a rank and the root.
    pub depth: Vec<u16>,
    /// The hops in all, each way.
    pub count: usize,
}

impl Hops {
    pub fn new(cables: &Cables, trees: &[Tree], ways: Ways) -> Self {
        let ranks = cables.rank_count();
        let all = ranks * trees.len();
        let mut hops = Self {
            ranks,
            ways,
            above: vec![NONE; all],
            below: vec![0; all],
            first: vec![NONE; all],
            next: vec![NONE; all],
            link: [vec![NONE; all], vec![NONE; all]],
            height: vec![0; all],
            depth: vec![0; all],
            count: 0,
        };
        for (tree, base) in trees.iter().zip((0..).step_by(ranks)) {
            hops.add(cables, tree, base);
        }
        hops
    }

    fn add(&mut self, cables: &Cables, tree: &Tree, base: usize) {
        let root = base + tree.root as usize;
        self.above[root] = root as u32;
        for rank in (0..self.ranks).rev().filter(|&rank| tree.cable[rank] != NONE) {
            let (hop, cable, parent) = (base + rank, tree.cable[rank], tree.parent[rank]);
            let above = base + parent as usize;
            self.above[hop] = above as u32;
            self.below[above] += 1;
            self.next[hop] = std::mem::replace(&mut self.first[above], hop as u32);
            self.link[UP][hop] = cables.directed(cable, rank as u32);
            self.link[DOWN][hop] = cables.directed(cable, parent);
            self.count += 1;
        }
        let mut order = vec![root as u32];
        let mut done = 0;
        while let Some(&hop) = order.get(done) {
            done += 1;
            let deeper = self.depth[hop as usize] + 1;
            for below in self.below(hop).collect::<Vec<u32>>() {
                self.depth[below as usize] = deeper;
                order.push(below);
            }
        }
        for &hop in order[1..].iter().rev() {
            let above = self.above[hop as usize] as usize;
            self.height[above] = self.height[above].max(self.height[hop as usize] + 1);
        }
    }

    /// The hops right below one.
    pub fn below(&self, hop: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |hop: u32| (hop != NONE).then_some(hop);
        std::iter::successors(known(self.first[hop as usize]), move |&hop| known(self.next[hop as usize]))
    }

    /// All places, hops or not.
    pub fn len(&self) -> usize {
        self.above.len()
    }

    pub fn is_hop(&self, hop: usize) -> bool {
        self.link[UP][hop] != NONE
    }

    pub fn is_root(&self, hop: u32) -> bool {
        self.above[hop as usize] == hop
    }

    /// The height of the tree that a hop belongs to.
    pub fn tallest(&self, tree: &Tree, number: usize) -> u32 {
        u32::from(self.height[number * self.ranks + tree.root as usize])
    }
}
