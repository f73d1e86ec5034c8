//! Trees of all chunks, and the rounds in which what crosses overfull slots is attached anew.
//!
//! The unit that moves is an *arrival*: the one link and step by which a rank gets a chunk. It may move to any link from
//! a rank that has the chunk by then, and to any step before the rank first sends the chunk on; so the tree stays a tree.
//! Now and then a whole tree in trouble is grown anew.

use std::borrow::Cow;

use fastrand::Rng;

use super::growth::Growth;
use crate::plan::Control;
use crate::plan::negotiation::{LiveLink, Negotiation, Network, Slots, Start, WAIT};

/// After so many rounds, trees that still cross an overfull slot are grown anew instead.
const REGROW_ROUNDS: u32 = 12;
/// Trees that get into trouble only while others are grown anew are left to the next rounds, which is mostly
/// better; but one try in so many, the one of this number, grows them at once.
const CASCADING: (u64, u64) = (4, 2);

/// How a rank gets a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) struct Arrival {
    /// The live link, or [`WAIT`].
    pub link: LiveLink,
    /// The step, from 0.
    pub step: u16,
}

impl Arrival {
    /// It does not: the root, and ranks that are not reached.
    pub const NONE: Self = Self { link: WAIT, step: u16::MAX };
}

/// Where trees grow: a network, over columns that links share.
#[derive(Debug)]
pub(in crate::plan) struct Ground {
    pub network: Network,
    incoming: Incoming,
    /// The column of each live link.
    column: Vec<u32>,
    /// The capacity of each column.
    capacity: Vec<u32>,
}

/// All trees of a try.
pub(in crate::plan) struct Forest<'a> {
    ground: &'a Ground,
    /// The root of each tree.
    roots: Cow<'a, [u32]>,
    ranks: usize,
    steps: usize,
    slots: Slots,
    /// `arrivals[tree * ranks + rank]`.
    arrivals: Vec<Arrival>,
    growth: Growth,
    rng: Rng,
    /// Are trees grown anew, too, that get into trouble while others are?
    cascading: bool,
    rounds: u32,
    work: u64,
}

/// The live links that enter each rank.
#[derive(Debug)]
struct Incoming {
    start: Vec<usize>,
    links: Vec<LiveLink>,
}

impl Incoming {
    fn new(network: &Network) -> Self {
        let mut links: Vec<LiveLink> = (0..network.link_count() as LiveLink).collect();
        links.sort_by_key(|&link| network.to[link as usize]);
        let start = (0..=network.rank_count() as u32)
            .map(|rank| links.partition_point(|&link| network.to[link as usize] < rank))
            .collect();
        Self { start, links }
    }

    fn of(&self, rank: u32) -> &[LiveLink] {
        &self.links[self.start[rank as usize]..self.start[rank as usize + 1]]
    }
}

impl Ground {
    /// Every link a column of its own.
    pub fn new(network: Network) -> Self {
        let column = (0..network.link_count() as u32).collect();
        let capacity = network.capacity.clone();
        Self::with_columns(network, column, capacity)
    }

    /// The column of each live link, and the capacity of each column.
    pub fn with_columns(network: Network, column: Vec<u32>, capacity: Vec<u32>) -> Self {
        Self { incoming: Incoming::new(&network), network, column, capacity }
    }
}

impl<'a> Forest<'a> {
    /// Trees from these roots, grown one after another, each where it is cheapest by then.
    pub fn new(ground: &'a Ground, roots: Cow<'a, [u32]>, start: Start) -> Self {
        let ranks = ground.network.rank_count();
        let mut this = Self {
            ground,
            ranks,
            steps: start.widths.len(),
            slots: Slots::new(start.widths, ground.capacity.clone(), start.pressure_cap),
            arrivals: vec![Arrival::NONE; roots.len() * ranks],
            roots,
            growth: Growth::default(),
            rng: Rng::with_seed(start.seed),
            cascading: start.number % CASCADING.0 == CASCADING.1,
            rounds: 0,
            work: 0,
        };
        let mut trees: Vec<usize> = (0..this.roots.len()).collect();
        this.rng.shuffle(&mut trees);
        for tree in trees {
            this.grow(tree);
        }
        this
    }

    fn slot(&self, arrival: Arrival) -> usize {
        usize::from(arrival.step) * self.slots.columns() + self.ground.column[arrival.link as usize] as usize
    }

    fn tree(&self, tree: usize) -> &[Arrival] {
        &self.arrivals[tree * self.ranks..][..self.ranks]
    }

    /// Grows a tree that crosses no slot at present.
    fn grow(&mut self, tree: usize) {
        let arrivals = &mut self.arrivals[tree * self.ranks..][..self.ranks];
        let (columns, root) = (self.slots.columns(), self.roots[tree]);
        self.growth.grow(&self.ground.network, root, &self.ground.column, self.slots.prices(), columns, arrivals);
        for rank in 0..self.ranks {
            let arrival = self.tree(tree)[rank];
            if arrival.link != WAIT {
                self.slots.add(self.slot(arrival));
            }
        }
        self.work += (self.steps * self.ground.network.link_count()) as u64;
    }

    fn in_trouble(&self, arrival: Arrival) -> bool {
        arrival.link != WAIT && self.slots.is_overfull(self.slot(arrival))
    }

    /// Takes a whole tree out and grows it anew, if it still crosses an overfull slot.
    fn regrow(&mut self, tree: usize) {
        if !self.tree(tree).iter().any(|&arrival| self.in_trouble(arrival)) {
            return;
        }
        for rank in 0..self.ranks {
            let arrival = self.tree(tree)[rank];
            if arrival.link != WAIT {
                self.slots.take(self.slot(arrival));
            }
        }
        self.grow(tree);
    }

    /// Moves an arrival to the cheapest place, if it crosses an overfull slot.
    fn reattach(&mut self, tree: usize, rank: u32) {
        let now = self.tree(tree)[rank as usize];
        if !self.in_trouble(now) {
            return;
        }
        self.slots.take(self.slot(now));
        let root = self.roots[tree];
        let links = self.ground.incoming.of(rank);
        let turn = self.rng.usize(..links.len().max(1));
        let tree_arrivals = self.tree(tree);
        let children = self
            .ground
            .network
            .out(rank)
            .iter()
            .map(|&link| (link, tree_arrivals[self.ground.network.to[link as usize] as usize]));
        let first_sent = children.filter(|&(link, child)| child.link == link).map(|(_, child)| child.step).min();
        let deadline = first_sent.unwrap_or(self.steps as u16);

        let (mut best, mut least) = (now, u32::MAX);
        for &link in links[turn..].iter().chain(&links[..turn]) {
            let sender = self.ground.network.from[link as usize];
            let had = tree_arrivals[sender as usize];
            let from = match (sender == root, had.link) {
                (true, _) => 0,
                (false, WAIT) => continue,
                (false, _) => had.step + 1,
            };
            for step in from..deadline {
                let price = self.slots.prices()[self.slot(Arrival { link, step })];
                if price < least {
                    (best, least) = (Arrival { link, step }, price);
                }
            }
        }
        self.work += links.len() as u64 * u64::from(deadline);
        self.arrivals[tree * self.ranks + rank as usize] = best;
        self.slots.add(self.slot(best));
    }
}

impl Negotiation for Forest<'_> {
    type Routes = Vec<Arrival>;

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn round(&mut self, control: &Control) {
        self.rounds += 1;
        if self.rounds.is_multiple_of(REGROW_ROUNDS) {
            let troubled =
                |&tree: &usize| self.cascading || self.tree(tree).iter().any(|&arrival| self.in_trouble(arrival));
            let mut trees: Vec<usize> = (0..self.roots.len()).filter(troubled).collect();
            self.rng.shuffle(&mut trees);
            for tree in trees {
                self.regrow(tree);
            }
            return;
        }
        let mut units: Vec<usize> =
            (0..self.arrivals.len()).filter(|&unit| self.in_trouble(self.arrivals[unit])).collect();
        self.rng.shuffle(&mut units);
        for (index, &unit) in units.iter().enumerate() {
            if index % 4096 == 0 && control.stop().is_some() {
                break;
            }
            self.reattach(unit / self.ranks, (unit % self.ranks) as u32);
        }
        self.work += self.arrivals.len() as u64;
    }

    /// Slots looked at, and arrivals looked at by the rounds.
    fn work(&self) -> u64 {
        self.work
    }

    /// `[tree * ranks + rank]`.
    fn into_routes(self) -> Vec<Arrival> {
        self.arrivals
    }
}
