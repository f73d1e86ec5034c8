//! A set of ranks that changes one rank at a time, and the traffic across its border.

use std::cmp::Ordering;

use super::count::Count;
use collsynth_core::certificate::Rational;
use collsynth_core::collective::{Demand, Groups, Kind, Who};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, Topology};

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

/// A set of live ranks with the traffic of one or more collectives and the capacity over its border kept up to date.
pub struct Region<'a> {
    topology: &'a Topology,
    inside: Vec<bool>,
    all: Vec<Traffic<'a>>,
    out: Border,
    into: Border,
}

/// The links of one direction across the border.
#[derive(Clone, Copy, Default)]
struct Border {
    capacity: u64,
    links: u64,
}

/// What the traffic of a collective depends on.
struct Traffic<'a> {
    kind: &'a Kind,
    /// What a unit of it counts.
    weight: u64,
    /// `all_to_allv` alone: chunk counts, row-major.
    counts: Vec<u32>,
    live: u64,
    ranks: u64,
    holds_root: bool,
    /// Of each group: its live members, how many of them are inside, and whether its root is.
    groups: Vec<(u64, u64, bool)>,
    /// `all_to_allv` alone: chunks that must cross.
    out: u64,
    into: u64,
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
    /// Of one collective, in messages (chunks, for `all_to_allv`).
    pub fn new(problem: &'a Problem) -> Self {
        Self::over(problem.topology(), vec![Traffic::new(problem, 1)])
    }

    /// Of several collectives on a machine, in chunks.
    pub fn of_all(machine: &'a Topology, problems: &'a [Problem]) -> Self {
        let one = |problem| Traffic::new(problem, Count::of(problem).chunks.into());
        Self::over(machine, problems.iter().map(one).collect())
    }

    fn over(topology: &'a Topology, all: Vec<Traffic<'a>>) -> Self {
        let inside = vec![false; topology.rank_count()];
        Self { topology, inside, all, out: Border::default(), into: Border::default() }
    }

    pub fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// The groups, if no chunk of one may cross a link of another.
    pub fn groups_apart(&self) -> Option<&'a Groups> {
        let [Traffic { kind, .. }] = &self.all[..] else { return None };
        kind.groups().filter(|groups| !groups.may_relay())
    }

    /// Does adding a rank take time in proportion to the ranks?
    pub fn has_demand(&self) -> bool {
        self.all.iter().any(|traffic| !traffic.counts.is_empty())
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
        self.all.iter_mut().for_each(Traffic::clear);
        (self.out, self.into) = (Border::default(), Border::default());
    }

    /// Adds a rank, or removes it if it is in the set; a failed rank never is. O(degree), O(N) for `all_to_allv`.
    pub fn toggle(&mut self, rank: RankId) {
        if !self.topology.is_alive(rank) {
            return;
        }
        // A link between the rank and the inside is on the border if and only if the rank is not in the set; a link to
        // the outside, if and only if it is.
        let joins = !self.holds(rank);
        self.inside[rank.index()] = false;
        self.toggle_links(rank, joins);
        self.all.iter_mut().for_each(|traffic| traffic.toggle(self.topology, &self.inside, rank, joins));
        self.inside[rank.index()] = joins;
    }

    /// The traffic in the harder direction; `None` if nothing must cross.
    pub fn hardest_crossing(&self) -> Option<Crossing> {
        match (self.crossing(Side::Out), self.crossing(Side::Into)) {
            (Some(out), Some(into)) if into.cmp(&out).is_gt() => Some(into),
            (out, into) => out.or(into),
        }
    }

    fn crossing(&self, side: Side) -> Option<Crossing> {
        let Border { capacity, links } = match side {
            Side::Out => self.out,
            Side::Into => self.into,
        };
        let amount = self.all.iter().map(|traffic| traffic.weight * traffic.amount(side)).sum();
        (amount > 0 && capacity > 0).then_some(Crossing { side, amount, capacity, links })
    }

    fn toggle_links(&mut self, rank: RankId, joins: bool) {
        for id in self.topology.links_from(rank).chain(self.topology.links_into(rank)) {
            let link = self.topology.link(id);
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
}

impl<'a> Traffic<'a> {
    fn new(problem: &'a Problem, weight: u64) -> Self {
        let (topology, kind) = (problem.topology(), &problem.collective().kind);
        let live = |members: &Vec<RankId>| members.iter().filter(|&&rank| topology.is_alive(rank)).count();
        let group = |members| (live(members) as u64, 0, false);
        Self {
            kind,
            weight,
            counts: kind.demand().into_iter().flat_map(Demand::counts).collect(),
            live: topology.live_rank_count() as u64,
            ranks: 0,
            holds_root: false,
            groups: problem.groups().map_or(Vec::new(), |groups| groups.members().iter().map(group).collect()),
            out: 0,
            into: 0,
        }
    }

    fn clear(&mut self) {
        (self.ranks, self.holds_root, self.out, self.into) = (0, false, 0, 0);
        self.groups.iter_mut().for_each(|(_, inside, holds_root)| (*inside, *holds_root) = (0, false));
    }

    /// A rank joins the set or leaves it; `inside` is the set without it.
    fn toggle(&mut self, topology: &Topology, inside: &[bool], rank: RankId, joins: bool) {
        if !self.counts.is_empty() {
            self.toggle_demand(topology, inside, rank, joins);
        }
        self.ranks = if joins { self.ranks + 1 } else { self.ranks - 1 };
        if self.kind.root() == Some(rank) {
            self.holds_root = joins;
        }
        let Some((group, place)) = self.kind.groups().and_then(|groups| groups.place(rank)) else { return };
        let (_, inside, holds_root) = &mut self.groups[group as usize];
        *inside = if joins { *inside + 1 } else { *inside - 1 };
        if self.kind.stated_root() == Some(RankId(place)) {
            *holds_root = joins;
        }
    }

    fn toggle_demand(&mut self, topology: &Topology, inside: &[bool], rank: RankId, joins: bool) {
        let ranks = inside.len();
        for other in topology.live_ranks().filter(|&other| other != rank) {
            let inside = inside[other.index()];
            let (sent, received) =
                if inside { (&mut self.into, &mut self.out) } else { (&mut self.out, &mut self.into) };
            let of_pair = |from: RankId, to: RankId| u64::from(self.counts[from.index() * ranks + to.index()]);
            for (chunks, more) in [(sent, of_pair(rank, other)), (received, of_pair(other, rank))] {
                *chunks = if joins != inside { *chunks + more } else { *chunks - more };
            }
        }
    }

    /// What must cross: messages from inside to outside (or back) if each goes from one rank to one rank; shards that
    /// are on one side only and needed on the other; partial sums of values needed on the other.
    fn amount(&self, side: Side) -> u64 {
        if self.kind.groups().is_some() {
            let of_group = |&(live, inside, root): &(u64, u64, bool)| self.amount_of(side, inside, live - inside, root);
            return self.groups.iter().map(of_group).sum();
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
        let count = |who: Who, owners: u64, root: bool| match who {
            Who::Owner => owners,
            Who::Root(_) => u64::from(root),
            Who::Every => 1,
        };
        match (self.kind.demand(), side) {
            (Some(_), Side::Out) => self.out,
            (Some(_), Side::Into) => self.into,
            (None, _) if !self.kind.has_volume() => 0,
            (None, _) => count(self.kind.before(), before, root_before) * count(self.kind.after(), after, !root_before),
        }
    }
}
