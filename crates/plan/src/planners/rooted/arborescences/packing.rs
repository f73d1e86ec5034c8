//! Edge-disjoint arborescences: as many as the least cut from the root allows, all grown at once.
//!
//! Edmonds (1973): `k` arborescences with a common root, no link in two of them, exist if and only if every set of
//! ranks without the root is entered by `k` links. The proof of Lovasz (1976) grows them: as long as
//!
//! ```text
//!   links left that enter X  >=  arborescences that have not reached X yet        for every set X of ranks
//! ```
//!
//! any unfinished arborescence can take some link without violating this. Whether a given link from `u` to `v`
//! qualifies is a question of flow: every arborescence without `v` must still have a path of its own to `v` over links
//! that are left. A link once refused stays refused, so each is tried once per arborescence.
//!
//! Here the trees grow side by side, level by level, so that none is left with what the others did not want.

use fastrand::Rng;

use crate::model::network::Network;
use crate::search::pipeline::{Arborescence, Parents};
use collsynth_bound::pace::Pace;

/// The most arborescences: a set of them is a word.
pub(super) const MOST: u32 = u64::BITS;

/// Links looked at, roughly, for each rank that a search sees.
const WORK_OF_A_RANK: u64 = 10;

/// The rest of a network while arborescences grow in it.
pub(super) struct Packing<'a> {
    network: &'a Network,
    root: u32,
    /// The number of arborescences that may still use each link.
    left: Vec<u32>,
    /// The arborescences that have reached each rank, as bits.
    reached_by: Vec<u64>,
    count: u32,
    flow: Flow,
}

/// Scratch space of a search for paths.
#[derive(Default)]
struct Flow {
    used: Vec<u32>,
    /// Links with paths over them.
    touched: Vec<u32>,
    /// The rank at which the path of each arborescence begins.
    begins: Vec<Option<u32>>,
    /// The search tree: the hop from each rank toward the target.
    next: Vec<Hop>,
    queue: Vec<u32>,
}

/// A hop toward the target of the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hop {
    Unseen,
    Arrived,
    /// Over a link that has room.
    Over(u32),
    /// Instead of a path that came over this link.
    Instead(u32),
    /// Instead of beginning the path of an arborescence here, which begins at another rank.
    Elsewhere(u32, u32),
}

impl<'a> Packing<'a> {
    /// Of at most `most` arborescences, `multiplicity[link]` of which may share a link; `None` if it is stopped.
    pub fn new(network: &'a Network, root: u32, multiplicity: &[u32], most: u32, pace: &Pace<'_>) -> Option<Self> {
        let ranks = network.rank_count();
        let (reached_by, left) = (vec![0; ranks], multiplicity.to_vec());
        let mut this = Self { network, root, left, reached_by, count: most.min(MOST), flow: Flow::default() };
        this.count = this.least_cut(pace)?;
        this.reached_by.fill(0);
        this.reached_by[root as usize] = first(this.count);
        Some(this)
    }

    /// The number of arborescences, or what the least cut between the root and a rank allows, if that is less. Cuts
    /// that part the ranks before one in this order are known already: paths to it may begin at any of these, and are
    /// short.
    fn least_cut(&mut self, pace: &Pace<'_>) -> Option<u32> {
        let network = self.network;
        let mut order = vec![self.root];
        let mut is_listed = vec![false; network.rank_count()];
        is_listed[self.root as usize] = true;
        let mut next = 0;
        while let Some(&rank) = order.get(next) {
            next += 1;
            if rank != self.root {
                let count = self.paths_to(rank, self.count, pace)?;
                self.count = count;
            }
            self.reached_by[rank as usize] = u64::MAX;
            for &link in network.out(rank) {
                let to = network.to[link as usize];
                if !std::mem::replace(&mut is_listed[to as usize], true) {
                    order.push(to);
                }
            }
        }
        let is_cut_off = |rank: u32| !is_listed[rank as usize] && !network.entering(rank).is_empty();
        Some(if (0..network.rank_count() as u32).any(is_cut_off) { 0 } else { self.count })
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// Grows the arborescences in a random order; `None` if it is stopped.
    pub fn grow(mut self, rng: &mut Rng, pace: &Pace<'_>) -> Option<Vec<Parents>> {
        let network = self.network;
        let mut trees = vec![Arborescence::nothing_reached(network); self.count as usize];
        let out = |rank: u32, tree: u32| network.out(rank).iter().map(move |&link| (tree, link));
        let mut level: Vec<(u32, u32)> = (0..self.count).flat_map(|tree| out(self.root, tree)).collect();
        while !level.is_empty() {
            rng.shuffle(&mut level);
            let mut next = Vec::new();
            for (tree, link) in level {
                if self.take(tree, link, pace)? {
                    let rank = network.to[link as usize];
                    trees[tree as usize][rank as usize] = link;
                    next.extend(out(rank, tree));
                }
            }
            level = next;
        }
        Some(trees)
    }

    /// Gives a link to an arborescence if all can still be finished afterward.
    fn take(&mut self, tree: u32, link: u32, pace: &Pace<'_>) -> Option<bool> {
        let (to, tree) = (self.network.to[link as usize], 1 << tree);
        if self.left[link as usize] == 0 || self.reached_by[to as usize] & tree != 0 {
            return Some(false);
        }
        self.left[link as usize] -= 1;
        self.reached_by[to as usize] |= tree;
        let missing = self.count - self.reached_by[to as usize].count_ones();
        let may = self.paths_to(to, missing, pace)? == missing;
        if !may {
            self.left[link as usize] += 1;
            self.reached_by[to as usize] &= !tree;
        }
        Some(may)
    }

    /// The number of paths, up to `wanted`, to a rank over links that are left, each from a different arborescence that
    /// has not reached it yet; `None` if it is stopped.
    fn paths_to(&mut self, rank: u32, wanted: u32, pace: &Pace<'_>) -> Option<u32> {
        let flow = &mut self.flow;
        flow.used.resize(self.left.len(), 0);
        flow.next.resize(self.network.rank_count(), Hop::Unseen);
        flow.begins.clear();
        flow.begins.resize(self.count as usize, None);
        let mut found = 0;
        let mut work = 0;
        while found < wanted && self.one_more_path(rank) {
            found += 1;
            work += self.flow.queue.len();
        }
        for link in self.flow.touched.drain(..) {
            self.flow.used[link as usize] = 0;
        }
        (!pace.is_over(WORK_OF_A_RANK * (work + self.flow.queue.len()) as u64)).then_some(found)
    }

    /// Searches backward from a rank, and adds the path found.
    fn one_more_path(&mut self, rank: u32) -> bool {
        let (network, flow, all) = (self.network, &mut self.flow, first(self.count));
        // Only what the last search has seen.
        for seen in flow.queue.drain(..) {
            flow.next[seen as usize] = Hop::Unseen;
        }
        flow.next[rank as usize] = Hop::Arrived;
        flow.queue.push(rank);
        let mut seen_trees = self.reached_by[rank as usize];
        let mut head = 0;
        while let Some(&at) = flow.queue.get(head) {
            head += 1;
            let mut trees = self.reached_by[at as usize] & all & !seen_trees;
            seen_trees |= trees;
            while trees != 0 {
                let tree = trees.trailing_zeros();
                trees &= trees - 1;
                match flow.begins[tree as usize] {
                    None => {
                        flow.add(network, tree, at);
                        return true;
                    }
                    Some(other) => flow.see(other, Hop::Elsewhere(tree, at)),
                }
            }
            for &link in network.entering(at) {
                if flow.used[link as usize] < self.left[link as usize] {
                    flow.see(network.from[link as usize], Hop::Over(link));
                }
            }
            for &link in network.out(at) {
                if flow.used[link as usize] > 0 {
                    flow.see(network.to[link as usize], Hop::Instead(link));
                }
            }
        }
        false
    }
}

/// The first so many arborescences, as bits.
fn first(count: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - count).unwrap_or(0)
}

impl Flow {
    fn see(&mut self, rank: u32, hop: Hop) {
        if self.next[rank as usize] == Hop::Unseen {
            self.next[rank as usize] = hop;
            self.queue.push(rank);
        }
    }

    /// Adds the path of an arborescence that begins at a rank.
    fn add(&mut self, network: &Network, tree: u32, rank: u32) {
        self.begins[tree as usize] = Some(rank);
        let mut at = rank;
        loop {
            at = match self.next[at as usize] {
                Hop::Over(link) => {
                    self.used[link as usize] += 1;
                    self.touched.push(link);
                    network.to[link as usize]
                }
                Hop::Instead(link) => {
                    self.used[link as usize] -= 1;
                    network.from[link as usize]
                }
                Hop::Elsewhere(tree, rank) => {
                    self.begins[tree as usize] = Some(rank);
                    rank
                }
                Hop::Arrived | Hop::Unseen => return,
            };
        }
    }
}
