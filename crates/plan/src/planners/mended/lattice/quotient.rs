//! The quotient: loads and prices of every class of links in every step.

use collsynth_core::topology::{Topology, Torus};

/// While loads are leveled: the price of a unit more in a class than in others, and in a step than in others; and the
/// most units that count, so that prices of 64 hops stay below 2^31.
pub(super) const UNIT_OF_CLASS: u32 = 1024;
const UNIT_OF_STEP: u32 = 64;
const MOST_UNITS: i64 = 4096;
/// The price of a hop where there is room.
pub(super) const FREE: u32 = 16;
/// More for it as a slot fills up, so that loads grow evenly.
const CROWDED: u32 = 8;
/// More beyond the width, and for each unit beyond it; and the most of the latter.
pub(super) const FULL: u32 = 1 << 16;
const BEYOND: u32 = 256;
const MOST_BEYOND: u32 = 1 << 20;
/// More for links that have no room to spare for detours.
pub(super) const TOLL: u32 = FULL / 4 * 3;
/// More each time a slot was found overfull, and the most of it. Prices of 64 hops stay below 2^31.
const ONCE_MORE: u32 = 512;
const MOST_HISTORY: u32 = 1 << 22;

/// A hop in no direction: the message waits.
pub(super) const WAIT: u8 = u8::MAX;

/// Loads of classes of links in steps. A class is `representative * directions + direction`, a slot
/// `class * steps + step`; directions are `2 * dimension`, and one more for down.
pub(super) struct Quotient {
    pub period: Vec<usize>,
    strides: Vec<usize>,
    pub directions: usize,
    pub steps: usize,
    pub widths: Vec<u32>,
    /// All of them together.
    width: u32,
    /// By direction.
    capacity: Vec<u32>,
    pub dead: Vec<bool>,
    pub load: Vec<u32>,
    pub price: Vec<u32>,
    toll: Vec<u32>,
    history: Vec<u32>,
    /// While loads are leveled, those of classes in all steps.
    totals: Option<Vec<u32>>,
}

impl Quotient {
    /// Without any load.
    pub fn new(machine: &Topology, period: &[u32], widths: Vec<u32>) -> Self {
        let torus = machine.as_torus().expect("asked before");
        let period: Vec<usize> = period.iter().map(|&part| part as usize).collect();
        let strides = (0..period.len()).map(|dim| period[..dim].iter().product()).collect();
        let directions = 2 * period.len();
        let classes = period.iter().product::<usize>() * directions;
        let steps = widths.len();
        let mut quotient = Self {
            period,
            strides,
            directions,
            steps,
            width: widths.iter().sum(),
            widths,
            capacity: torus.capacity.iter().flat_map(|&capacity| [capacity; 2]).collect(),
            dead: vec![false; classes],
            load: vec![0; classes * steps],
            price: vec![0; classes * steps],
            toll: vec![0; classes],
            history: vec![0; classes * steps],
            totals: None,
        };
        for link in machine.links().iter().filter(|link| !link.alive) {
            let way = link.direction.expect("links of a torus have directions");
            let at: Vec<usize> =
                (0..quotient.period.len()).map(|dim| torus.position(link.from, dim) as usize).collect();
            let class = quotient.class(&at) + 2 * usize::from(way.dim) + usize::from(!way.positive);
            quotient.dead[class] = true;
        }
        quotient.reprice_all();
        quotient
    }

    /// The class of the first direction from a position, which may be beyond the cell.
    pub fn class(&self, at: &[usize]) -> usize {
        self.class_within(at.iter().zip(&self.period).map(|(at, part)| at % part))
    }

    /// The class of the first direction from a position of the cell.
    pub fn class_within(&self, at: impl Iterator<Item = usize>) -> usize {
        at.zip(&self.strides).map(|(at, stride)| at * stride).sum::<usize>() * self.directions
    }

    /// The position of a representative.
    pub fn position(&self, representative: usize) -> Vec<usize> {
        self.period.iter().zip(&self.strides).map(|(part, stride)| representative / stride % part).collect()
    }

    /// The number of representatives.
    pub fn cell(&self) -> usize {
        self.period.iter().product()
    }

    /// The slots of a path from a position, in order; a path has a direction, or [`WAIT`], for each step.
    pub fn walk(&self, origin: &[usize], path: &[u8], mut visit: impl FnMut(usize)) {
        let mut at = origin.to_vec();
        for (step, &direction) in path.iter().enumerate().filter(|(_, direction)| **direction != WAIT) {
            visit((self.class(&at) + usize::from(direction)) * self.steps + step);
            let dim = usize::from(direction) / 2;
            at[dim] = (at[dim] + if direction.is_multiple_of(2) { 1 } else { self.period[dim] - 1 }) % self.period[dim];
        }
    }

    /// What a slot may carry.
    pub fn room(&self, slot: usize) -> u32 {
        let class = slot / self.steps;
        if self.dead[class] { 0 } else { self.widths[slot % self.steps] * self.capacity[class % self.directions] }
    }

    pub fn is_overfull(&self, slot: usize) -> bool {
        self.load[slot] > self.room(slot)
    }

    pub fn add(&mut self, slot: usize) {
        self.change(slot, |load| *load += 1);
    }

    pub fn take(&mut self, slot: usize) {
        self.change(slot, |load| *load -= 1);
    }

    /// Prices that make loads even, of classes first, then of their steps; or else prices that make them fit.
    pub fn level(&mut self, are_leveled: bool) {
        let total = |loads: &[u32]| loads.iter().sum();
        self.totals = are_leveled.then(|| self.load.chunks(self.steps).map(total).collect());
        self.reprice_all();
    }

    /// A slot was found overfull.
    pub fn remember(&mut self, slot: usize) {
        self.history[slot] = (self.history[slot] + ONCE_MORE).min(MOST_HISTORY);
    }

    /// Puts the toll on the links of a class.
    pub fn charge(&mut self, class: usize) {
        self.toll[class] = TOLL;
    }

    /// Prices anew, after widths or tolls changed.
    pub fn reprice_all(&mut self) {
        (0..self.load.len()).for_each(|slot| self.reprice(slot));
    }

    /// What exceeds the room of slots.
    pub fn excess(&self) -> u64 {
        (0..self.load.len()).map(|slot| u64::from(self.load[slot].saturating_sub(self.room(slot)))).sum()
    }

    /// Other widths.
    pub fn resize(&mut self, widths: Vec<u32>) {
        self.width = widths.iter().sum();
        self.widths = widths;
        self.reprice_all();
    }

    /// The widths, or more where the loads need it.
    pub fn fitting_widths(&self) -> Vec<u32> {
        let mut widths = self.widths.clone();
        for (slot, &load) in self.load.iter().enumerate() {
            let capacity = self.capacity[slot / self.steps % self.directions];
            let width = &mut widths[slot % self.steps];
            *width = load.div_ceil(capacity).max(*width);
        }
        widths
    }

    fn change(&mut self, slot: usize, change: impl Fn(&mut u32)) {
        change(&mut self.load[slot]);
        if let Some(totals) = &mut self.totals {
            let class = slot / self.steps;
            let before = totals[class];
            change(&mut totals[class]);
            let after = totals[class];
            let (before, after) = (self.price_of_class(class, before), self.price_of_class(class, after));
            for price in &mut self.price[class * self.steps..][..self.steps] {
                *price = *price - before + after;
            }
        }
        self.reprice(slot);
    }

    fn reprice(&mut self, slot: usize) {
        let (class, load) = (slot / self.steps, self.load[slot]);
        if let Some(totals) = &self.totals {
            let of_step = self.units_beyond(class, load, self.widths[slot % self.steps]) * UNIT_OF_STEP;
            self.price[slot] = FREE + self.price_of_class(class, totals[class]) + of_step;
            return;
        }
        let (room, toll) = (self.room(slot), self.toll[class]);
        self.price[slot] = FREE
            + toll
            + match load.checked_sub(room) {
                Some(beyond) => FULL + beyond.saturating_mul(BEYOND).min(MOST_BEYOND) + self.history[slot],
                None => load * CROWDED / room,
            };
    }

    /// What each hop in a class costs for its load in all steps.
    fn price_of_class(&self, class: usize, total: u32) -> u32 {
        self.units_beyond(class, total, self.width) * UNIT_OF_CLASS
    }

    /// How far a load exceeds a width, from far below it.
    fn units_beyond(&self, class: usize, load: u32, width: u32) -> u32 {
        let units = i64::from(load / self.capacity[class % self.directions]) - i64::from(width);
        (units.clamp(-MOST_UNITS, MOST_UNITS) + MOST_UNITS) as u32
    }
}

/// The number of positions of each dimension.
pub(super) fn extents(torus: &Torus) -> Vec<usize> {
    torus.extents.iter().map(|&extent| extent as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_follow_loads() {
        let machine = Topology::torus(&[8, 8]).expect("a torus");
        let mut quotient = Quotient::new(&machine, &[4, 4], vec![3, 2, 3]);
        for are_leveled in [false, true] {
            quotient.level(are_leveled);
            for change in 0..2000 {
                let slot = change * 37 % quotient.load.len();
                if change % 3 == 2 && quotient.load[slot] > 0 { quotient.take(slot) } else { quotient.add(slot) }
            }
            let prices = quotient.price.clone();
            quotient.reprice_all();
            assert!(prices == quotient.price && prices.iter().any(|&price| price != prices[0]));
        }
    }
}
