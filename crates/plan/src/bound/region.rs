//! A set of ranks that changes one rank at a time, and what must cross its border.

use std::cmp::Ordering;

use super::count::Count;
use collsynth_core::certificate::Rational;
use collsynth_core::collective::{Demand, Who};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId};

/// Which links of a border are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Those that leave the set.
    Out,
    /// Those that enter it.
    Into,
}

/// What must cross a border, and over what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    /// The links counted.
    pub side: Side,
    /// What must cross them, in messages (chunks, for `all_to_allv`).
    pub amount: u64,
    /// Their capacity; not 0.
    pub capacity: u64,
    /// Their number.
    pub links: u64,
}

/// A set of live ranks with the demand and the capacity over its border kept up to date.
pub(super) struct Region<'a> {
    problem: &'a Problem,
    /// `all_to_allv` alone: chunk counts, row-major.
    counts: Vec<u32>,
    live: u64,
    inside: Vec<bool>,
    ranks: u64,
    holds_root: bool,
    out: Border,
    into: Border,
}

/// One way over the border.
#[derive(Clone, Copy, Default)]
struct Border {
    capacity: u64,
    links: u64,
    /// `all_to_allv` alone: chunks that must cross.
    chunks: u64,
}

impl Crossing {
    /// The volume below which this cannot cross, in messages.
    pub fn volume(&self, problem: &Problem) -> Rational {
        Rational::new(self.amount.into(), i128::from(self.capacity) * Count::of(problem).a_message)
    }

    /// The more demand on the less capacity is the greater; among equals, the fewer links.
    pub fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (
            u128::from(self.amount) * u128::from(other.capacity),
            u128::from(other.amount) * u128::from(self.capacity),
        );
        left.cmp(&right).then(other.links.cmp(&self.links))
    }
}

impl<'a> Region<'a> {
    /// The empty set.
    pub fn new(problem: &'a Problem) -> Self {
        let topology = problem.topology();
        let counts = problem.collective().kind.demand().into_iter().flat_map(Demand::counts).collect();
        Self {
            problem,
            counts,
            live: topology.live_rank_count() as u64,
            inside: vec![false; topology.rank_count()],
            ranks: 0,
            holds_root: false,
            out: Border::default(),
            into: Border::default(),
        }
    }

    /// The problem it is about.
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// True if the rank is in the set.
    pub fn holds(&self, rank: RankId) -> bool {
        self.inside[rank.index()]
    }

    /// The ranks in the set, ascending.
    pub fn ranks(&self) -> Vec<RankId> {
        (0..self.inside.len() as u32).map(RankId).filter(|&rank| self.holds(rank)).collect()
    }

    /// Makes this the set to work with. O(changes).
    pub fn become_set(&mut self, ranks: &[RankId]) {
        self.clear();
        ranks.iter().for_each(|&rank| self.toggle(rank));
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.inside.fill(false);
        (self.ranks, self.holds_root) = (0, false);
        (self.out, self.into) = (Border::default(), Border::default());
    }

    /// Takes a rank in, or out if it is in; a failed rank never is. O(degree), O(N) for `all_to_allv`.
    pub fn toggle(&mut self, rank: RankId) {
        if !self.problem.topology().is_alive(rank) {
            return;
        }
        // Whatever joins the rank to the inside is on the border exactly when the rank is not in the set, and whatever
        // joins it to the outside exactly when it is.
        let joins = !self.holds(rank);
        self.inside[rank.index()] = false;
        self.toggle_links(rank, joins);
        if !self.counts.is_empty() {
            self.toggle_demand(rank, joins);
        }
        self.inside[rank.index()] = joins;
        self.ranks = if joins { self.ranks + 1 } else { self.ranks - 1 };
        if self.problem.collective().kind.root() == Some(rank) {
            self.holds_root = joins;
        }
    }

    /// What must cross the border, on the side where that is hardest; `None` if nothing must.
    pub fn hardest_crossing(&self) -> Option<Crossing> {
        match (self.crossing(Side::Out), self.crossing(Side::Into)) {
            (Some(out), Some(into)) if into.cmp(&out).is_gt() => Some(into),
            (out, into) => out.or(into),
        }
    }

    fn crossing(&self, side: Side) -> Option<Crossing> {
        let Border { capacity, links, .. } = *self.border(side);
        let amount = self.amount(side);
        (amount > 0 && capacity > 0).then_some(Crossing { side, amount, capacity, links })
    }

    /// What must cross: messages from inside to outside (or back) where each goes from one rank to one rank; shards
    /// that are on one side only and needed on the other; partial sums of what is needed on the other.
    fn amount(&self, side: Side) -> u64 {
        let (within, beyond) = (self.ranks, self.live - self.ranks);
        if within == 0 || beyond == 0 {
            return 0;
        }
        // Seen along the links counted: how many ranks are before them, how many after, and on which side the root is.
        let (before, after, root_before) = match side {
            Side::Out => (within, beyond, self.holds_root),
            Side::Into => (beyond, within, !self.holds_root),
        };
        let kind = &self.problem.collective().kind;
        let count = |who: Who, owners: u64, root: bool| match who {
            Who::Owner => owners,
            Who::Root(_) => u64::from(root),
            Who::Every => 1,
        };
        match kind.demand() {
            Some(_) => self.border(side).chunks,
            None if !kind.has_volume() => 0,
            None => count(kind.before(), before, root_before) * count(kind.after(), after, !root_before),
        }
    }

    fn border(&self, side: Side) -> &Border {
        match side {
            Side::Out => &self.out,
            Side::Into => &self.into,
        }
    }

    fn toggle_links(&mut self, rank: RankId, joins: bool) {
        let topology = self.problem.topology();
        let step = |border: &mut Border, id: LinkId, adds: bool| {
            let capacity = u64::from(topology.link(id).capacity);
            if adds {
                border.capacity += capacity;
                border.links += 1;
            } else {
                border.capacity -= capacity;
                border.links -= 1;
            }
        };
        for id in topology.links_from(rank).filter(|&id| topology.link(id).alive) {
            match self.inside[topology.link(id).to.index()] {
                true => step(&mut self.into, id, !joins),
                false => step(&mut self.out, id, joins),
            }
        }
        for id in topology.links_into(rank).filter(|&id| topology.link(id).alive) {
            match self.inside[topology.link(id).from.index()] {
                true => step(&mut self.out, id, !joins),
                false => step(&mut self.into, id, joins),
            }
        }
    }

    fn toggle_demand(&mut self, rank: RankId, joins: bool) {
        let ranks = self.inside.len();
        let step = |total: &mut u64, count: u32, adds: bool| match adds {
            true => *total += u64::from(count),
            false => *total -= u64::from(count),
        };
        for other in self.problem.topology().live_ranks().filter(|&other| other != rank) {
            let sends = self.counts[rank.index() * ranks + other.index()];
            let takes = self.counts[other.index() * ranks + rank.index()];
            if self.inside[other.index()] {
                step(&mut self.into.chunks, sends, !joins);
                step(&mut self.out.chunks, takes, !joins);
            } else {
                step(&mut self.out.chunks, sends, joins);
                step(&mut self.into.chunks, takes, joins);
            }
        }
    }
}
