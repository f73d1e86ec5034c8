//! Spanning trees that share the cables evenly.
//!
//! Trees are grown one after another, each over the cables least loaded so far. What is then overfull is repaired by
//! augmenting paths: a cable leaves a tree, another that joins the two halves enters it, leaves a second tree, and so
//! on to one with room. The shortest such path is a valid exchange (matroid partition; Edmonds 1965), and if there is
//! none, no packing has less load. On large machines not all paths are looked for. A cable that is idle for some time,
//! however it is packed, has less room.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use fastrand::Rng;

use collsynth_bound::divided_trees::{Cables, NONE, Tree};

/// Trees whose cut is looked at for each cable of an augmenting path: at least so many, and as many as have this many
/// ranks in all.
const TREES_PER_CABLE: usize = 24;
const RANKS_PER_CABLE: usize = 200_000;

/// Trees, and the number of trees on each cable.
pub(super) struct Packing<'a> {
    cables: &'a Cables,
    live: &'a [u32],
    pub trees: Vec<Tree>,
    load: Vec<u32>,
    /// The time that each cable will be idle, known from schedules.
    idle: Vec<u32>,
}

impl<'a> Packing<'a> {
    /// Grows this many trees over cables that join all live ranks, with at most `most` trees on each unit of capacity
    /// where that can be had without exchanges; `None` if `abandon` becomes true meanwhile.
    pub fn grow(
        cables: &'a Cables,
        live: &'a [u32],
        trees: u32,
        most: u32,
        rng: &mut Rng,
        abandon: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let mut packing =
            Self { cables, live, trees: Vec::new(), load: vec![0; cables.count()], idle: vec![0; cables.count()] };
        // A stride without a common divisor visits every rank before it comes back.
        let count = live.len();
        let stride = (count * 5 / 8..).find(|&stride| gcd(stride, count) == 1).unwrap_or(1);
        for number in 0..trees as usize {
            if abandon() {
                return None;
            }
            // What a tree may use of a cable, if all use as much.
            let share = number as u64 * u64::from(most) / u64::from(trees) + 1;
            let tree = packing.grow_one(live[number * stride % count], share, rng);
            for &cable in tree.cable.iter().filter(|&&cable| cable != NONE) {
                packing.load[cable as usize] += 1;
            }
            packing.trees.push(tree);
        }
        Some(packing)
    }

    /// A tree over cables that have not had their share yet, as shallow as they allow (Prim). Ties are broken at
    /// random: the trees of a pattern all want the same links at the same time.
    fn grow_one(&self, root: u32, share: u64, rng: &mut Rng) -> Tree {
        let ranks = self.cables.rank_count();
        let mut tree = Tree { root, cable: vec![NONE; ranks], parent: vec![NONE; ranks] };
        let mut depth = vec![NONE; ranks];
        let mut open = BinaryHeap::new();
        let mut at = root;
        depth[root as usize] = 0;
        for _ in 1..self.live.len() {
            let deeper = depth[at as usize] + 1;
            for &cable in self.cables.of(at) {
                let next = self.cables.across(cable, at);
                if depth[next as usize] == NONE {
                    let taken = u64::from(self.load[cable as usize]) + 1;
                    let over = taken.saturating_sub(share * u64::from(self.cables.capacity[cable as usize]));
                    open.push(Reverse((over, deeper, rng.u16(..), cable, at)));
                }
            }
            at = loop {
                let Some(Reverse((_, deep, _, cable, from))) = open.pop() else { return tree };
                let next = self.cables.across(cable, from);
                if depth[next as usize] == NONE {
                    depth[next as usize] = deep;
                    tree.cable[next as usize] = cable;
                    tree.parent[next as usize] = from;
                    break next;
                }
            };
        }
        tree
    }

    /// Brings the load of every cable down to `most` for each unit of capacity, as far as exchanges lead.
    pub fn repair(&mut self, most: u32, stop: &dyn Fn() -> bool) {
        while !stop() {
            let Some(path) = self.augmenting_path(most) else { return };
            for &(tree, leaves, enters) in &path {
                if !self.exchange(tree, leaves, enters) {
                    return;
                }
            }
        }
    }

    /// What a cable should carry at most, if `most` is what a unit of capacity does.
    fn room(&self, cable: u32, most: u32) -> u32 {
        most.saturating_sub(self.idle[cable as usize]) * self.cables.capacity[cable as usize]
    }

    /// Leaves links, by their ids, as long without trees as they were idle. False if that is known already.
    pub fn reserve(&mut self, idle: &[u32]) -> bool {
        let mut is_new = false;
        for cable in 0..self.cables.count() as u32 {
            let links = self.cables.ends[cable as usize].map(|end| self.cables.link_from(cable, end));
            let idle = links.map(|link| idle[link.index()]).into_iter().fold(0, u32::max);
            is_new |= idle > self.idle[cable as usize];
            self.idle[cable as usize] = self.idle[cable as usize].max(idle);
        }
        is_new
    }

    /// Exchanges `(tree, cable that leaves, cable that enters)`, from the cable with room back to an overfull one.
    fn augmenting_path(&self, most: u32) -> Option<Vec<(usize, u32, u32)>> {
        let room = |cable: u32| self.room(cable, most);
        let mut before: Vec<Option<(u32, usize)>> = vec![None; self.cables.count()];
        let mut seen: Vec<bool> = (0..).zip(&self.load).map(|(cable, &load)| load > room(cable)).collect();
        let mut queue: VecDeque<u32> = (0..self.cables.count() as u32).filter(|&cable| seen[cable as usize]).collect();
        let mut part = Part::among(self.cables.rank_count());
        let most_trees = TREES_PER_CABLE.max(RANKS_PER_CABLE / self.cables.rank_count());
        while let Some(leaves) = queue.pop_front() {
            let [first, second] = self.cables.ends[leaves as usize];
            let holds = |tree: &Tree| tree.cable[first as usize] == leaves || tree.cable[second as usize] == leaves;
            // Start elsewhere for each cable, so that paths do not all crowd into the first trees.
            let count = self.trees.len();
            let numbers = (0..count).map(|number| (number + leaves as usize * 7) % count);
            for number in numbers.filter(|&number| holds(&self.trees[number])).take(most_trees) {
                self.cut_off(&self.trees[number], leaves, &mut part);
                for enters in self.cables_out_of(&part) {
                    if std::mem::replace(&mut seen[enters as usize], true) {
                        continue;
                    }
                    before[enters as usize] = Some((leaves, number));
                    if self.load[enters as usize] < room(enters) {
                        return Some(trace(&before, enters));
                    }
                    queue.push_back(enters);
                }
            }
        }
        None
    }

    /// The ranks that a cable of the tree cuts off from its root: few, for most cables.
    fn cut_off(&self, tree: &Tree, cable: u32, part: &mut Part) {
        let [first, second] = self.cables.ends[cable as usize];
        part.clear();
        part.add(if tree.cable[first as usize] == cable { first } else { second });
        let mut at = 0;
        while let Some(&rank) = part.ranks.get(at) {
            for &down in self.cables.of(rank) {
                let child = self.cables.across(down, rank);
                if tree.cable[child as usize] == down && tree.parent[child as usize] == rank {
                    part.add(child);
                }
            }
            at += 1;
        }
    }

    /// The cables that lead out of a part, in their order.
    fn cables_out_of(&self, part: &Part) -> Vec<u32> {
        let from = |&rank: &u32| self.cables.of(rank).iter().map(move |&cable| (cable, rank));
        let out = part.ranks.iter().flat_map(from).filter(|&(cable, rank)| !part.has(self.cables.across(cable, rank)));
        let mut out: Vec<u32> = out.map(|(cable, _)| cable).collect();
        out.sort_unstable();
        out
    }

    /// One cable leaves a tree, another enters it. False if they do not fit together.
    fn exchange(&mut self, number: usize, leaves: u32, enters: u32) -> bool {
        let mut part = Part::among(self.cables.rank_count());
        self.cut_off(&self.trees[number], leaves, &mut part);
        let [a, b] = self.cables.ends[enters as usize];
        if part.has(a) == part.has(b) {
            return false;
        }
        let tree = &mut self.trees[number];
        // The part below hangs from the end of the new cable that lies in it: the path up from there changes direction.
        let (mut rank, mut parent) = if part.has(a) { (a, b) } else { (b, a) };
        let mut cable = enters;
        loop {
            let old = (tree.cable[rank as usize], tree.parent[rank as usize]);
            (tree.cable[rank as usize], tree.parent[rank as usize]) = (cable, parent);
            if old.0 == leaves {
                break;
            }
            (cable, parent, rank) = (old.0, rank, old.1);
        }
        self.load[leaves as usize] -= 1;
        self.load[enters as usize] += 1;
        true
    }
}

/// Some of the ranks.
struct Part {
    ranks: Vec<u32>,
    is_in: Vec<bool>,
}

impl Part {
    /// None of so many.
    fn among(count: usize) -> Self {
        Self { ranks: Vec::new(), is_in: vec![false; count] }
    }

    fn add(&mut self, rank: u32) {
        self.ranks.push(rank);
        self.is_in[rank as usize] = true;
    }

    fn has(&self, rank: u32) -> bool {
        self.is_in[rank as usize]
    }

    fn clear(&mut self) {
        for rank in self.ranks.drain(..) {
            self.is_in[rank as usize] = false;
        }
    }
}

fn trace(before: &[Option<(u32, usize)>], last: u32) -> Vec<(usize, u32, u32)> {
    let mut path = Vec::new();
    let mut enters = last;
    while let Some((leaves, tree)) = before[enters as usize] {
        path.push((tree, leaves, enters));
        enters = leaves;
    }
    path
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::centering::center;
    use super::*;
    use collsynth_bound as bound;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::Topology;

    /// A torus without some of its cables, chosen at random, if it stays connected.
    fn damaged(extents: &[u32], dead: usize, rng: &mut Rng) -> Option<Topology> {
        let mut topology = Topology::torus(extents).expect("a torus");
        for _ in 0..dead {
            let live: Vec<_> = topology.live_links().collect();
            let link = topology.link(live[rng.usize(..live.len())]);
            let (from, to) = (link.from.0, link.to.0);
            topology = topology.fail_cable(from, to).ok()?;
        }
        (topology.components().len() == 1).then_some(topology)
    }

    #[test]
    fn trees_span_and_share_the_cables_as_evenly_as_the_partition_bound_allows() {
        let mut rng = Rng::with_seed(5);
        let mut packed = 0;
        for number in 0..60 {
            let extents: &[u32] = [&[3, 3][..], &[4, 4], &[3, 4], &[3, 3, 3], &[5], &[5, 5]][number % 6];
            let Some(topology) = damaged(extents, number % 5, &mut rng) else { continue };
            let parts = 7 + 13 * (number as u32 % 4);
            let problem =
                Problem::new(topology.clone(), Collective { kind: Kind::AllReduce, parts }).expect("a problem");
            let (cables, live) = (Cables::new(&topology), topology.live_ranks().map(|rank| rank.0).collect::<Vec<_>>());
            let bounds = bound::find(&problem).expect("bounds");
            let most = bounds.volume.expect("a bound").at_least * i128::from(parts);
            let most = u32::try_from(most.ceil().to_integer()).expect("small");
            let mut packing =
                Packing::grow(&cables, &live, parts, most, &mut Rng::with_seed(number as u64), &|| false).unwrap();
            packing.repair(most, &|| false);
            center(&mut packing.trees);
            let mut load = vec![0; cables.count()];
            for tree in &packing.trees {
                for &rank in &live {
                    let (mut at, mut hops) = (rank, 0);
                    while at != tree.root {
                        let cable = tree.cable[at as usize];
                        assert_eq!(cables.across(cable, at), tree.parent[at as usize]);
                        (at, hops) = (tree.parent[at as usize], hops + 1);
                        assert!(hops < live.len(), "a circle");
                    }
                    if rank != tree.root {
                        load[tree.cable[rank as usize] as usize] += 1;
                    }
                }
            }
            assert_eq!(load, packing.load);
            assert!(load.iter().all(|&load| load <= most), "{extents:?}, {number}: {load:?}, at most {most}");
            packed += 1;
        }
        assert!(packed > 40, "{packed}");
    }

    #[test]
    fn what_was_idle_is_left_without_trees() {
        let topology = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let (cables, live) = (Cables::new(&topology), topology.live_ranks().map(|rank| rank.0).collect::<Vec<_>>());
        // 120 trees of 15 cables, over 31 cables.
        let most = 60;
        let mut packing = Packing::grow(&cables, &live, 120, most, &mut Rng::with_seed(1), &|| false).unwrap();
        let mut idle = vec![0; topology.links().len()];
        let cable = 3;
        let links = cables.ends[cable].map(|end| cables.link_from(cable as u32, end));
        (idle[links[0].index()], idle[links[1].index()]) = (7, 9);
        assert!(packing.reserve(&idle));
        assert!(!packing.reserve(&idle));
        packing.repair(most, &|| false);
        assert!(packing.load[cable] <= most - 9, "{:?}", packing.load);
        assert!(packing.load.iter().all(|&load| load <= most), "{:?}", packing.load);
    }
}
