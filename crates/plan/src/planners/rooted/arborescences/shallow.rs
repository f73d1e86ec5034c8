//! Making edge-disjoint arborescences shallow.
//!
//! Two arborescences may exchange the links by which they reach a rank, or one may take an unused link, as long as no
//! cycle arises. Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) decides which exchanges to make: it reduces
//! excess depth, and accepts an increase now and then, less often as it goes on.

use fastrand::Rng;

use crate::model::control::Control;
use crate::model::network::Network;
use crate::search::pipeline::{Arborescence, Parents};

/// Exchanges tried for every rank of every arborescence.
const MOVES: u64 = 500;
/// Ranks visited in all exchanges together: large networks get fewer exchanges.
const WORK: u64 = 200_000_000;
/// Temperature at the beginning and at the end, in units of the cost of one rank too deep by one hop.
const TEMPERATURE: (f64, f64) = (2.0, 0.1);

pub(super) struct Shallow<'a> {
    network: &'a Network,
    root: u32,
    ranks: Vec<u32>,
    /// The number of arborescences that may still use each link.
    left: Vec<u32>,
    trees: Vec<Arborescence>,
    /// The depth below which nothing is gained.
    target: u32,
    rng: Rng,
}

impl<'a> Shallow<'a> {
    /// Of these arborescences, `multiplicity[link]` of which may share a link.
    pub fn new(network: &'a Network, root: u32, multiplicity: Vec<u32>, trees: Vec<Parents>, rng: Rng) -> Self {
        let ranks = (0..network.rank_count() as u32).filter(|&rank| rank != root && !network.entering(rank).is_empty());
        let ranks: Vec<u32> = ranks.collect();
        let target = least_depth(network, root, &ranks, &multiplicity, trees.len());
        let mut left = multiplicity;
        for parents in &trees {
            for &rank in &ranks {
                left[parents[rank as usize] as usize] -= 1;
            }
        }
        let trees = trees.into_iter().map(|parents| Arborescence::new(network, root, parents)).collect();
        Self { network, root, ranks, left, trees, target, rng }
    }

    /// The excess depth of an arborescence, squared so that the deepest ranks count most.
    fn cost_of(&self, tree: &Arborescence) -> u64 {
        tree.reached().map(|(_, depth)| u64::from(depth.saturating_sub(self.target)).pow(2)).sum()
    }

    pub fn into_arborescences(self) -> Vec<Arborescence> {
        self.trees
    }

    /// Exchanges links until nothing is too deep, the work is done, or `control` stops it; then restores the best state
    /// seen.
    pub fn improve(&mut self, control: &Control) {
        if self.ranks.is_empty() || self.trees.is_empty() {
            return;
        }
        let ranks = self.ranks.len() as u64;
        let moves = (MOVES * ranks * self.trees.len() as u64).min(WORK / ranks);
        let mut best: (u64, _) = (self.trees.iter().map(|tree| self.cost_of(tree)).sum(), self.trees.clone());
        let mut cost = best.0;
        for number in 0..moves {
            if cost == 0 || (number % 1024 == 0 && control.stop().is_some()) {
                break;
            }
            let done = number as f64 / moves as f64;
            let temperature = TEMPERATURE.0 * (TEMPERATURE.1 / TEMPERATURE.0).powf(done);
            let allowed = -temperature * self.rng.f64().max(f64::MIN_POSITIVE).ln();
            cost = cost.wrapping_add_signed(self.exchange(allowed));
            if cost < best.0 {
                best = (cost, self.trees.clone());
            }
        }
        if best.0 < cost {
            self.trees = best.1;
        }
    }

    /// Tries one exchange, and drops it if it costs more than allowed. Returns the change of the cost.
    fn exchange(&mut self, allowed: f64) -> i64 {
        let one = self.rng.usize(..self.trees.len());
        // A rank that is too deep, or one on the path to it.
        let mut rank = self.ranks[self.rng.usize(..self.ranks.len())];
        if self.trees[one].depth_of(rank) > self.target {
            for _ in 0..self.rng.u32(..self.trees[one].depth_of(rank)) {
                rank = self.network.from[self.trees[one].parent(rank) as usize];
            }
        }
        let into = self.network.entering(rank);
        let (old, new) = (self.trees[one].parent(rank), into[self.rng.usize(..into.len())]);
        if new == old || self.is_below(one, self.network.from[new as usize], rank) {
            return 0;
        }
        let other = if self.left[new as usize] > 0 {
            None
        } else {
            let users = |&tree: &usize| self.trees[tree].parent(rank) == new;
            let other = (0..self.trees.len()).find(users);
            if other.is_none_or(|other| self.is_below(other, self.network.from[old as usize], rank)) {
                return 0;
            }
            other
        };
        let rerouted = |tree: usize, link| self.trees[tree].rerouted(self.network, self.root, rank, link);
        let change =
            |tree: usize, new: &Arborescence| self.cost_of(new) as i64 - self.cost_of(&self.trees[tree]) as i64;
        let first = rerouted(one, new);
        let second = other.map(|other| (other, rerouted(other, old)));
        let change = change(one, &first) + second.as_ref().map_or(0, |(other, tree)| change(*other, tree));
        if change as f64 > allowed {
            return 0;
        }
        self.trees[one] = first;
        match second {
            Some((other, tree)) => self.trees[other] = tree,
            None => {
                self.left[new as usize] -= 1;
                self.left[old as usize] += 1;
            }
        }
        change
    }

    /// Does the path to a rank pass through another?
    fn is_below(&self, tree: usize, mut rank: u32, above: u32) -> bool {
        while rank != above && rank != self.root {
            rank = self.network.from[self.trees[tree].parent(rank) as usize];
        }
        rank == above
    }
}

/// A lower bound on the depth of the deepest of `count` arborescences. If there is one for each link of the root, each
/// begins with one of these links, and has the whole path from there ahead.
fn least_depth(network: &Network, root: u32, ranks: &[u32], multiplicity: &[u32], count: usize) -> u32 {
    let farthest = |from: u32| ranks.iter().map(|&rank| network.distance(from, rank)).max().unwrap_or(0);
    let begin = || network.out(root).iter().filter(|&&link| multiplicity[link as usize] > 0);
    if begin().map(|&link| multiplicity[link as usize] as usize).sum::<usize>() > count {
        return farthest(root);
    }
    begin().map(|&link| 1 + farthest(network.to[link as usize])).max().unwrap_or(0)
}
