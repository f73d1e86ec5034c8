//! A set of ranks that changes one rank at a time, and the traffic across its border.

use std::cmp::Ordering;

use super::count::Count;
use collsynth_core::certificate::Rational;
use collsynth_core::collective::{Demand, Who};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// The links of a border to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Out,
    Into,
}

/// The traffic that must cross a border in one direction, and the links that carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    pub side: Side,
    /// The traffic, in messages (chunks, for `all_to_allv`).
    pub amount: u64,
    /// The capacity of the links; not 0.
    pub capacity: u64,
    pub links: u64,
}

/// A set of live ranks with the demand and the capacity over its border kept up to date.
pub struct Region<'a> {
    problem: &'a Problem,
    /// `all_to_allv` alone: chunk counts, row-major.
    counts: Vec<u32>,
    live: u64,
    inside: Vec<bool>,
    ranks: u64,
    holds_root: bool,
    /// Of each group: its live members, how many of them are inside, and whether its root is.
    groups: Vec<(u64, u64, bool)>,
    out: Border,
    into: Border,
}

/// One direction across the border.
#[derive(Clone, Copy, Default)]
struct Border {
    capacity: u64,
    links: u64,
    /// `all_to_allv` alone: chunks that must cross.
    chunks: u64,
}

impl Crossing {
    /// The least volume at which the traffic can cross, in messages.
    pub fn volume(&self, problem: &Problem) -> Rational {
        Rational::new(self.amount.into(), i128::from(self.capacity) * Count::of(problem).a_message)
    }

    /// By traffic per capacity; among equals, fewer links are greater.
    pub fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (
            u128::from(self.amount) * u128::from(other.capacity),
            u128::from(other.amount) * u128::from(self.capacity),
        );
        left.cmp(&right).then(other.links.cmp(&self.links))
    }
}

impl<'a> Region<'a> {
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
            groups: problem.groups().map_or(Vec::new(), |groups| {
                let live = |members: &Vec<RankId>| members.iter().filter(|&&rank| topology.is_alive(rank)).count();
                groups.members().iter().map(|members| (live(members) as u64, 0, false)).collect()
            }),
            out: Border::default(),
            into: Border::default(),
        }
    }

    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    pub fn holds(&self, rank: RankId) -> bool {
        self.inside[rank.index()]
    }

    /// The ranks in the set, ascending.
    pub fn ranks(&self) -> Vec<RankId> {
        (0..self.inside.len() as u32).map(RankId).filter(|&rank| self.holds(rank)).collect()
    }

    pub fn become_set(&mut self, ranks: &[RankId]) {
        self.clear();
        ranks.iter().for_each(|&rank| self.toggle(rank));
    }

    pub fn clear(&mut self) {
        self.inside.fill(false);
        (self.ranks, self.holds_root) = (0, false);
        self.groups.iter_mut().for_each(|(_, inside, holds_root)| (*inside, *holds_root) = (0, false));
        (self.out, self.into) = (Border::default(), Border::default());
    }

    /// Adds a rank, or removes it if it is in the set; a failed rank never is. O(degree), O(N) for `all_to_allv`.
    pub fn toggle(&mut self, rank: RankId) {
        if !self.problem.topology().is_alive(rank) {
            return;
        }
        // A link between the rank and the inside is on the border if and only if the rank is not in the set; a link to
        // the outside, if and only if it is.
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
        self.toggle_member(rank, joins);
    }

    fn toggle_member(&mut self, rank: RankId, joins: bool) {
        let kind = &self.problem.collective().kind;
        let Some((group, place)) = kind.groups().and_then(|groups| groups.place(rank)) else { return };
        let (_, inside, holds_root) = &mut self.groups[group as usize];
        *inside = if joins { *inside + 1 } else { *inside - 1 };
        if kind.stated_root() == Some(RankId(place)) {
            *holds_root = joins;
        }
    }

    /// The traffic in the harder direction; `None` if nothing must cross.
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

    /// The traffic that must cross: messages from inside to outside (or back) if each goes from one rank to one rank;
    /// shards that are on one side only and needed on the other; partial sums of values needed on the other.
    fn amount(&self, side: Side) -> u64 {
        if self.problem.groups().is_some() {
            return self
                .groups
                .iter()
                .map(|&(live, inside, root)| self.amount_of(side, inside, live - inside, root))
                .sum();
        }
        self.amount_of(side, self.ranks, self.live - self.ranks, self.holds_root)
    }

    /// The traffic among these ranks inside and outside.
    fn amount_of(&self, side: Side, within: u64, beyond: u64, holds_root: bool) -> u64 {
        if within == 0 || beyond == 0 {
            return 0;
        }
        // Along the links counted: the ranks before them, the ranks after, and whether the root is before.
        let (before, after, root_before) = match side {
            Side::Out => (within, beyond, holds_root),
            Side::Into => (beyond, within, !holds_root),
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
        for id in topology.links_from(rank).chain(topology.links_into(rank)) {
            let link = topology.link(id);
            if !link.alive {
                continue;
            }
            let leaves = link.from == rank;
            let inside = self.inside[if leaves { link.to } else { link.from }.index()];
            let border = if leaves == inside { &mut self.into } else { &mut self.out };
            let capacity = u64::from(link.capacity);
            (border.capacity, border.links) = match joins != inside {
                true => (border.capacity + capacity, border.links + 1),
                false => (border.capacity - capacity, border.links - 1),
            };
        }
    }

    fn toggle_demand(&mut self, rank: RankId, joins: bool) {
        let ranks = self.inside.len();
        for other in self.problem.topology().live_ranks().filter(|&other| other != rank) {
            let inside = self.inside[other.index()];
            let (sent, received) =
                if inside { (&mut self.into, &mut self.out) } else { (&mut self.out, &mut self.into) };
            let of_pair = |from: RankId, to: RankId| u64::from(self.counts[from.index() * ranks + to.index()]);
            for (border, chunks) in [(sent, of_pair(rank, other)), (received, of_pair(other, rank))] {
                border.chunks = if joins != inside { border.chunks + chunks } else { border.chunks - chunks };
            }
        }
    }
}
