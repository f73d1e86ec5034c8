//! Open arrivals are closed: earlier, later, or after those that they depend on.

use std::collections::VecDeque;

use super::super::quotient::FULL;
use super::{Arrival, OPEN, Trees};

/// The price of an arrival that has to move, because it depends on a later one.
const LATE: u32 = FULL / 2;
/// Arrivals that are asked to come earlier for another one.
const HASTENED: usize = 4096;

impl Trees<'_> {
    /// Closes an open arrival. What can no longer depend on it opens, and joins the queue. Returns false if it
    /// cannot come in time.
    pub(super) fn attach(&mut self, index: usize, queue: &mut VecDeque<usize>) -> bool {
        let first = self.depending(index).map(|other| usize::from(self.arrivals[other].step)).min();
        let before = first.unwrap_or(self.quotient.steps);
        if self.come_before(index, before) || self.come_late(index, queue) {
            return true;
        }
        let below: Vec<usize> = self.depending(index).collect();
        if below.is_empty() && self.neighbors(index).all(|other| self.is_rooted(other)) {
            let mut left = HASTENED;
            return self.hasten(index, before, &mut left);
        }
        // Neighbors that are open, or depend on it, find other ways first.
        below.into_iter().for_each(|other| self.release(other, queue));
        queue.push_back(index);
        true
    }

    /// The ranks with a live link to that of an arrival.
    fn neighbors(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let (tree, rank) = (index - index % self.ranks, index % self.ranks);
        let is_live = move |&direction: &usize| {
            !self.quotient.dead[self.slot_into(rank, direction as u8, 0) / self.quotient.steps]
        };
        let live = (0..self.quotient.directions).filter(is_live);
        live.map(move |direction| tree + self.next(rank, direction ^ 1))
    }

    /// Closes an open arrival after some that depend on it.
    fn come_late(&mut self, index: usize, queue: &mut VecDeque<usize>) -> bool {
        let (tree, rank, steps) = (index - index % self.ranks, index % self.ranks, self.quotient.steps);
        let below: Vec<(usize, u16)> = self.depending(index).map(|other| (other, self.arrivals[other].step)).collect();
        let mut best: Option<(u32, Arrival)> = None;
        for direction in 0..self.quotient.directions {
            let slot = self.slot_into(rank, direction as u8, 0);
            if self.quotient.dead[slot / steps] {
                continue;
            }
            for step in self.ready(tree + self.next(rank, direction ^ 1))..steps {
                let late = below.iter().filter(|(_, other)| usize::from(*other) <= step).count();
                let price = self.quotient.price[slot + step].saturating_add(LATE.saturating_mul(late as u32));
                if best.is_none_or(|best| price < best.0) {
                    best = Some((price, Arrival { direction: direction as u8, step: step as u16 }));
                }
            }
        }
        let Some((_, arrival)) = best else { return false };
        for (other, _) in below.into_iter().filter(|(_, step)| *step <= arrival.step) {
            self.release(other, queue);
        }
        self.put(index, arrival);
        true
    }

    /// Opens an arrival.
    fn release(&mut self, index: usize, queue: &mut VecDeque<usize>) {
        if let Some(slot) = self.slot(index) {
            self.quotient.take(slot);
            self.arrivals[index] = OPEN;
            self.open += 1;
            queue.push_back(index);
        }
    }

    /// Moves an arrival before a step. Arrivals that it depends on move first where they must, at most `left` in all.
    /// Returns false if that fails.
    fn hasten(&mut self, index: usize, before: usize, left: &mut usize) -> bool {
        if self.is_early(index, before) || self.come_before(index, before) {
            return true;
        }
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let (tree, rank, directions) = (index - index % self.ranks, index % self.ranks, self.quotient.directions);
        let turn = self.rng.usize(..directions);
        for direction in (0..directions).map(|direction| (direction + turn) % directions) {
            let sender = tree + self.next(rank, direction ^ 1);
            let class = self.slot_into(rank, direction as u8, 0) / self.quotient.steps;
            let is_possible = before > 1 && self.slot(sender).is_some() && self.is_rooted(sender);
            if is_possible
                && !self.quotient.dead[class]
                && self.hasten(sender, before - 1, left)
                && (self.is_early(index, before) || self.come_before(index, before))
            {
                return true;
            }
        }
        false
    }

    /// Does a chunk arrive before a step already? Asking others may have moved it; it must not move later, behind those
    /// that depend on it.
    fn is_early(&self, index: usize, before: usize) -> bool {
        self.slot(index).is_some() && usize::from(self.arrivals[index].step) < before
    }

    /// Moves an arrival before a step, if some neighbor has the chunk in time.
    fn come_before(&mut self, index: usize, before: usize) -> bool {
        let Some((_, arrival)) = self.cheapest(index, before) else { return false };
        if let Some(slot) = self.slot(index) {
            self.quotient.take(slot);
        }
        self.put(index, arrival);
        true
    }
}
