//! Routes of all collectives of a job, leveled: chunks leave links that too many share.
//!
//! # Idea
//!
//! Planned alone, each collective loads links as evenly as it can, but what two of them leave idle need not fit: the
//! root of one has its busiest links where another has its own. The route of a chunk is a tree. Take out a link that is
//! too busy, and what hangs below it can join the rest of the tree elsewhere, over links that have room.
//!
//! ```text
//!      0                    0
//!     / \                    \
//!    1   2      - 0-1 ->      2       the link from 0 to 1 carries one chunk less,
//!    |   |                   / \      that from 2 to 1 one more
//!    3   4                  1   4
//!                           |
//!                           3
//! ```
//!
//! A rank that only relays goes with the link that led to it. The new way is the cheapest path, at prices that grow
//! steeply with loads, and taken only if it is cheaper than what it replaces: so the sum of all prices falls with each
//! exchange, until no chunk of a busy link can gain.
//!
//! # Applies
//!
//! To chunks that are copied down a tree, or added up it, or first one and then the other. Others keep their routes.
//!
//! # Complexity
//!
//! O(ranks + paths looked at) for each exchange that is tried; memory O(moves).
//!
//! # Reference
//!
//! Voß, "Steiner's problem in graphs: heuristic methods", Discrete Applied Mathematics 40, 1992, for exchanges of paths
//! between ranks where trees branch; Aspnes et al., "On-line routing of virtual circuits", Journal of the ACM 44, 1997,
//! for prices of loads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{Link, LinkId, RankId, Topology};
use fastrand::Rng;

use super::hops::Hop;
use crate::model::control::Control;

/// Links that are busier than the bound by this share of it are leveled: one in so many.
const NEAR: u64 = 200;
/// Links are busy from this share of the most on, in percent: those that are left room give some to others.
const BUSY: u64 = 90;
/// The price of a link grows with this power of its load.
const STEEP: i32 = 32;
/// The most sweeps over all busy links; one that lowers the total price by less than this share is the last.
const SWEEPS: u32 = 40;
const GAIN: f64 = 0.02;
/// A sweep leaves a link after this many failed exchanges in a row.
const PATIENCE: u32 = 64;
/// Ranks looked at for a new path.
const MOST_RANKS: u32 = 96;
/// In place of a link, and of a rank: none.
const NONE: u32 = u32::MAX;

/// The route of a chunk for one operation.
struct Tree {
    problem: usize,
    chunk: ChunkId,
    op: Op,
    root: RankId,
    /// Who must be joined to the root.
    ends: Holders,
    links: Vec<LinkId>,
    has_moved: bool,
}

/// Exchanges parts of routes until no link takes much longer than `least`, or no exchange gains.
pub(super) fn level(problems: &[Problem], routes: &mut [Vec<Hop>], least: u64, seed: u64, control: &Control) {
    let mut leveling = Leveling::new(problems, routes, least);
    if !leveling.is_over() {
        return;
    }
    let mut trees: Vec<Tree> = Vec::new();
    for (number, (problem, hops)) in problems.iter().zip(&*routes).enumerate() {
        let of_chunk = hops.chunk_by(|one, other| one.chunk == other.chunk);
        trees.extend(of_chunk.filter_map(|hops| trees_of(problem, number, hops)).flatten());
    }
    leveling.run(&mut trees, seed, control);
    let mut moved: BTreeMap<(usize, ChunkId), Vec<&Tree>> = BTreeMap::new();
    // Both trees of a chunk, if one has moved.
    for of_chunk in trees.chunk_by(|one, other| (one.problem, one.chunk) == (other.problem, other.chunk)) {
        if of_chunk.iter().any(|tree| tree.has_moved) {
            moved.insert((of_chunk[0].problem, of_chunk[0].chunk), of_chunk.iter().collect());
        }
    }
    for (number, (problem, hops)) in problems.iter().zip(routes).enumerate() {
        let mut found = Vec::with_capacity(hops.len());
        for of_chunk in hops.chunk_by(|one, other| one.chunk == other.chunk) {
            match moved.get(&(number, of_chunk[0].chunk)) {
                Some(trees) => found.extend(hops_of(problem.machine(), of_chunk, trees)),
                None => found.extend_from_slice(of_chunk),
            }
        }
        *hops = found;
    }
}

/// Do all chunks move along trees, so that they can give way to others?
pub(super) fn is_trees(problem: &Problem, hops: &[Hop]) -> bool {
    hops.chunk_by(|one, other| one.chunk == other.chunk).all(|hops| trees_of(problem, 0, hops).is_some())
}

/// The trees of a chunk, if its moves are those of one tree for each operation, both of one root.
fn trees_of(problem: &Problem, number: usize, hops: &[Hop]) -> Option<Vec<Tree>> {
    let rule = problem.rule(hops[0].chunk);
    let mut trees: Vec<Tree> = Vec::new();
    for (op, ends) in [(Op::Reduce, rule.before), (Op::Copy, rule.after)] {
        let ends_of = |hop: &Hop| if op == Op::Copy { (hop.from, hop.to) } else { (hop.to, hop.from) };
        let of_op: Vec<&Hop> = hops.iter().filter(|hop| hop.op == op).collect();
        let mut below: Vec<RankId> = of_op.iter().map(|hop| ends_of(hop).1).collect();
        below.sort_unstable();
        let mut roots = of_op.iter().map(|hop| ends_of(hop).0).filter(|rank| below.binary_search(rank).is_err());
        let Some(root) = roots.next() else { continue };
        let is_tree = roots.all(|other| other == root) && below.is_sorted_by(|one, other| one < other);
        if !is_tree || trees.iter().any(|tree| tree.root != root) {
            return None;
        }
        let links = of_op.iter().map(|hop| hop.link).collect();
        trees.push(Tree { problem: number, chunk: hops[0].chunk, op, root, ends, links, has_moved: false });
    }
    Some(trees)
}

/// The moves of a chunk over its trees: first all that add, from the deepest rank up, then all that copy, down. They
/// share the time of those that they replace.
fn hops_of(machine: &Topology, replaced: &[Hop], trees: &[&Tree]) -> Vec<Hop> {
    let chunk = replaced[0].chunk;
    let mut hops: Vec<Hop> = Vec::new();
    for tree in trees {
        let ends_of = |link: LinkId| {
            let link = machine.link(link);
            if tree.op == Op::Copy { (link.from, link.to) } else { (link.to, link.from) }
        };
        let up: BTreeMap<RankId, RankId> = tree.links.iter().map(|&link| (ends_of(link).1, ends_of(link).0)).collect();
        let depth = |rank: RankId| std::iter::successors(up.get(&rank), |above| up.get(above)).count();
        let depths: Vec<usize> = tree.links.iter().map(|&link| depth(ends_of(link).1)).collect();
        let deepest = depths.iter().copied().max().unwrap_or(0);
        let after = hops.iter().map(|hop| hop.step).max().unwrap_or(0);
        for (&link, depth) in tree.links.iter().zip(depths) {
            let step = after + narrow(if tree.op == Op::Copy { depth } else { deepest + 1 - depth });
            let (from, to) = (machine.link(link).from, machine.link(link).to);
            hops.push(Hop { chunk, step, from, to, op: tree.op, link, share: 0 });
        }
    }
    let steps = u64::from(hops.iter().map(|hop| hop.step).max().unwrap_or(1));
    let (begins, ends) = (replaced[0].share, replaced[replaced.len() - 1].share);
    hops.iter_mut().for_each(|hop| hop.share = begins + (ends - begins) * u64::from(hop.step - 1) / (steps - 1).max(1));
    hops.sort_unstable();
    hops
}

/// Loads of links, and the tree at hand.
struct Leveling<'a> {
    problems: &'a [Problem],
    machine: &'a Topology,
    load: Vec<u64>,
    /// The most that a link of capacity 1 is to carry.
    most: u64,
    /// For each rank in the tree but its root, the link that joins it to the rank above.
    up: Vec<u32>,
    /// How many ranks are right below each; and their numbers, combined by exclusive or.
    below: Vec<(u32, u32)>,
    /// What has been changed of `up`, and what it was.
    log: Vec<(RankId, u32)>,
    /// The cheapest path found from each rank to what is to be joined: its price, and its first link.
    path: Vec<(f64, u32)>,
    reached: Vec<RankId>,
}

impl<'a> Leveling<'a> {
    fn new(problems: &'a [Problem], routes: &[Vec<Hop>], least: u64) -> Self {
        let machine = problems[0].machine();
        let mut load = vec![0; machine.links().len()];
        routes.iter().flatten().for_each(|hop| load[hop.link.index()] += 1);
        let ranks = machine.rank_count();
        Self {
            problems,
            machine,
            load,
            most: least + least / NEAR,
            up: vec![NONE; ranks],
            below: vec![(0, 0); ranks],
            log: Vec::new(),
            path: vec![(f64::INFINITY, NONE); ranks],
            reached: Vec::new(),
        }
    }

    /// The links that are too busy, the busiest first.
    fn busy(&self) -> Vec<LinkId> {
        let mut busy: Vec<LinkId> = self.machine.live_links().filter(|&link| self.is_busy(link)).collect();
        let time = |link: LinkId| self.load[link.index()].div_ceil(self.machine.link(link).capacity.into());
        busy.sort_by_key(|&link| Reverse(time(link)));
        busy
    }

    fn is_busy(&self, link: LinkId) -> bool {
        self.load[link.index()] * 100 > BUSY * self.most * u64::from(self.machine.link(link).capacity)
    }

    /// Does any link carry more than it should?
    fn is_over(&self) -> bool {
        let is_over = |(load, link): (&u64, &Link)| *load > self.most * u64::from(link.capacity);
        self.load.iter().zip(self.machine.links()).any(is_over)
    }

    /// The sum of what all chunks pay on all links.
    fn total(&self) -> f64 {
        self.machine.live_links().map(|link| self.load[link.index()] as f64 * self.price(link)).sum()
    }

    fn run(&mut self, trees: &mut [Tree], seed: u64, control: &Control) {
        let mut rng = Rng::with_seed(seed);
        let mut over: Vec<Vec<u32>> = vec![Vec::new(); self.load.len()];
        for (number, tree) in (0..).zip(&*trees) {
            tree.links.iter().for_each(|link| over[link.index()].push(number));
        }
        for _ in 0..SWEEPS {
            let before = self.total();
            for link in self.busy() {
                if control.stop().is_some() {
                    return;
                }
                let mut numbers = std::mem::take(&mut over[link.index()]);
                rng.shuffle(&mut numbers);
                let mut failed = 0;
                numbers.retain(|&number| {
                    let tree = &mut trees[number as usize];
                    if failed >= PATIENCE || !self.is_busy(link) {
                        return true;
                    }
                    if !tree.links.contains(&link) {
                        return false;
                    }
                    let new = self.exchange(tree, link);
                    failed = if new.is_empty() { failed + 1 } else { 0 };
                    new.iter().for_each(|one| over[one.index()].push(number));
                    new.is_empty()
                });
                over[link.index()].extend(numbers);
            }
            if !self.is_over() || self.total() > (1.0 - GAIN) * before {
                return;
            }
        }
    }

    /// What the last chunk pays on a link.
    fn price(&self, link: LinkId) -> f64 {
        self.price_with(link, self.load[link.index()])
    }

    /// The same if the link carries so many.
    fn price_with(&self, link: LinkId, load: u64) -> f64 {
        let room = self.most * u64::from(self.machine.link(link).capacity);
        (load as f64 / room.max(1) as f64).powi(STEEP)
    }

    /// The rank nearer to the root, and the other.
    fn ends_of(&self, link: LinkId, op: Op) -> (RankId, RankId) {
        let link = self.machine.link(link);
        if op == Op::Copy { (link.from, link.to) } else { (link.to, link.from) }
    }

    /// Joins a rank to the one above over this link, or to none; the price of what it gives up less that of what it
    /// takes.
    fn join(&mut self, rank: RankId, link: u32, op: Op) -> f64 {
        let before = std::mem::replace(&mut self.up[rank.index()], link);
        self.log.push((rank, before));
        let mut gained = 0.0;
        if before != NONE {
            gained += self.price(LinkId(before));
            self.load[before as usize] -= 1;
            let above = self.ends_of(LinkId(before), op).0;
            self.count(above, rank, false);
        }
        if link != NONE {
            self.load[link as usize] += 1;
            gained -= self.price(LinkId(link));
            let above = self.ends_of(LinkId(link), op).0;
            self.count(above, rank, true);
        }
        gained
    }

    fn count(&mut self, above: RankId, rank: RankId, joins: bool) {
        let (count, ranks) = &mut self.below[above.index()];
        *count = if joins { *count + 1 } else { *count - 1 };
        *ranks ^= rank.0;
    }

    /// Removes a link from a tree and reattaches the subtree below it at a lower price. Returns the new links: none if
    /// no such path exists.
    fn exchange(&mut self, tree: &mut Tree, link: LinkId) -> Vec<LinkId> {
        for &link in &tree.links {
            let (above, below) = self.ends_of(link, tree.op);
            self.up[below.index()] = link.0;
            self.count(above, below, true);
        }
        let new = self.rejoin(tree, link);
        let mut ranks: Vec<RankId> = tree.links.iter().map(|&link| self.ends_of(link, tree.op).1).collect();
        if !new.is_empty() {
            ranks.extend(self.log.iter().map(|(rank, _)| *rank));
            ranks.sort_unstable();
            ranks.dedup();
            tree.links = ranks.iter().map(|rank| self.up[rank.index()]).filter(|&up| up != NONE).map(LinkId).collect();
            tree.has_moved = true;
        }
        for rank in ranks {
            self.up[rank.index()] = NONE;
            self.below[rank.index()] = (0, 0);
        }
        self.below[tree.root.index()] = (0, 0);
        self.log.clear();
        new
    }

    /// As [`Leveling::exchange`], with the tree loaded into `up` and `below`.
    fn rejoin(&mut self, tree: &Tree, link: LinkId) -> Vec<LinkId> {
        let problem = &self.problems[tree.problem];
        let relays = |of: &Self, rank: RankId, below: u32| {
            rank != tree.root && of.below[rank.index()].0 == below && !problem.is_holder(tree.ends, rank)
        };
        let (above, mut lower) = self.ends_of(link, tree.op);
        let mut gained = self.join(lower, NONE, tree.op);
        while relays(self, lower, 1) {
            lower = RankId(self.below[lower.index()].1);
            gained += self.join(lower, NONE, tree.op);
        }
        gained += self.prune(above, tree, &relays);
        let Some(first) = self.cheapest(tree, lower, gained) else {
            while let Some((rank, before)) = self.log.pop() {
                self.join(rank, before, tree.op);
                self.log.pop();
            }
            return Vec::new();
        };
        let (mut rank, mut new) = (first, Vec::new());
        while rank != lower {
            let link = self.path[rank.index()].1;
            let next = self.ends_of(LinkId(link), tree.op).1;
            let before = self.up[next.index()];
            self.join(next, link, tree.op);
            new.push(LinkId(link));
            if before != NONE {
                self.prune(self.ends_of(LinkId(before), tree.op).0, tree, &relays);
            }
            rank = next;
        }
        // What led on from there may have been joined elsewhere.
        self.prune(lower, tree, &relays);
        new
    }

    /// Removes a relay without children, then its ancestors while they are such relays; returns the price saved.
    fn prune(&mut self, from: RankId, tree: &Tree, relays: &impl Fn(&Self, RankId, u32) -> bool) -> f64 {
        let (mut rank, mut gained) = (from, 0.0);
        while relays(self, rank, 0) && self.up[rank.index()] != NONE {
            let link = LinkId(self.up[rank.index()]);
            gained += self.join(rank, NONE, tree.op);
            rank = self.ends_of(link, tree.op).0;
        }
        gained
    }

    /// The rank of the tree from which the cheapest path leads to this one, if it costs less than `most`.
    fn cheapest(&mut self, tree: &Tree, to: RankId, most: f64) -> Option<RankId> {
        let problem = &self.problems[tree.problem];
        for rank in self.reached.drain(..) {
            self.path[rank.index()] = (f64::INFINITY, NONE);
        }
        self.path[to.index()] = (0.0, NONE);
        self.reached.push(to);
        // The bits of positive floats are in their order.
        let mut queue = BinaryHeap::from([Reverse((0, to))]);
        let mut looked_at = 0;
        while let Some(Reverse((bits, rank))) = queue.pop() {
            let cost = self.path[rank.index()].0;
            if bits != cost.to_bits() {
                continue;
            }
            if rank != to && self.is_joined(rank, tree) {
                return Some(rank);
            }
            looked_at += 1;
            if looked_at > MOST_RANKS {
                return None;
            }
            let mut add = |of: &mut Self, link: LinkId| {
                if !of.machine.link(link).alive {
                    return;
                }
                let above = of.ends_of(link, tree.op).0;
                let more = cost + of.price_with(link, of.load[link.index()] + 1);
                if more < most && more < of.path[above.index()].0 && problem.may_hold(tree.chunk, above) {
                    of.path[above.index()] = (more, link.0);
                    of.reached.push(above);
                    queue.push(Reverse((more.to_bits(), above)));
                }
            };
            let machine = self.machine;
            match tree.op {
                Op::Copy => machine.links_into(rank).for_each(|link| add(&mut *self, link)),
                Op::Reduce => machine.links_from(rank).for_each(|link| add(&mut *self, link)),
            }
        }
        None
    }

    /// Do links of the tree lead from a rank to its root?
    fn is_joined(&self, mut rank: RankId, tree: &Tree) -> bool {
        while rank != tree.root {
            let link = self.up[rank.index()];
            if link == NONE {
                return false;
            }
            rank = self.ends_of(LinkId(link), tree.op).0;
        }
        true
    }
}
