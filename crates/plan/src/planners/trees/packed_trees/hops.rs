//! The hops of all trees in flat arrays.

use collsynth_core::topology::LinkId;

use super::pair::Pair;
use crate::model::network::Network;
use collsynth_bound::divided_trees::{BOTH, Cables, DOWN, NONE, Tree, UP, Ways};

/// Hop `tree * ranks + rank` joins a rank to its parent, once up and once down, or one of them. Roots and ranks outside
/// the tree have none, but a place all the same.
pub(super) struct Hops {
    pub ranks: usize,
    pub ways: Ways,
    /// The link up and the link down, by their ids.
    pub link: [Vec<u32>; 2],
    /// The place of each tree's root.
    pub roots: Vec<u32>,
    /// One if trees up are those down; else those up, then those down.
    forests: Vec<Forest>,
}

/// Which hops come right above and below which.
pub(super) struct Forest {
    /// The hop of the parent; the root's own number at the root, and [`NONE`] outside the tree.
    pub above: Vec<u32>,
    /// The number of hops right below.
    pub below: Vec<u32>,
    /// The first of the hops right below, and the next with the same parent.
    pub first: Vec<u32>,
    pub next: Vec<u32>,
    /// The hops between a rank and the deepest rank below it.
    pub height: Vec<u16>,
    /// The hops between a rank and the root.
    pub depth: Vec<u16>,
}

impl Hops {
    /// Of trees whose cables carry data both ways, or one of them.
    pub fn of_trees(cables: &Cables, trees: &[Tree], ways: Ways) -> Self {
        let mut hops = Self::without_links(cables.rank_count(), trees.iter().map(|tree| tree.root), ways);
        hops.forests = vec![Forest::new(&hops, trees.iter().map(|tree| &tree.parent[..]))];
        for (tree, base) in trees.iter().zip((0..).step_by(hops.ranks)) {
            for rank in (0..hops.ranks).filter(|&rank| tree.cable[rank] != NONE) {
                let (cable, parent) = (tree.cable[rank], tree.parent[rank]);
                hops.link[UP][base + rank] = cables.link_from(cable, rank as u32).0;
                hops.link[DOWN][base + rank] = cables.link_from(cable, parent).0;
            }
        }
        hops
    }

    /// Of trees up and down that share only their roots, over links of this network.
    pub fn of_pairs(network: &Network, pairs: &[&Pair]) -> Self {
        let mut hops = Self::without_links(network.rank_count(), pairs.iter().map(|pair| pair.root), BOTH);
        for &way in BOTH {
            let trees = || pairs.iter().map(|pair| &pair.trees[way]);
            hops.forests.push(Forest::new(&hops, trees().map(|tree| &tree.parent[..])));
            let id = |&link: &u32| network.ids.get(link as usize).map_or(NONE, |id| id.0);
            hops.link[way] = trees().flat_map(|tree| tree.cable.iter().map(id)).collect();
        }
        hops
    }

    fn without_links(ranks: usize, roots: impl Iterator<Item = u32>, ways: Ways) -> Self {
        let roots: Vec<u32> = roots.zip(0..).map(|(root, tree)| tree * ranks as u32 + root).collect();
        let all = ranks * roots.len();
        Self { ranks, ways, link: [vec![NONE; all], vec![NONE; all]], roots, forests: Vec::new() }
    }

    /// How the hops of a way follow each other.
    pub fn forest(&self, way: usize) -> &Forest {
        &self.forests[way.min(self.forests.len() - 1)]
    }

    /// All places, hops or not.
    pub fn len(&self) -> usize {
        self.link[UP].len()
    }

    pub fn is_hop(&self, hop: usize, way: usize) -> bool {
        self.link[way][hop] != NONE
    }

    /// All hops, each with its way.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let ways = |hop: usize| self.ways.iter().map(move |&way| (hop, way));
        (0..self.len()).flat_map(ways).filter(|&(hop, way)| self.is_hop(hop, way))
    }

    /// The link that a hop takes.
    pub fn link_id(&self, hop: usize, way: usize) -> LinkId {
        LinkId(self.link[way][hop])
    }
}

impl Forest {
    /// `parents` has those of every tree, by rank.
    fn new<'a>(hops: &Hops, parents: impl Iterator<Item = &'a [u32]>) -> Self {
        let all = hops.len();
        let mut forest = Self {
            above: vec![NONE; all],
            below: vec![0; all],
            first: vec![NONE; all],
            next: vec![NONE; all],
            height: vec![0; all],
            depth: vec![0; all],
        };
        for (parents, &root) in parents.zip(&hops.roots) {
            forest.add(parents, root, root as usize / hops.ranks * hops.ranks);
        }
        forest
    }

    fn add(&mut self, parents: &[u32], root: u32, base: usize) {
        self.above[root as usize] = root;
        for (rank, &parent) in parents.iter().enumerate().rev().filter(|&(_, &parent)| parent != NONE) {
            let (hop, above) = (base + rank, base + parent as usize);
            self.above[hop] = above as u32;
            self.below[above] += 1;
            self.next[hop] = std::mem::replace(&mut self.first[above], hop as u32);
        }
        let mut order = vec![root];
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
    fn below(&self, hop: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |hop: u32| (hop != NONE).then_some(hop);
        std::iter::successors(known(self.first[hop as usize]), move |&hop| known(self.next[hop as usize]))
    }
}
