//! The lightest tree that joins some ranks, over any others: exact, for few ranks.
//!
//! For each set of the ranks to join and each rank, the lightest tree from the rank to the set: two such trees for two
//! halves of the set meet in it, or it has one child. Sets in ascending order, ranks by Dijkstra's search (Dreyfus and
//! Wagner, "The Steiner problem in graphs", Networks 1971).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cables::Cables;
use super::tree::{NONE, Tree};

/// The largest table, and the most halves of sets at ranks to look at.
const MOST_ENTRIES: usize = 1 << 20;
const MOST_HALVES: usize = 1 << 22;

/// How a lightest tree begins.
#[derive(Clone, Copy)]
enum Begin {
    /// Not at all: here is the only rank of the set.
    Here,
    /// Over a cable.
    Over(u32),
    /// As two trees, the first for this set.
    Halves(usize),
}

/// Lightest trees from every rank to every set of some ranks.
pub(super) struct Lightest<'a> {
    cables: &'a Cables,
    members: &'a [u32],
    /// By `set * ranks + rank`; a set has a bit for each place in `members`.
    weight: Vec<f64>,
    begin: Vec<Begin>,
}

impl<'a> Lightest<'a> {
    /// Are these few enough ranks?
    pub fn applies(cables: &Cables, members: usize) -> bool {
        let size = |base: usize| base.checked_pow(members as u32)?.checked_mul(cables.rank_count());
        size(2).is_some_and(|size| size <= MOST_ENTRIES) && size(3).is_some_and(|size| size <= MOST_HALVES)
    }

    /// `weight(cable, parent)` is that of a cable by which the parent has a child; `hop` that of each hop between a
    /// member and the root, besides, and positive: of equals, the shallower. O(3^m * ranks + 2^m *
    /// cables * log cables) for m members.
    pub fn new(cables: &'a Cables, members: &'a [u32], weight: impl Fn(u32, u32) -> f64, hop: f64) -> Self {
        let (ranks, sets) = (cables.rank_count(), 1_usize << members.len());
        let mut table =
            Self { cables, members, weight: vec![f64::INFINITY; sets * ranks], begin: vec![Begin::Here; sets * ranks] };
        for set in 1..sets {
            table.halve(set);
            let hops = hop * f64::from(set.count_ones());
            table.extend(set, |cable, parent| weight(cable, parent) + hops);
        }
        table
    }

    /// The lightest tree from a rank to all members; `None` if there is none.
    pub fn tree(&self, root: u32) -> Option<Tree> {
        let ranks = self.cables.rank_count();
        let own = self.members.iter().position(|&member| member == root).map_or(0, |place| 1 << place);
        let all = ((1 << self.members.len()) - 1) & !own;
        let mut tree = Tree::alone(root, ranks);
        let weight = if all == 0 { 0.0 } else { self.weight[all * ranks + root as usize] };
        let mut open = if all == 0 { Vec::new() } else { vec![(all, root)] };
        while let Some((set, rank)) = open.pop() {
            match self.begin[set * ranks + rank as usize] {
                Begin::Here => {}
                Begin::Halves(half) => open.extend([(half, rank), (set & !half, rank)]),
                Begin::Over(cable) => {
                    let child = self.cables.across(cable, rank);
                    // Rounding may let two halves meet again: one way there will do.
                    if child != root && tree.cable[child as usize] == NONE {
                        (tree.cable[child as usize], tree.parent[child as usize]) = (cable, rank);
                    }
                    open.push((set, child));
                }
            }
        }
        weight.is_finite().then_some(tree)
    }

    fn halve(&mut self, set: usize) {
        let ranks = self.cables.rank_count();
        if set.is_power_of_two() {
            self.weight[set * ranks + self.members[set.trailing_zeros() as usize] as usize] = 0.0;
        }
        // Of two halves, the one with the lowest member comes first.
        let lowest = set & set.wrapping_neg();
        let rest = set & !lowest;
        let mut other = rest;
        while other > 0 {
            let half = set & !other;
            for rank in 0..ranks {
                let weight = self.weight[half * ranks + rank] + self.weight[other * ranks + rank];
                if weight < self.weight[set * ranks + rank] {
                    self.weight[set * ranks + rank] = weight;
                    self.begin[set * ranks + rank] = Begin::Halves(half);
                }
            }
            other = (other - 1) & rest;
        }
    }

    fn extend(&mut self, set: usize, weight_of: impl Fn(u32, u32) -> f64) {
        let ranks = self.cables.rank_count();
        let weight = &mut self.weight[set * ranks..(set + 1) * ranks];
        let begin = &mut self.begin[set * ranks..(set + 1) * ranks];
        let known = (0..ranks as u32).filter(|&rank| weight[rank as usize].is_finite());
        // Weights are not negative, so they order like their bits.
        let mut open: BinaryHeap<_> = known.map(|rank| Reverse((weight[rank as usize].to_bits(), rank))).collect();
        while let Some(Reverse((bits, child))) = open.pop() {
            if f64::from_bits(bits) > weight[child as usize] {
                continue;
            }
            for &cable in self.cables.of(child) {
                let parent = self.cables.across(cable, child);
                let found = f64::from_bits(bits) + weight_of(cable, parent);
                if found < weight[parent as usize] {
                    weight[parent as usize] = found;
                    begin[parent as usize] = Begin::Over(cable);
                    open.push(Reverse((found.to_bits(), parent)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::certificate::{Evidence, Rational, value};
    use collsynth_core::collective::{Collective, Groups, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{RankId, Topology};
    use fastrand::Rng;

    use super::*;

    /// Trees weigh what the judge finds, lead from the root to all members, and weigh what their links do.
    #[test]
    fn lightest_trees_weigh_what_the_judge_says() {
        let mut rng = Rng::with_seed(3);
        let torus = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap().fail_rank(6).unwrap();
        let cables = Cables::new(&torus);
        for _ in 0..60 {
            let mut live: Vec<u32> = torus.live_ranks().map(|rank| rank.0).collect();
            rng.shuffle(&mut live);
            let members = &live[..rng.usize(2..7)];
            let weights: Vec<u32> = (0..2 * cables.count()).map(|_| rng.u32(1..20)).collect();
            let of = |cable: u32, parent: u32| f64::from(weights[cables.directed(cable, parent) as usize]);
            let tree = Lightest::new(&cables, members, of, 1e-9).tree(members[0]).unwrap();
            let edges = || (0..16).filter(|&rank| tree.cable[rank] != NONE);
            let weight: f64 = edges().map(|rank| of(tree.cable[rank], tree.parent[rank])).sum();
            for &member in members {
                let above = |&rank: &u32| Some(tree.parent[rank as usize]).filter(|&above| above != NONE);
                assert_eq!(std::iter::successors(Some(member), above).take(16).last(), Some(members[0]));
            }
            let group = Groups::new(vec![members.iter().copied().map(RankId).collect()]).unwrap();
            let kind = Kind::Broadcast(RankId(0)).in_groups(group);
            let problem = Problem::new(torus.clone(), Collective::new(kind)).unwrap();
            let listed = |link: usize| {
                let [first, second] = cables.ends[link / 2].map(RankId);
                let ends = if link.is_multiple_of(2) { [first, second] } else { [second, first] };
                (ends[0], ends[1], weights[link])
            };
            let evidence = Evidence::metric((0..weights.len()).map(listed).collect());
            let all: u32 = weights.iter().sum();
            assert_eq!(value(&problem, &evidence), Ok(Rational::new(weight as i128, all.into())));
        }
    }
}
