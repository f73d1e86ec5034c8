//! Trees for groups: each joins the members of its group, over other ranks where that unloads links.
//!
//! A tree grows from its root by cheapest paths to the nearest member not yet joined (Takahashi and Matsuyama 1980).
//! The price of a link rises with a power of its load, and all trees are grown anew in turn, in rounds, under prices
//! that rise ever more steeply (Plotkin, Shmoys and Tardos 1995, for prices that pack).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fastrand::Rng;

use collsynth_bound::divided_trees::{Demand, NONE, Tree, Wanted};

/// Rounds in all, and those before the power of the price doubles.
const ROUNDS: u32 = 60;
const ROUNDS_PER_POWER: u32 = 10;
/// Rounds in a row that do not unload the fullest link, after which others hardly ever do.
const MOST_IN_VAIN: u32 = 2 * ROUNDS_PER_POWER;
/// The power of the first rounds is two to this.
const FIRST_POWER: u32 = 2;
/// The price of a link without load, where a full one costs 1: of equals, the shorter tree.
const HOP: f64 = 0.15;
/// The price of a hop between the root and where a path begins: deep trees take long to begin and to end.
const DEPTH: f64 = 0.2;

/// Trees that join groups.
pub(super) struct Joining<'a> {
    pub demand: &'a Demand<'a>,
    /// The load aimed at, for each unit of capacity; at least 1.
    pub most: u32,
}

/// The trees on each link, and the price of one more.
struct Loads<'a> {
    joining: &'a Joining<'a>,
    doublings: u32,
    load: Vec<u32>,
    price: Vec<f64>,
}

impl<'a> Loads<'a> {
    fn new(joining: &'a Joining<'a>, load: Vec<u32>, doublings: u32) -> Self {
        let price = (0..load.len()).map(|link| joining.price(link, &load, doublings)).collect();
        Self { joining, doublings, load, price }
    }

    fn add(&mut self, tree: &Tree) {
        self.change(tree, |load| load + 1);
    }

    fn take(&mut self, tree: &Tree) {
        self.change(tree, |load| load - 1);
    }

    fn price_of(&self, tree: &Tree) -> f64 {
        let mut sum = 0.0;
        self.joining.demand.visit(tree, |link| sum += self.price[link]);
        sum
    }

    fn change(&mut self, tree: &Tree, change: impl Fn(u32) -> u32) {
        self.joining.demand.visit(tree, |link| {
            self.load[link] = change(self.load[link]);
            self.price[link] = self.joining.price(link, &self.load, self.doublings);
        });
    }
}

/// A growing tree.
struct Growth {
    /// By rank: the price of its path to the root, and the first cable and rank on it.
    price: Vec<f64>,
    before: Vec<(u32, u32)>,
    /// The hops from the root, in the tree.
    depth: Vec<u32>,
    /// The members that are not in the tree.
    lacks: Vec<bool>,
}

impl Joining<'_> {
    /// Grows these trees with as little load on the fullest link as is found until `stop` becomes true; `None` if
    /// cables do not join a group, or if `abandon` becomes true before all trees are grown once.
    pub fn pack(&self, rng: &mut Rng, abandon: &dyn Fn() -> bool, stop: &dyn Fn() -> bool) -> Option<Vec<Tree>> {
        let wanted = &self.demand.wanted;
        let mut loads = Loads::new(self, vec![0; 2 * self.demand.cables.count()], FIRST_POWER);
        let mut trees = Vec::with_capacity(wanted.len());
        for &one in wanted {
            let tree = self.grow(one, &loads.price, rng).filter(|_| !abandon())?;
            loads.add(&tree);
            trees.push(tree);
        }
        let mut best = (self.figures(&loads.load), trees.clone());
        let mut in_vain = 0;
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        for round in 0..ROUNDS {
            if best.0.0 <= self.most || in_vain == MOST_IN_VAIN || stop() {
                break;
            }
            if round % ROUNDS_PER_POWER == 0 {
                loads = Loads::new(self, loads.load, FIRST_POWER + round / ROUNDS_PER_POWER);
            }
            rng.shuffle(&mut order);
            for &number in &order {
                loads.take(&trees[number]);
                let tree = self.grow(wanted[number], &loads.price, rng)?;
                // Growth is no exact search: what there was may be cheaper.
                if loads.price_of(&tree) < loads.price_of(&trees[number]) {
                    trees[number] = tree;
                }
                loads.add(&trees[number]);
            }
            let figures = self.figures(&loads.load);
            in_vain = if figures.0 < best.0.0 { 0 } else { in_vain + 1 };
            if figures < best.0 {
                best = (figures, trees.clone());
            }
        }
        Some(best.1)
    }

    /// The load of the fullest link for each unit of capacity, and of all links.
    pub fn figures(&self, load: &[u32]) -> (u32, u64) {
        let full = load.iter().enumerate().map(|(link, load)| load.div_ceil(self.demand.cables.capacity[link / 2]));
        (full.max().unwrap_or(0), load.iter().map(|&load| u64::from(load)).sum())
    }

    /// The price of one more tree on a link.
    pub fn price(&self, link: usize, load: &[u32], doublings: u32) -> f64 {
        let room = f64::from(self.most) * f64::from(self.demand.cables.capacity[link / 2]);
        (0..doublings).fold(f64::from(load[link] + 1) / room, |price, _| price * price) + HOP
    }

    /// A tree that no leaf but a member ends; `None` if a member cannot be reached.
    fn grow(&self, wanted: Wanted, prices: &[f64], rng: &mut Rng) -> Option<Tree> {
        let (ranks, members) = (self.demand.cables.rank_count(), &self.demand.groups[wanted.group]);
        let root = wanted.root.or_else(|| rng.choice(members).copied()).unwrap_or(0);
        let mut tree = Tree::alone(root, ranks);
        let mut growth = Growth {
            price: vec![f64::INFINITY; ranks],
            before: vec![(NONE, NONE); ranks],
            depth: vec![NONE; ranks],
            lacks: vec![false; ranks],
        };
        members.iter().filter(|&&rank| rank != root).for_each(|&rank| growth.lacks[rank as usize] = true);
        let mut left = growth.lacks.iter().filter(|&&lacks| lacks).count();
        (growth.price[root as usize], growth.depth[root as usize]) = (0.0, 0);
        // Prices are not negative, so they order like their bits.
        let mut open = BinaryHeap::from([Reverse((0, 0, root))]);
        while left > 0 {
            let Reverse((bits, _, at)) = open.pop()?;
            if f64::from_bits(bits) > growth.price[at as usize] {
                continue;
            }
            if std::mem::take(&mut growth.lacks[at as usize]) {
                left -= 1;
                // The whole way belongs to the tree from now on, and costs only its depth.
                let (mut way, mut rank) = (Vec::new(), at);
                while growth.depth[rank as usize] == NONE {
                    way.push(rank);
                    rank = growth.before[rank as usize].1;
                }
                while let Some(rank) = way.pop() {
                    let (cable, parent) = growth.before[rank as usize];
                    (tree.cable[rank as usize], tree.parent[rank as usize]) = (cable, parent);
                    let depth = growth.depth[parent as usize] + 1;
                    let price = DEPTH * f64::from(depth);
                    growth.depth[rank as usize] = depth;
                    growth.price[rank as usize] = price;
                    open.push(Reverse((price.to_bits(), rng.u16(..), rank)));
                }
                continue;
            }
            for &cable in self.demand.cables.of(at) {
                let next = self.demand.cables.across(cable, at);
                let over = |&way: &usize| prices[self.demand.link(cable, next, at, way)];
                let price = f64::from_bits(bits) + self.demand.ways.iter().map(over).sum::<f64>();
                if growth.depth[next as usize] == NONE && price < growth.price[next as usize] {
                    growth.price[next as usize] = price;
                    growth.before[next as usize] = (cable, at);
                    open.push(Reverse((price.to_bits(), rng.u16(..), next)));
                }
            }
        }
        Some(tree)
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::topology::Topology;

    use super::*;
    use collsynth_bound::divided_trees::{BOTH, Cables, DOWN, UP};

    /// The members of each tree hang from its root, every leaf is a member, and no link has more than the load found.
    #[test]
    fn trees_join_their_groups_and_share_the_links() {
        let topology = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let cables = Cables::new(&topology);
        let groups: Vec<Vec<u32>> = vec![vec![0, 1, 4, 5], vec![2, 3, 6, 7], vec![8, 15], vec![11]];
        for (ways, rooted, most) in [(BOTH, false, 24), (&[DOWN][..], true, 12), (&[UP][..], true, 12)] {
            let of_group = |group: usize| Wanted { group, root: rooted.then_some(groups[group][0]) };
            let wanted: Vec<Wanted> = (0..groups.len()).flat_map(|group| [of_group(group); 24]).collect();
            let demand = Demand { cables: &cables, groups: groups.clone(), ways, wanted };
            let joining = Joining { demand: &demand, most };
            let trees = joining.pack(&mut Rng::with_seed(7), &|| false, &|| false).expect("all are connected");
            let mut load = vec![0; 2 * cables.count()];
            for (tree, wanted) in trees.iter().zip(&demand.wanted) {
                let members = &groups[wanted.group];
                assert!(wanted.root.is_none_or(|root| root == tree.root));
                for &member in members {
                    let (mut at, mut hops) = (member, 0);
                    while at != tree.root {
                        let cable = tree.cable[at as usize];
                        assert_eq!(cables.across(cable, at), tree.parent[at as usize]);
                        (at, hops) = (tree.parent[at as usize], hops + 1);
                        assert!(hops < 16, "a circle");
                    }
                }
                let inner = |rank: u32| tree.parent.contains(&rank);
                let ranks = (0..16).filter(|&rank| tree.cable[rank as usize] != NONE);
                assert!(ranks.clone().all(|rank| inner(rank) || members.contains(&rank)), "a leaf that is no member");
                demand.visit(tree, |link| load[link] += 1);
            }
            assert!(load.iter().all(|&load| load <= most + 2), "{load:?}, aimed at {most}");
        }
    }

    #[test]
    fn groups_that_cables_do_not_join_have_no_trees() {
        let topology = Topology::torus(&[4]).unwrap().fail_cable(0, 1).unwrap().fail_cable(1, 2).unwrap();
        let cables = Cables::new(&topology);
        let wanted = vec![Wanted { group: 0, root: None }];
        let demand = Demand { cables: &cables, groups: vec![vec![0, 1]], ways: BOTH, wanted };
        let joining = Joining { demand: &demand, most: 1 };
        assert!(joining.pack(&mut Rng::with_seed(7), &|| false, &|| false).is_none());
    }
}
