//! Trees of the representatives' chunks, around failures that repeat.
//!
//! A chunk's tree reaches each rank once: the *arrival* of a rank is the direction and the step in which it gets the
//! chunk. All representatives begin with the tree of the template. An arrival over a dead link moves to the cheapest
//! other neighbor that has the chunk in time, and before the first rank that depends on it; if there is none, what
//! depends on it moves as well. Then overfull slots give up arrivals, as in `negotiation`.

mod attach;

use std::collections::VecDeque;

use fastrand::Rng;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::{RankId, Torus};

use super::quotient::{FULL, Quotient, WAIT};
use super::written::Departures;
use crate::model::control::{Control, Progress};

/// Arrivals tried in an overfull slot.
const TRIED: usize = 24;
/// Arrivals tried before the widths grow, and moved around dead links, for each arrival that there is.
const MOST_TRIED: usize = 1;
/// Slots between two looks at the clock.
const POLLED: usize = 256;

/// How a rank gets a chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Arrival {
    direction: u8,
    step: u16,
}

/// The root of a tree, which has its chunk.
const ROOT: Arrival = Arrival { direction: WAIT, step: 0 };
/// Not at all, so far.
const OPEN: Arrival = Arrival { direction: WAIT - 1, step: u16::MAX };

/// The trees of all representatives.
pub(super) struct Trees<'a> {
    torus: &'a Torus,
    pub quotient: Quotient,
    ranks: usize,
    /// `[rank * directions + direction]`
    neighbor: Vec<u32>,
    /// The class of each rank's first direction.
    class: Vec<usize>,
    parts: usize,
    /// The ranks of the first cell.
    origins: Vec<RankId>,
    /// Of a part of rank 0, by the template: `[part * ranks + rank]`.
    template: Vec<Arrival>,
    /// `[(origin * parts + part) * ranks + rank]`
    arrivals: Vec<Arrival>,
    /// The number of open arrivals.
    open: usize,
    /// Arrivals in each slot, and some that left it.
    users: Vec<Vec<u32>>,
    rng: Rng,
}

impl<'a> Trees<'a> {
    /// The trees of a pattern, off the dead links; `None` if some arrival finds no other way.
    pub fn new(quotient: Quotient, torus: &'a Torus, parts: u32, pattern: &Schedule, seed: u64) -> Option<Self> {
        let ranks: usize = torus.extents.iter().map(|&extent| extent as usize).product();
        let (directions, parts) = (quotient.directions, parts as usize);
        let all = || (0..ranks as u32).map(RankId);
        let leads = |rank: RankId, direction: usize| {
            torus.neighbor(rank, direction / 2, direction.is_multiple_of(2)).expect("all dimensions are closed").0
        };
        let neighbor = all().flat_map(|rank| (0..directions).map(move |direction| leads(rank, direction))).collect();
        let position = |rank: RankId| -> Vec<usize> {
            (0..torus.extents.len()).map(|dim| torus.position(rank, dim) as usize).collect()
        };
        let first = |rank: &RankId| position(*rank).iter().zip(&quotient.period).all(|(at, part)| at < part);
        let mut this = Self {
            torus,
            ranks,
            neighbor,
            class: all().map(|rank| quotient.class(&position(rank))).collect(),
            parts,
            origins: all().filter(first).collect(),
            template: vec![ROOT; parts * ranks],
            arrivals: Vec::new(),
            open: 0,
            users: vec![Vec::new(); quotient.load.len()],
            quotient,
            rng: Rng::with_seed(seed),
        };
        this.read(pattern);
        this.begin().then_some(this)
    }

    /// The arrivals of a pattern.
    fn read(&mut self, pattern: &Schedule) {
        for step in pattern.steps() {
            for transfer in step.transfers {
                let leads = |&direction: &usize| self.next(transfer.from.index(), direction) == transfer.to.index();
                let direction = (0..self.quotient.directions).find(leads).expect("a pattern moves along links") as u8;
                for &ChunkId(part) in pattern.chunks(transfer) {
                    let arrival = Arrival { direction, step: step.number as u16 - 1 };
                    self.template[part as usize * self.ranks + transfer.to.index()] = arrival;
                }
            }
        }
    }

    /// Translates the template to all representatives, and moves what arrives over dead links.
    fn begin(&mut self) -> bool {
        for origin in self.origins.clone() {
            for part in 0..self.parts {
                let mut tree = vec![ROOT; self.ranks];
                for rank in 0..self.ranks {
                    let moved = self.torus.translated(RankId(rank as u32), origin);
                    tree[moved.index()] = self.template[part * self.ranks + rank];
                }
                self.arrivals.extend(tree);
            }
        }
        let mut queue = VecDeque::new();
        for index in 0..self.arrivals.len() {
            match self.slot(index) {
                Some(slot) if self.quotient.dead[slot / self.quotient.steps] => {
                    self.arrivals[index] = OPEN;
                    queue.push_back(index);
                }
                Some(slot) => self.enter(index, slot),
                None => {}
            }
        }
        self.open = queue.len();
        self.quotient.reprice_all();
        let mut left = MOST_TRIED * self.arrivals.len();
        while let Some(index) = queue.pop_front() {
            if left == 0 || !self.attach(index, &mut queue) {
                return false;
            }
            left -= 1;
        }
        (0..self.arrivals.len()).all(|index| self.is_rooted(index))
    }

    /// Moves arrivals until no slot is overfull, too many were tried, or time is up. Is no slot overfull?
    pub fn run(&mut self, control: &Control) -> bool {
        let is_overfull = |slot: &usize| self.quotient.is_overfull(*slot);
        let mut queue: VecDeque<usize> = (0..self.quotient.load.len()).filter(is_overfull).collect();
        let (mut tried, mut round) = (0, 0);
        while let Some(slot) = queue.pop_front() {
            if round % POLLED == 0 {
                let attempt =
                    format!("{} steps, width {}", self.quotient.steps, self.quotient.widths.iter().sum::<u32>());
                let (round, remaining) = ((round / POLLED) as u64, self.quotient.excess());
                let planner = crate::planners::mended::CompactPlan::PLANNER;
                control.report(Progress { planner, attempt: &attempt, round, remaining });
                if control.stop().is_some() {
                    return false;
                }
            }
            round += 1;
            if tried > MOST_TRIED * self.arrivals.len() {
                return false;
            }
            if self.quotient.is_overfull(slot) {
                tried += self.relieve(slot, &mut queue);
            }
            if self.quotient.is_overfull(slot) {
                queue.push_back(slot);
            }
        }
        self.quotient.excess() == 0
    }

    /// Adds the chunks whose trees are not those of the template; `is_collected`: each backward in time.
    pub fn depart(&self, is_collected: bool, departures: &mut Departures<'_>, chunk: impl Fn(RankId, u32) -> ChunkId) {
        for (number, &origin) in self.origins.iter().enumerate() {
            for part in 0..self.parts {
                let tree = &self.arrivals[(number * self.parts + part) * self.ranks..][..self.ranks];
                let of_template = &self.template[part * self.ranks..][..self.ranks];
                let moved = |rank: usize| self.torus.translated(RankId(rank as u32), origin).index();
                if (0..self.ranks).all(|rank| tree[moved(rank)] == of_template[rank]) {
                    continue;
                }
                let arrived = tree.iter().enumerate().filter(|(_, arrival)| **arrival != ROOT);
                let moves = arrived.map(|(rank, arrival)| {
                    let sender = self.next(rank, usize::from(arrival.direction) ^ 1);
                    let [from, to] = [sender, rank].map(|rank| RankId(rank as u32));
                    let step = usize::from(arrival.step);
                    if is_collected { (self.quotient.steps - 1 - step, to, from) } else { (step, from, to) }
                });
                departures.add(chunk(origin, part as u32), moves);
            }
        }
    }

    fn next(&self, rank: usize, direction: usize) -> usize {
        self.neighbor[rank * self.quotient.directions + direction] as usize
    }

    /// The slot of an arrival; none of a root, or if it is open.
    fn slot(&self, index: usize) -> Option<usize> {
        let arrival = self.arrivals[index];
        let step = usize::from(arrival.step);
        (arrival != ROOT && arrival != OPEN).then(|| self.slot_into(index % self.ranks, arrival.direction, step))
    }

    fn slot_into(&self, rank: usize, direction: u8, step: usize) -> usize {
        let sender = self.next(rank, usize::from(direction) ^ 1);
        (self.class[sender] + usize::from(direction)) * self.quotient.steps + step
    }

    /// The ranks that get the chunk of an arrival from its rank.
    fn depending(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let (tree, rank) = (index - index % self.ranks, index % self.ranks);
        let below = (0..self.quotient.directions).map(move |direction| (direction, tree + self.next(rank, direction)));
        below.filter(|&(direction, other)| usize::from(self.arrivals[other].direction) == direction).map(|one| one.1)
    }

    /// The first step in which a rank can pass a chunk on; `usize::MAX` if the root cannot reach it.
    fn ready(&self, index: usize) -> usize {
        match self.arrivals[index] {
            ROOT => 0,
            _ if self.open > 0 && !self.is_rooted(index) => usize::MAX,
            arrival => usize::from(arrival.step) + 1,
        }
    }

    /// Does a rank get the chunk from the root, by way of no open arrival?
    fn is_rooted(&self, mut index: usize) -> bool {
        let tree = index - index % self.ranks;
        // No way is longer than there are steps.
        for _ in 0..=self.quotient.steps {
            match self.arrivals[index] {
                ROOT => return true,
                OPEN => return false,
                Arrival { direction, .. } => {
                    index = tree + self.next(index % self.ranks, usize::from(direction) ^ 1);
                }
            }
        }
        false
    }

    /// The cheapest arrival before a step, and its price.
    fn cheapest(&mut self, index: usize, before: usize) -> Option<(u32, Arrival)> {
        let (tree, rank, directions) = (index - index % self.ranks, index % self.ranks, self.quotient.directions);
        let turn = self.rng.usize(..directions);
        let mut best: Option<(u32, Arrival)> = None;
        for direction in (0..directions).map(|direction| (direction + turn) % directions) {
            let ready = self.ready(tree + self.next(rank, direction ^ 1));
            let first = self.slot_into(rank, direction as u8, 0);
            if self.quotient.dead[first / self.quotient.steps] {
                continue;
            }
            for step in ready..before {
                let price = self.quotient.price[first + step];
                if best.is_none_or(|best| price < best.0) {
                    best = Some((price, Arrival { direction: direction as u8, step: step as u16 }));
                }
            }
        }
        best
    }

    /// One arrival leaves a slot: the first of some that finds room, or the one whose move costs least.
    fn relieve(&mut self, slot: usize, queue: &mut VecDeque<usize>) -> usize {
        let (mut tried, mut best) = (0, None::<(u32, usize, Arrival)>);
        while tried < TRIED && !self.users[slot].is_empty() {
            let at = self.rng.usize(..self.users[slot].len());
            let index = self.users[slot][at] as usize;
            if self.slot(index) != Some(slot) {
                self.users[slot].swap_remove(at);
                continue;
            }
            tried += 1;
            let first = self.depending(index).map(|other| usize::from(self.arrivals[other].step)).min();
            self.quotient.take(slot);
            let found = self.cheapest(index, first.unwrap_or(self.quotient.steps));
            self.quotient.add(slot);
            let Some((price, arrival)) = found.filter(|(_, arrival)| *arrival != self.arrivals[index]) else {
                continue;
            };
            if best.is_none_or(|best| price < best.0) {
                best = Some((price, index, arrival));
            }
            if price < FULL {
                break;
            }
        }
        self.quotient.remember(slot);
        if let Some((_, index, arrival)) = best {
            self.quotient.take(slot);
            let entered = self.put(index, arrival);
            if self.quotient.is_overfull(entered) {
                queue.push_back(entered);
            }
        }
        tried.max(1)
    }

    fn put(&mut self, index: usize, arrival: Arrival) -> usize {
        self.open -= usize::from(self.arrivals[index] == OPEN);
        self.arrivals[index] = arrival;
        let slot = self.slot(index).expect("it arrives");
        self.quotient.add(slot);
        self.users[slot].push(index as u32);
        slot
    }

    /// Counts an arrival of the template; prices come later.
    fn enter(&mut self, index: usize, slot: usize) {
        self.quotient.load[slot] += 1;
        self.users[slot].push(index as u32);
    }
}
