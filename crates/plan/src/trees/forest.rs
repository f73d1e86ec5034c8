//! Trees of all chunks, and the rounds in which what crosses overfull slots is attached anew.
//!
//! The unit that moves is an *arrival*: the one link and step by which a rank gets a chunk. It may move to any link
//! from a rank that has the chunk by then, and to any step before the rank first sends the chunk on; so the tree stays
//! a tree. Now and then a whole tree in trouble is grown anew.
//!
//! Trees may come in pairs that share the time: as long as one goes up, seen backwards, the other cannot go down yet.
//! If one leaves its root in step `a` and the other, by its own clock, in step `b`, of `S` steps, then `a + b >= S`:
//!
//! ```text
//!   step      0  1  2  3  4  5  6
//!   first              | --------->     leaves its root in step 3 at the earliest ...
//!   second    <--------|                ... since the other, which runs backwards, leaves it in its step 4
//! ```
//!
//! A link does one or the other in a step, up or down. So in the first half of its time such a tree keeps to slots with
//! room for one chunk: there nobody else can be.

use fastrand::Rng;

use super::Arrival;
use super::ground::Ground;
use super::growth::Growth;
use crate::Control;
use crate::negotiation::{LiveLink, Negotiation, Slots, Start, WAIT};

/// After so many rounds, trees that still cross an overfull slot are grown anew instead.
const REGROW_ROUNDS: u32 = 12;
/// Trees that get into trouble only while others are grown anew are left to the next rounds, which is mostly
/// better; but one try in so many, the one of this number, grows them at once.
const CASCADING: (u64, u64) = (4, 2);

/// A tree to be grown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plant {
    /// Where it begins.
    pub root: u32,
    /// The number of the ground it grows on.
    pub ground: usize,
    /// The number of the tree with which it shares the time; perhaps its own.
    pub partner: Option<usize>,
}

impl Plant {
    /// On the first ground, at any time.
    pub fn alone(root: u32) -> Self {
        Self { root, ground: 0, partner: None }
    }
}

/// Trees that have grown.
pub(crate) struct Grown {
    /// What they are.
    pub plants: Vec<Plant>,
    /// `arrivals[tree * ranks + rank]`.
    pub arrivals: Vec<Arrival>,
}

/// All trees of a try.
pub(crate) struct Forest<'a> {
    grounds: &'a [Ground],
    plants: Vec<Plant>,
    ranks: usize,
    steps: u16,
    /// How many steps before the middle are 1 wide.
    narrow: u16,
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

impl<'a> Forest<'a> {
    /// These trees, grown one after another, each where it is cheapest by then. All grounds have the same slots.
    pub fn new(grounds: &'a [Ground], plants: Vec<Plant>, start: Start) -> Self {
        let ground = &grounds[0];
        let ranks = ground.network.rank_count();
        let steps = start.widths.len() as u16;
        let before = start.widths[..start.widths.len() / 2].iter().rev();
        let narrow = before.take_while(|&&width| width == 1).count() as u16;
        let mut this = Self {
            grounds,
            ranks,
            steps,
            narrow,
            slots: Slots::new(ground.rows(start.widths), ground.capacity.clone(), start.pressure_cap),
            arrivals: vec![Arrival::NONE; plants.len() * ranks],
            plants,
            growth: Growth::default(),
            rng: Rng::with_seed(start.seed),
            cascading: start.number % CASCADING.0 == CASCADING.1,
            rounds: 0,
            work: 0,
        };
        let mut trees: Vec<usize> = (0..this.plants.len()).collect();
        this.rng.shuffle(&mut trees);
        for tree in trees {
            match this.plants[tree].partner {
                // Grown together with the first of the two.
                Some(partner) if partner < tree => {}
                Some(partner) if partner > tree => this.grow_pair(tree, partner),
                _ => this.grow(tree, this.earliest(tree)),
            }
        }
        this
    }

    fn ground(&self, tree: usize) -> &'a Ground {
        &self.grounds[self.plants[tree].ground]
    }

    fn slot(&self, tree: usize, arrival: Arrival) -> usize {
        self.ground(tree).slot(arrival.link, arrival.step, self.steps)
    }

    /// What the slots of a step cost a tree, by link; the most there is if they must not be used.
    fn prices(&self, tree: usize, step: u16) -> impl Fn(LiveLink) -> u32 {
        let shared = self.plants[tree].partner.is_some() && 2 * step < self.steps;
        let (first, columns) = self.ground(tree).row(step, self.steps);
        let prices = &self.slots.prices()[first..][..self.slots.columns()];
        move |link| {
            let column = columns[link as usize] as usize;
            if shared && self.slots.room(first + column) > 1 { u32::MAX } else { prices[column] }
        }
    }

    fn tree(&self, tree: usize) -> &[Arrival] {
        &self.arrivals[tree * self.ranks..][..self.ranks]
    }

    /// The steps in which a rank of a tree sends.
    fn sending(&self, tree: usize, rank: u32) -> impl Iterator<Item = u16> + '_ {
        let (network, arrivals) = (&self.ground(tree).network, self.tree(tree));
        let child = |&link: &u32| (link, arrivals[network.to[link as usize] as usize]);
        network.out(rank).iter().map(child).filter(|&(link, child)| child.link == link).map(|(_, child)| child.step)
    }

    /// The first step in which a tree may leave its root.
    fn earliest(&self, tree: usize) -> u16 {
        match self.plants[tree].partner {
            None => 0,
            Some(partner) if partner == tree => self.steps.div_ceil(2),
            Some(partner) => self.steps - self.sending(partner, self.plants[partner].root).min().unwrap_or(self.steps),
        }
    }

    /// Grows a tree that crosses no slot at present, from this step on.
    fn grow(&mut self, tree: usize, first: u16) {
        let (ground, root, steps) = (self.ground(tree), self.plants[tree].root, self.steps);
        let mut growth = std::mem::take(&mut self.growth);
        let mut arrivals = vec![Arrival::NONE; self.ranks];
        growth.grow(&ground.network, root, first..steps, |step| self.prices(tree, step), &mut arrivals);
        self.growth = growth;
        self.arrivals[tree * self.ranks..][..self.ranks].copy_from_slice(&arrivals);
        for rank in 0..self.ranks {
            let arrival = self.tree(tree)[rank];
            if arrival.link != WAIT {
                self.slots.add(self.slot(tree, arrival));
            }
        }
        self.work += u64::from(steps - first) * ground.network.link_count() as u64;
    }

    /// Grows two trees that share the time; where they may meet in narrow steps in the middle, chance says when.
    fn grow_pair(&mut self, tree: usize, partner: usize) {
        let farthest = |tree: usize| self.ground(tree).farthest(self.plants[tree].root);
        let earliest = farthest(partner).max(self.steps / 2 - self.narrow);
        let latest = (self.steps - farthest(tree)).min(self.steps.div_ceil(2) + self.narrow);
        let first = self.rng.u16(earliest.min(latest)..=latest);
        self.grow(tree, first);
        self.grow(partner, self.earliest(partner));
    }

    fn take_out(&mut self, tree: usize) {
        for rank in 0..self.ranks {
            let arrival = self.tree(tree)[rank];
            if arrival.link != WAIT {
                self.slots.take(self.slot(tree, arrival));
            }
        }
    }

    fn in_trouble(&self, tree: usize, arrival: Arrival) -> bool {
        arrival.link != WAIT && self.slots.is_overfull(self.slot(tree, arrival))
    }

    /// Takes a whole tree out and grows it anew, if it still crosses an overfull slot; one time in two with its
    /// partner.
    fn regrow(&mut self, tree: usize) {
        if !self.tree(tree).iter().any(|&arrival| self.in_trouble(tree, arrival)) {
            return;
        }
        match self.plants[tree].partner {
            Some(partner) if partner != tree && self.rng.bool() => {
                self.take_out(tree);
                self.take_out(partner);
                self.grow_pair(tree, partner);
            }
            _ => {
                self.take_out(tree);
                self.grow(tree, self.earliest(tree));
            }
        }
    }

    /// Moves an arrival to the cheapest place, if it crosses an overfull slot.
    fn reattach(&mut self, tree: usize, rank: u32) {
        let now = self.tree(tree)[rank as usize];
        if !self.in_trouble(tree, now) {
            return;
        }
        self.slots.take(self.slot(tree, now));
        let (ground, root) = (self.ground(tree), self.plants[tree].root);
        let links = ground.into(rank);
        let turn = self.rng.usize(..links.len().max(1));
        let tree_arrivals = self.tree(tree);
        let (earliest, deadline) = (self.earliest(tree), self.sending(tree, rank).min().unwrap_or(self.steps));

        let (mut best, mut least) = (now, u32::MAX);
        for &link in links[turn..].iter().chain(&links[..turn]) {
            let sender = ground.network.from[link as usize];
            let had = tree_arrivals[sender as usize];
            let from = match (sender == root, had.link) {
                (true, _) => earliest,
                (false, WAIT) => continue,
                (false, _) => had.step + 1,
            };
            for step in from..deadline {
                let price = self.prices(tree, step)(link);
                if price < least {
                    (best, least) = (Arrival { link, step }, price);
                }
            }
        }
        self.work += links.len() as u64 * u64::from(deadline.saturating_sub(earliest));
        self.arrivals[tree * self.ranks + rank as usize] = best;
        self.slots.add(self.slot(tree, best));
    }
}

impl Negotiation for Forest<'_> {
    type Routes = Grown;

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn round(&mut self, control: &Control) {
        self.rounds += 1;
        if self.rounds.is_multiple_of(REGROW_ROUNDS) {
            let troubled =
                |&tree: &usize| self.cascading || self.tree(tree).iter().any(|&arrival| self.in_trouble(tree, arrival));
            let mut trees: Vec<usize> = (0..self.plants.len()).filter(troubled).collect();
            self.rng.shuffle(&mut trees);
            for tree in trees {
                self.regrow(tree);
            }
            return;
        }
        let mut units: Vec<usize> =
            (0..self.arrivals.len()).filter(|&unit| self.in_trouble(unit / self.ranks, self.arrivals[unit])).collect();
        self.rng.shuffle(&mut units);
        for (index, &unit) in units.iter().enumerate() {
            if index % 4096 == 0 && control.stop().is_some() {
                break;
            }
            self.reattach(unit / self.ranks, (unit % self.ranks) as u32);
        }
        self.work += self.arrivals.len() as u64;
    }

    fn shift_width(&mut self) {
        let rows = self.grounds[0].rows_of_equal_weight(self.steps);
        // Pairs of trees count on narrow steps to stay narrow.
        let shares = |(tree, plant): (usize, &Plant)| plant.partner.is_some_and(|partner| partner != tree);
        let paired = self.plants.iter().enumerate().any(shares);
        self.slots.shift_width(rows, if paired { 2 } else { 1 });
    }

    /// Slots looked at, and arrivals looked at by the rounds.
    fn work(&self) -> u64 {
        self.work
    }

    fn needed_widths(&mut self) -> Vec<u32> {
        self.slots.fit_widths();
        self.grounds[0].widths(self.slots.widths(), self.steps)
    }

    fn into_routes(self) -> Grown {
        Grown { plants: self.plants, arrivals: self.arrivals }
    }
}
