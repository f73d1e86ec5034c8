//! One tree at a time: a link is taken out, and what hangs below it joins the rest elsewhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{LinkId, RankId};

use super::loads::{HOP, Loads};
use super::tree::Tree;

/// Ranks looked at for a new path, unless it may cost more than this: a link that is far too busy is worth looking
/// everywhere, beyond all links that are idle.
const MOST_RANKS: u32 = 96;
const WORTH_ALL_RANKS: f64 = 3.0;
/// In place of a link, and of a rank: none.
const NONE: u32 = u32::MAX;

/// The tree at hand, and the loads that its links are part of.
pub(super) struct Exchange<'a> {
    problems: &'a [Problem],
    pub loads: Loads<'a>,
    /// For each rank in the tree but its root, the link that joins it to the rank above.
    up: Vec<u32>,
    /// How many ranks are right below each; and their numbers, combined by exclusive or.
    below: Vec<(u32, u32)>,
    /// What has been changed of `up`, and what it was.
    log: Vec<(RankId, u32)>,
    /// The cheapest path found from each rank to what is to be joined: its price, and its first link.
    path: Vec<(f64, u32)>,
    reached: Vec<RankId>,
    /// Links of trees, and links looked at for paths.
    pub work: u64,
}

impl<'a> Exchange<'a> {
    pub fn new(problems: &'a [Problem], loads: Loads<'a>) -> Self {
        let ranks = loads.machine.rank_count();
        Self {
            problems,
            loads,
            up: vec![NONE; ranks],
            below: vec![(0, 0); ranks],
            log: Vec::new(),
            path: vec![(f64::INFINITY, NONE); ranks],
            reached: Vec::new(),
            work: 0,
        }
    }

    /// Removes a link from a tree and reattaches the subtree below it at a lower price. Returns the new links: none if
    /// no such path exists.
    pub fn exchange(&mut self, tree: &mut Tree, link: LinkId) -> Vec<LinkId> {
        for &link in &tree.links {
            let (above, below) = self.loads.ends_of(link, tree.op);
            self.up[below.index()] = link.0;
            self.count(above, below, true);
        }
        self.work += tree.links.len() as u64;
        let new = self.rejoin(tree, link);
        let mut ranks: Vec<RankId> = tree.links.iter().map(|&link| self.loads.ends_of(link, tree.op).1).collect();
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

    /// Joins a rank to the one above over this link, or to none; the price of what it gives up less that of what it
    /// takes.
    fn join(&mut self, rank: RankId, link: u32, op: Op) -> f64 {
        let before = std::mem::replace(&mut self.up[rank.index()], link);
        self.log.push((rank, before));
        let mut gained = 0.0;
        if before != NONE {
            gained += self.loads.price(LinkId(before));
            self.loads.load[before as usize] -= 1;
            let above = self.loads.ends_of(LinkId(before), op).0;
            self.count(above, rank, false);
        }
        if link != NONE {
            self.loads.load[link as usize] += 1;
            gained -= self.loads.price(LinkId(link));
            let above = self.loads.ends_of(LinkId(link), op).0;
            self.count(above, rank, true);
        }
        gained
    }

    fn count(&mut self, above: RankId, rank: RankId, joins: bool) {
        let (count, ranks) = &mut self.below[above.index()];
        *count = if joins { *count + 1 } else { *count - 1 };
        *ranks ^= rank.0;
    }

    /// As [`Exchange::exchange`], with the tree loaded into `up` and `below`.
    fn rejoin(&mut self, tree: &Tree, link: LinkId) -> Vec<LinkId> {
        let problem = &self.problems[tree.problem];
        let relays = |of: &Self, rank: RankId, below: u32| {
            rank != tree.root && of.below[rank.index()].0 == below && !problem.is_holder(tree.ends, rank)
        };
        let (above, mut lower) = self.loads.ends_of(link, tree.op);
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
            let next = self.loads.ends_of(LinkId(link), tree.op).1;
            let before = self.up[next.index()];
            self.join(next, link, tree.op);
            new.push(LinkId(link));
            if before != NONE {
                self.prune(self.loads.ends_of(LinkId(before), tree.op).0, tree, &relays);
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
            rank = self.loads.ends_of(link, tree.op).0;
        }
        gained
    }

    /// The rank of the tree from which the cheapest path leads to this one, what is above it in the tree counted at the
    /// price of idle links; `None` if no path costs less than `most`.
    fn cheapest(&mut self, tree: &Tree, to: RankId, most: f64) -> Option<RankId> {
        let problem = &self.problems[tree.problem];
        for rank in self.reached.drain(..) {
            self.path[rank.index()] = (f64::INFINITY, NONE);
        }
        self.path[to.index()] = (0.0, NONE);
        self.reached.push(to);
        // The bits of positive floats are in their order.
        let mut queue = BinaryHeap::from([Reverse((0, to))]);
        let (mut looked_at, mut best) = (0, None);
        while let Some(Reverse((bits, rank))) = queue.pop() {
            let cost = self.path[rank.index()].0;
            if bits != cost.to_bits() {
                continue;
            }
            if best.is_some_and(|(least, _)| cost >= least) {
                break;
            }
            if let Some(depth) = (rank != to).then(|| self.depth(rank, tree)).flatten() {
                let all = cost + HOP * f64::from(depth);
                if best.is_none_or(|(least, _)| all < least) {
                    best = Some((all, rank));
                }
                continue;
            }
            looked_at += 1;
            if looked_at > MOST_RANKS && most < WORTH_ALL_RANKS {
                break;
            }
            let mut add = |of: &mut Self, link: LinkId| {
                if !of.loads.machine.link(link).alive {
                    return;
                }
                let above = of.loads.ends_of(link, tree.op).0;
                let more = cost + of.loads.price_with(link, of.loads.load[link.index()] + 1);
                if more < most && more < of.path[above.index()].0 && problem.may_hold(tree.chunk, above) {
                    of.path[above.index()] = (more, link.0);
                    of.reached.push(above);
                    queue.push(Reverse((more.to_bits(), above)));
                }
            };
            let machine = self.loads.machine;
            self.work += machine.links_from(rank).count() as u64;
            match tree.op {
                Op::Copy => machine.links_into(rank).for_each(|link| add(&mut *self, link)),
                Op::Reduce => machine.links_from(rank).for_each(|link| add(&mut *self, link)),
            }
        }
        best.map(|(_, rank)| rank)
    }

    /// How many links of the tree lead from a rank to its root, if they do.
    fn depth(&self, mut rank: RankId, tree: &Tree) -> Option<u32> {
        let mut depth = 0;
        while rank != tree.root {
            let link = self.up[rank.index()];
            if link == NONE {
                return None;
            }
            depth += 1;
            rank = self.loads.ends_of(LinkId(link), tree.op).0;
        }
        Some(depth)
    }
}
