//! What a collective in groups wants of trees.

use collsynth_core::collective::{ChunkId, Holders, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

use super::cables::Cables;
use super::tree::{BOTH, DOWN, NONE, Tree, UP, Ways};

/// A tree to find: the group whose members it joins, and its root, if only one will do.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The number of the group.
    pub group: usize,
    /// The root, if only one will do.
    pub root: Option<u32>,
}

/// The groups, and the tree that each chunk wants.
pub struct Demand<'a> {
    /// The cables of the machine.
    pub cables: &'a Cables,
    /// The live members of each group; the last has none, for the chunks of failed ranks.
    pub groups: Vec<Vec<u32>>,
    /// The ways in which data crosses each tree: both, or one.
    pub ways: Ways,
    /// In the order of the chunks.
    pub wanted: Vec<Wanted>,
}

impl<'a> Demand<'a> {
    /// Of a problem, on its machine's cables.
    pub fn new(problem: &Problem, cables: &'a Cables) -> Self {
        let live = |members: &Vec<RankId>| -> Vec<u32> {
            let live = members.iter().filter(|&&rank| problem.topology().is_alive(rank));
            live.map(|rank| rank.0).collect()
        };
        let mut groups: Vec<Vec<u32>> =
            problem.groups().map_or(Vec::new(), |groups| groups.members().iter().map(live).collect());
        groups.push(Vec::new());
        let nobody = Wanted { group: groups.len() - 1, root: None };
        let wanted = |chunk: ChunkId| {
            let group = problem.collective().group_of(chunk).map_or(nobody.group, |group| group as usize);
            let rule = problem.rule(chunk);
            match (rule.before, rule.after) {
                (Holders::One(root), _) | (_, Holders::One(root)) if problem.topology().is_alive(root) => {
                    Wanted { group, root: Some(root.0) }
                }
                (Holders::One(_), _) | (_, Holders::One(_)) => nobody,
                _ => Wanted { group, root: None },
            }
        };
        let wanted = (0..problem.chunk_count()).map(|chunk| wanted(ChunkId(chunk))).collect();
        let ways: Ways = match problem.collective().kind.pattern() {
            Pattern::OneToEvery => &[DOWN],
            Pattern::EveryToOne => &[UP],
            _ => BOTH,
        };
        Self { cables, groups, ways, wanted }
    }

    /// Visits the links that a tree takes, as [`Cables::directed`] numbers them.
    pub fn visit(&self, tree: &Tree, mut visit: impl FnMut(usize)) {
        for (rank, &cable) in (0..).zip(&tree.cable).filter(|&(_, &cable)| cable != NONE) {
            for &way in self.ways {
                visit(self.link(cable, rank, tree.parent[rank as usize], way));
            }
        }
    }

    /// The links that a tree takes.
    pub fn links_of(&self, tree: &Tree) -> Vec<usize> {
        let mut links = Vec::new();
        self.visit(tree, |link| links.push(link));
        links
    }

    /// The links that a tree takes between a rank and the child across a cable.
    pub fn links_below(&self, cable: u32, parent: u32) -> impl Iterator<Item = usize> {
        let child = self.cables.across(cable, parent);
        self.ways.iter().map(move |&way| self.link(cable, child, parent, way))
    }

    /// The link between a rank and its parent in a tree.
    pub fn link(&self, cable: u32, rank: u32, parent: u32, way: usize) -> usize {
        self.cables.directed(cable, if way == UP { rank } else { parent }) as usize
    }
}
