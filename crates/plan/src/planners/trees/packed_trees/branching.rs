//! The lightest branching: a tree that leads from its root to every rank over directed links.
//!
//! Every rank takes the lightest link that enters it. Where these close circles, each circle becomes one rank, into
//! which a link costs what it adds: its weight less that of the link it replaces on the circle. The branching of what
//! is left opens every circle in one place (Edmonds, "Optimum branchings", 1967).

use crate::model::network::{Network, WAIT};
use collsynth_bound::divided_trees::NONE;

/// Links between ranks, some of which were circles in the level before.
#[derive(Default)]
struct Level {
    links: Vec<Weighted>,
    /// By rank: the lightest link that enters it.
    best: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Weighted {
    from: u32,
    to: u32,
    weight: f64,
    /// The link's number in the level before.
    before: u32,
}

/// Searches for lightest branchings, with their scratch space.
#[derive(Default)]
pub(super) struct Branchings {
    levels: Vec<Level>,
    /// By rank of a level: its number in the next, and the rank from which it was first visited.
    number: Vec<u32>,
    visited_from: Vec<u32>,
    chosen: Vec<u32>,
}

impl Branchings {
    /// By rank, the live link that enters it in the lightest branching from a root; [`WAIT`] at the root and at ranks
    /// without links. All other ranks can be reached from the root.
    ///
    /// O(links * log ranks).
    pub fn lightest(&mut self, network: &Network, root: u32, weight: &[f64]) -> Vec<u32> {
        let (mut ranks, mut root, mut depth) = (network.rank_count(), root, 0);
        self.levels.resize_with(self.levels.len().max(1), Level::default);
        let ends = network.from.iter().zip(&network.to).zip(weight).zip(0..);
        let links = ends.map(|(((&from, &to), &weight), before)| Weighted { from, to, weight, before });
        self.levels[0].links.clear();
        self.levels[0].links.extend(links.filter(|link| link.to != root));
        loop {
            self.levels[depth].choose(ranks);
            let count = self.merge_circles(depth);
            if count == ranks {
                break;
            }
            (ranks, root) = (count, self.number[root as usize]);
            depth += 1;
            self.levels.resize_with(self.levels.len().max(depth + 1), Level::default);
            let (before, after) = self.levels.split_at_mut(depth);
            after[0].contract(&before[depth - 1], &self.number, root);
        }
        self.chosen.clone_from(&self.levels[depth].best);
        for depth in (1..=depth).rev() {
            let (before, level) = (&self.levels[depth - 1], &self.levels[depth]);
            let mut chosen = before.best.clone();
            for &link in self.chosen.iter().filter(|&&link| link != NONE) {
                let link = level.links[link as usize].before;
                chosen[before.links[link as usize].to as usize] = link;
            }
            self.chosen = chosen;
        }
        let first = &self.levels[0].links;
        self.chosen.iter().map(|&link| if link == NONE { WAIT } else { first[link as usize].before }).collect()
    }

    /// Numbers all ranks of a level anew, those of a circle alike; returns how many are left.
    fn merge_circles(&mut self, level: usize) -> usize {
        let Level { links, best } = &self.levels[level];
        let (number, visited_from) = (&mut self.number, &mut self.visited_from);
        for scratch in [&mut *number, &mut *visited_from] {
            scratch.clear();
            scratch.resize(best.len(), NONE);
        }
        let above = |rank: u32| links.get(best[rank as usize] as usize).map_or(NONE, |link| link.from);
        let mut count = 0;
        for start in 0..best.len() as u32 {
            let mut at = start;
            while at != NONE && visited_from[at as usize] == NONE {
                visited_from[at as usize] = start;
                at = above(at);
            }
            if at != NONE && visited_from[at as usize] == start && number[at as usize] == NONE {
                while number[at as usize] == NONE {
                    number[at as usize] = count;
                    at = above(at);
                }
                count += 1;
            }
            at = start;
            while at != NONE && number[at as usize] == NONE {
                number[at as usize] = count;
                count += 1;
                at = above(at);
            }
        }
        count as usize
    }
}

impl Level {
    fn choose(&mut self, ranks: usize) {
        self.best.clear();
        self.best.resize(ranks, NONE);
        for (number, link) in (0..).zip(&self.links) {
            let best = &mut self.best[link.to as usize];
            if *best == NONE || link.weight < self.links[*best as usize].weight {
                *best = number;
            }
        }
    }

    /// The links of the level before between ranks with different numbers.
    fn contract(&mut self, before: &Self, number: &[u32], root: u32) {
        self.links.clear();
        for (link, place) in before.links.iter().zip(0..) {
            let (from, to) = (number[link.from as usize], number[link.to as usize]);
            if from != to && to != root {
                let replaced = before.best[link.to as usize];
                let weight = link.weight - before.links[replaced as usize].weight;
                self.links.push(Weighted { from, to, weight, before: place });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{GraphLink, RankId, Shape, Topology, TopologySpec};
    use fastrand::Rng;

    use super::*;

    /// The weight of the lightest branching, by trying all links into all ranks.
    fn by_trying(network: &Network, root: u32, weight: &[f64]) -> f64 {
        let ranks = network.rank_count() as u32;
        let others: Vec<u32> = (0..ranks).filter(|&rank| rank != root).collect();
        let mut least = f64::INFINITY;
        let choices: usize = others.iter().map(|&rank| network.entering(rank).len()).product();
        for mut number in 0..choices {
            let mut above = vec![root; ranks as usize];
            let mut sum = 0.0;
            for &rank in &others {
                let links = network.entering(rank);
                let link = links[number % links.len()] as usize;
                number /= links.len();
                above[rank as usize] = network.from[link];
                sum += weight[link];
            }
            let up = |&rank: &u32| Some(above[rank as usize]);
            let arrives = |&rank: &u32| std::iter::successors(Some(rank), up).take(ranks as usize).any(|at| at == root);
            if others.iter().all(arrives) {
                least = least.min(sum);
            }
        }
        least
    }

    #[test]
    fn branchings_are_the_lightest_and_lead_everywhere() {
        let mut rng = Rng::with_seed(4);
        let torus = Topology::torus(&[2, 3]).unwrap().fail_link(0, 1).unwrap().fail_link(4, 2).unwrap();
        let chords = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (2, 0), (1, 4), (3, 1), (4, 2)];
        let links = chords.map(|(from, to)| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 }).to_vec();
        let graph = Topology::new(TopologySpec::new(Shape::Graph { ranks: 5, links })).unwrap();
        let mut branchings = Branchings::default();
        for topology in [torus, graph] {
            let problem = Problem::new(topology, Collective::new(Kind::AllReduce)).unwrap();
            let network = Network::new(&problem);
            for round in 0..60 {
                // Small weights tie, others hardly ever do.
                let most = if round % 2 == 0 { 4 } else { 1000 };
                let weight: Vec<f64> = (0..network.link_count()).map(|_| f64::from(rng.u32(0..most))).collect();
                let root = rng.u32(0..network.rank_count() as u32);
                let entering = branchings.lightest(&network, root, &weight);
                assert_eq!(entering[root as usize], WAIT);
                let up = |&rank: &u32| network.from.get(entering[rank as usize] as usize).copied();
                for rank in (0..network.rank_count() as u32).filter(|&rank| rank != root) {
                    assert_eq!(network.to[entering[rank as usize] as usize], rank);
                    let path = std::iter::successors(Some(rank), up).take(network.rank_count());
                    assert_eq!(path.last(), Some(root), "round {round}");
                }
                let links = entering.iter().filter(|&&link| link != WAIT);
                let found: f64 = links.map(|&link| weight[link as usize]).sum();
                assert_eq!(found, by_trying(&network, root, &weight), "round {round}");
            }
        }
    }
}
