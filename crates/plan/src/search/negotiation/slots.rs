//! Slots, their loads and prices.

use std::ops::{Range, RangeInclusive};

use itertools::Itertools;

/// The price of a hop in an empty slot without history.
const HOP_PRICE: u32 = 1;
/// Added to the history of a slot in a round for each chunk over the room.
const HISTORY: u32 = 1;
/// Pressure rises by this factor a round.
const PRESSURE_GROWTH: f64 = 1.1;

/// All slots of a try, `[step * columns + column]`; a column is a link, or a class of links with equal loads.
#[derive(Debug)]
pub(crate) struct Slots {
    capacity: Vec<u32>,
    widths: Vec<u32>,
    room: Vec<u32>,
    used: Vec<u32>,
    history: Vec<u32>,
    price: Vec<u32>,
    pressure: f64,
    most_pressure: f64,
}

impl Slots {
    /// Empty slots of these widths, one per step, and capacities, one per column. Pressure rises from one value to the
    /// other: a high one settles conflicts fast; a low one lets routes cross overfull slots for longer, which resolves
    /// jams.
    pub fn new(widths: Vec<u32>, capacity: Vec<u32>, pressure: RangeInclusive<f64>) -> Self {
        let room: Vec<u32> =
            widths.iter().cartesian_product(&capacity).map(|(width, &c)| width.saturating_mul(c)).collect();
        let mut slots = Self {
            used: vec![0; room.len()],
            history: vec![HOP_PRICE; room.len()],
            price: vec![0; room.len()],
            room,
            capacity,
            widths,
            pressure: *pressure.start(),
            most_pressure: *pressure.end(),
        };
        slots.reprice_all();
        slots
    }

    pub fn columns(&self) -> usize {
        self.capacity.len()
    }

    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    /// The price of one more chunk in each slot.
    pub fn prices(&self) -> &[u32] {
        &self.price
    }

    pub fn add(&mut self, slot: usize) {
        self.used[slot] += 1;
        self.reprice(slot);
    }

    /// As [`Slots::add`], several at once.
    pub fn add_all(&mut self, slot: usize, chunks: u32) {
        self.used[slot] += chunks;
        self.reprice(slot);
    }

    pub fn take(&mut self, slot: usize) {
        self.used[slot] -= 1;
        self.reprice(slot);
    }

    pub fn room(&self, slot: usize) -> u32 {
        self.room[slot]
    }

    /// Chunks over the room of a slot.
    pub fn excess(&self, slot: usize) -> u32 {
        self.used[slot].saturating_sub(self.room[slot])
    }

    pub fn is_overfull(&self, slot: usize) -> bool {
        self.used[slot] > self.room[slot]
    }

    pub fn is_full(&self, slot: usize) -> bool {
        self.used[slot] >= self.room[slot]
    }

    /// Chunks over the room, summed over all slots; 0 when done.
    pub fn overfull(&self) -> u64 {
        self.used.iter().zip(&self.room).map(|(&used, &room)| u64::from(used.saturating_sub(room))).sum()
    }

    /// Chunks that still fit, summed over all slots.
    pub fn free(&self) -> u64 {
        self.used.iter().zip(&self.room).map(|(&used, &room)| u64::from(room.saturating_sub(used))).sum()
    }

    /// Ends a round: overfull slots become more expensive for good, and so does overfilling.
    pub fn raise(&mut self) {
        let pressure = (self.pressure * PRESSURE_GROWTH).min(self.most_pressure);
        let is_higher = pressure > self.pressure;
        self.pressure = pressure;
        for slot in 0..self.price.len() {
            let excess = self.excess(slot);
            self.history[slot] = self.history[slot].saturating_add(excess * HISTORY);
            if is_higher || excess > 0 {
                self.reprice(slot);
            }
        }
    }

    /// Moves one unit of width from the least to the most contended of these steps; not from a step of width 1, nor to
    /// a step narrower than `narrowest`. Contention is history: chunks over the room, summed over the columns and all
    /// rounds.
    pub fn shift_width(&mut self, steps: Range<usize>, narrowest: u32) {
        let columns = self.columns();
        let contention =
            |step: usize| self.history[step * columns..][..columns].iter().map(|&h| u64::from(h)).sum::<u64>();
        let most = steps.clone().filter(|&step| self.widths[step] >= narrowest).max_by_key(|&step| contention(step));
        let least = steps.filter(|&step| self.widths[step] > 1).min_by_key(|&step| contention(step));
        let (Some(most), Some(least)) = (most, least) else { return };
        self.widths[least] -= 1;
        self.widths[most] += 1;
        for step in [most, least] {
            for column in 0..columns {
                let slot = step * columns + column;
                self.room[slot] = self.widths[step].saturating_mul(self.capacity[column]);
                self.reprice(slot);
            }
        }
    }

    /// Widens the step with the most chunks over the room by 1.
    pub fn widen(&mut self) {
        let columns = self.columns();
        let excess =
            |step: usize| (0..columns).map(|column| u64::from(self.excess(step * columns + column))).sum::<u64>();
        let Some(most) = (0..self.widths.len()).max_by_key(|&step| excess(step)) else { return };
        self.widths[most] += 1;
        for column in 0..columns {
            let slot = most * columns + column;
            self.room[slot] = self.widths[most].saturating_mul(self.capacity[column]);
            self.reprice(slot);
        }
    }

    /// Gives the steps other widths.
    pub fn set_widths(&mut self, widths: Vec<u32>) {
        self.widths = widths;
        let columns = self.columns();
        for slot in 0..self.room.len() {
            self.room[slot] = self.widths[slot / columns].saturating_mul(self.capacity[slot % columns]);
            self.reprice(slot);
        }
    }

    /// Makes every step as wide as its load needs, and at least 1.
    pub fn fit_widths(&mut self) {
        let columns = self.columns();
        for (step, width) in self.widths.iter_mut().enumerate() {
            let used = &self.used[step * columns..][..columns];
            let needed = used.iter().zip(&self.capacity).map(|(used, &capacity)| used.div_ceil(capacity)).max();
            *width = needed.unwrap_or(0).max(1);
        }
    }

    fn reprice(&mut self, slot: usize) {
        let over = (self.used[slot] + 1).saturating_sub(self.room[slot]);
        self.price[slot] = self.history[slot].saturating_add(over.saturating_mul(self.pressure as u32));
    }

    fn reprice_all(&mut self) {
        for slot in 0..self.price.len() {
            self.reprice(slot);
        }
    }
}
