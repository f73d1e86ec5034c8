//! Pairs of trees, up to a root and down from it, and the rounds in which what crosses overfull slots moves.
//!
//! The upper half of a pair is a tree of arrivals like the lower one, seen backwards: in reversed time, over links turned
//! round. So each half is treated alike; they meet at the root, which sends nothing down before all has come up.
//!
//! A transfer either adds or replaces, and a link carries one transfer a step. So each link switches once, from up to
//! down: all links in the middle of the time, but those that leave a rank with few links later, and those that lead to it
//! earlier. Such a rank then has more time for what it must send up and get back; the chunks that make use of it have
//! their roots next to it.

use fastrand::Rng;

use crate::plan::Control;
use crate::plan::negotiation::{Negotiation, Network, Slots, Start, WAIT};
use crate::plan::trees::{Arrival, Growth, Incoming};

/// In every so many rounds, pairs that still cross an overfull slot are grown anew from another root.
const REGROW_ROUNDS: u32 = 16;
/// The price of a slot that serves the other half: no path is as dear.
const BLOCKED: u32 = u32::MAX / 2;

/// A way to look at the network.
pub(super) struct View {
    pub network: Network,
    pub incoming: Incoming,
}

/// What all tries share.
pub(super) struct Ground {
    /// Downwards: as things are. Upwards: in reversed time, links turned round.
    pub views: [View; 2],
    /// The ranks that may be roots, with the hops to the farthest rank downwards and upwards, the nearest first.
    pub roots: Vec<(u32, [u32; 2])>,
    /// Per column: 1 if it switches late, -1 if early, 0 in the middle.
    pub lean: Vec<i8>,
    /// The ranks next to those with few links.
    pub helpers: Vec<u32>,
    /// The column of each live link.
    pub column: Vec<u32>,
    /// The capacity of each column.
    pub capacity: Vec<u32>,
    /// The number of pairs.
    pub pairs: usize,
}

/// All pairs of a try.
pub(super) struct Pairs<'a> {
    ground: &'a Ground,
    ranks: usize,
    steps: u32,
    /// The first step in which links go down rather than up: the earliest, the middle, the latest.
    switch: [u32; 3],
    slots: Slots,
    /// The ranks that have the time to be roots.
    candidates: Vec<u32>,
    /// The root of each pair.
    roots: Vec<u32>,
    /// `arrivals[(2 * pair + half) * ranks + rank]`.
    arrivals: Vec<Arrival>,
    growth: Growth,
    /// Scratch: prices in the time of a half, blocked where links go the other way.
    half_prices: Vec<u32>,
    rng: Rng,
    rounds: u32,
    work: u64,
}

impl<'a> Pairs<'a> {
    pub fn new(ground: &'a Ground, start: Start) -> Self {
        let ranks = ground.views[0].network.rank_count();
        let steps = start.widths.len() as u32;
        // Time for all ranks to be roots, if there is; else for the one nearest to all.
        let farthest = [0, 1].map(|half| ground.roots.iter().map(|(_, hops)| hops[half]).max().unwrap_or(0));
        let [down, up] = if farthest[0] + farthest[1] <= steps { farthest } else { ground.roots[0].1 };
        let latest = steps.saturating_sub(down).max(up);
        let in_time = ground.roots.iter().filter(|(_, hops)| hops[1] <= up && hops[0] <= steps - latest);
        let mut this = Self {
            ground,
            ranks,
            steps,
            candidates: in_time.map(|&(root, _)| root).collect(),
            switch: [up, (up + latest) / 2, latest],
            slots: Slots::new(start.widths, ground.capacity.clone(), start.pressure_cap),
            roots: vec![0; ground.pairs],
            arrivals: vec![Arrival::NONE; 2 * ground.pairs * ranks],
            growth: Growth::default(),
            half_prices: Vec::new(),
            rng: Rng::with_seed(start.seed),
            rounds: 0,
            work: 0,
        };
        let offset = this.rng.usize(..this.candidates.len());
        for pair in 0..ground.pairs {
            this.grow(pair, offset + pair);
        }
        this
    }

    /// Grows both trees of a pair that crosses no slot at present, from one of the roots that the steps allow.
    fn grow(&mut self, pair: usize, choice: usize) {
        let [earliest, middle, latest] = self.switch;
        let root = self.candidates[choice % self.candidates.len()];
        // The root turns round when this many steps are over.
        let turn = if self.ground.helpers.contains(&root) { self.rng.u32(earliest..=latest) } else { middle };
        self.roots[pair] = root;
        for half in 0..2 {
            let begin = if half == 0 { turn } else { self.steps - turn };
            self.price_half(half, begin as u16);
            let tree = &mut self.arrivals[(2 * pair + half) * self.ranks..][..self.ranks];
            let network = &self.ground.views[half].network;
            let columns = self.slots.columns();
            self.growth.grow(network, root, &self.ground.column, &self.half_prices, columns, tree);
            for arrival in tree.iter_mut().filter(|arrival| arrival.link != WAIT) {
                arrival.step += begin as u16;
            }
            self.for_slots(pair, half, Slots::add);
        }
        self.work += u64::from(self.steps) * self.ground.column.len() as u64;
    }

    /// Writes down the prices of a half from a step of its time on.
    fn price_half(&mut self, half: usize, begin: u16) {
        self.half_prices.clear();
        for step in begin..self.steps as u16 {
            let real = real_step(half, step, self.steps);
            let prices = &self.slots.prices()[real as usize * self.slots.columns()..][..self.slots.columns()];
            let lean = &self.ground.lean;
            let goes: [usize; 3] = [-1, 0, 1].map(|lean| self.goes(lean, real));
            let priced = prices.iter().zip(lean).map(|(&price, &lean)| match goes[(lean + 1) as usize] == half {
                true => price,
                false => BLOCKED,
            });
            self.half_prices.extend(priced);
        }
    }

    /// The half that links of this lean serve in a step.
    fn goes(&self, lean: i8, real_step: u32) -> usize {
        usize::from(real_step < self.switch[(lean + 1) as usize])
    }

    fn for_slots(&mut self, pair: usize, half: usize, mut change: impl FnMut(&mut Slots, usize)) {
        for unit in (2 * pair + half) * self.ranks..(2 * pair + half + 1) * self.ranks {
            if self.arrivals[unit].link != WAIT {
                let slot = self.slot(half, self.arrivals[unit]);
                change(&mut self.slots, slot);
            }
        }
    }

    fn slot(&self, half: usize, arrival: Arrival) -> usize {
        let step = real_step(half, arrival.step, self.steps);
        step as usize * self.slots.columns() + self.ground.column[arrival.link as usize] as usize
    }

    fn in_trouble(&self, unit: usize) -> bool {
        let arrival = self.arrivals[unit];
        arrival.link != WAIT && self.slots.is_overfull(self.slot(unit / self.ranks % 2, arrival))
    }

    /// The first step, in the time of this half, in which a rank sends to others.
    fn first_sent(&self, pair: usize, half: usize, rank: u32) -> Option<u16> {
        let tree = &self.arrivals[(2 * pair + half) * self.ranks..][..self.ranks];
        let network = &self.ground.views[half].network;
        let children = network.out(rank).iter().map(|&link| (link, tree[network.to[link as usize] as usize]));
        children.filter(|&(link, child)| child.link == link).map(|(_, child)| child.step).min()
    }

    /// Moves an arrival to the cheapest place, if it crosses an overfull slot.
    fn reattach(&mut self, unit: usize) {
        if !self.in_trouble(unit) {
            return;
        }
        let (pair, half, rank) = (unit / self.ranks / 2, unit / self.ranks % 2, (unit % self.ranks) as u32);
        let now = self.arrivals[unit];
        self.slots.take(self.slot(half, now));
        let view = &self.ground.views[half];
        let root = self.roots[pair];
        let links = view.incoming.of(rank);
        let turn = self.rng.usize(..links.len().max(1));
        let deadline = self.first_sent(pair, half, rank).unwrap_or(self.steps as u16);
        // What the root has only once the other half is done.
        let at_root = self.first_sent(pair, 1 - half, root).map_or(0, |first| self.steps as u16 - first);

        let (mut best, mut least) = (now, u32::MAX);
        for &link in links[turn..].iter().chain(&links[..turn]) {
            let sender = view.network.from[link as usize];
            let had = self.arrivals[unit - rank as usize + sender as usize];
            let from = match (sender == root, had.link) {
                (true, _) => at_root,
                (false, WAIT) => continue,
                (false, _) => had.step + 1,
            };
            for step in from..deadline {
                let lean = self.ground.lean[self.ground.column[link as usize] as usize];
                if self.goes(lean, real_step(half, step, self.steps)) != half {
                    continue;
                }
                let price = self.slots.prices()[self.slot(half, Arrival { link, step })];
                if price < least {
                    (best, least) = (Arrival { link, step }, price);
                }
            }
        }
        self.work += links.len() as u64 * u64::from(deadline);
        self.arrivals[unit] = best;
        self.slots.add(self.slot(half, best));
    }
}

/// The step, from 0, of an arrival in the time of a half.
pub(super) fn real_step(half: usize, step: u16, steps: u32) -> u32 {
    if half == 0 { u32::from(step) } else { steps - 1 - u32::from(step) }
}

impl Negotiation for Pairs<'_> {
    type Routes = Vec<Arrival>;

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn round(&mut self, control: &Control) {
        self.rounds += 1;
        let mut units: Vec<usize> = (0..self.arrivals.len()).filter(|&unit| self.in_trouble(unit)).collect();
        self.work += self.arrivals.len() as u64;
        if self.rounds.is_multiple_of(REGROW_ROUNDS) {
            let mut pairs: Vec<usize> = units.iter().map(|unit| unit / self.ranks / 2).collect();
            pairs.dedup();
            self.rng.shuffle(&mut pairs);
            // Few at a time: most places are taken, and a pair that comes back finds no better ones.
            pairs.truncate(self.ground.pairs.div_ceil(8));
            for pair in pairs {
                (0..2).for_each(|half| self.for_slots(pair, half, Slots::take));
                let choice = self.rng.usize(..self.candidates.len());
                self.grow(pair, choice);
            }
            return;
        }
        self.rng.shuffle(&mut units);
        for (index, &unit) in units.iter().enumerate() {
            if index % 4096 == 0 && control.stop().is_some() {
                break;
            }
            self.reattach(unit);
        }
    }

    /// Slots looked at, and arrivals looked at by the rounds.
    fn work(&self) -> u64 {
        self.work
    }

    /// `[(2 * pair + half) * ranks + rank]`.
    fn into_routes(self) -> Vec<Arrival> {
        self.arrivals
    }
}
