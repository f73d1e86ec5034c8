//! The cheapest path of a message in moves made and time.
//!
//! A state is how many hops of a way were made in each direction, and the step; waiting is free. The states of a way
//! are a box of counts. Of each, the best costs after its hops and 0, 1, 2, ... waits are kept side by side: the inner
//! loop runs over waits, which are neighbors in memory, and so are the prices of a class by step.

use fastrand::Rng;

use super::quotient::{Quotient, WAIT};
use super::ways::Way;

/// No path: more than all prices of one.
pub(super) const NONE: u32 = 1 << 31;
/// The most directions of a way: a detour has one more than dimensions.
const MOST: usize = 5;

/// Memory that is kept between searches.
#[derive(Default)]
pub(super) struct Search {
    /// `[state * waits + wait]`
    best: Vec<u32>,
    hops: Vec<usize>,
    class: Vec<usize>,
    candidate: Vec<u8>,
}

impl Search {
    /// The cheapest path along one of these ways, among equals at random; its price, or [`NONE`].
    pub fn cheapest(&mut self, q: &Quotient, origin: &[usize], ways: &[Way], rng: &mut Rng, path: &mut [u8]) -> u32 {
        let mut least = NONE;
        let turn = rng.usize(..ways.len().max(1));
        for at in 0..ways.len() {
            let mut candidate = std::mem::take(&mut self.candidate);
            candidate.resize(q.steps, WAIT);
            let price = self.along(q, origin, &ways[(at + turn) % ways.len()], rng, &mut candidate);
            if price < least {
                least = price;
                path.copy_from_slice(&candidate);
            }
            self.candidate = candidate;
        }
        least
    }

    /// The cheapest order and times of the hops of a way.
    fn along(&mut self, q: &Quotient, origin: &[usize], way: &Way, rng: &mut Rng, path: &mut [u8]) -> u32 {
        let length: usize = way.iter().map(|hops| hops.1).sum();
        if length > q.steps || way.len() > MOST {
            return NONE;
        }
        let waits = q.steps - length + 1;
        let mut strides = [0; MOST];
        let mut states = 1;
        for (stride, hops) in strides.iter_mut().zip(way) {
            *stride = states;
            states *= hops.1 + 1;
        }
        self.best.clear();
        self.best.resize(states * waits, NONE);
        self.hops.clear();
        self.class.clear();
        let mut count = [0; MOST];
        for state in 0..states {
            let made: usize = count.iter().sum();
            self.hops.push(made);
            self.class.push(class_at(q, origin, way, &count));
            let (before, here) = self.best.split_at_mut(state * waits);
            let here = &mut here[..waits];
            if state == 0 {
                here.fill(0);
            }
            for (index, &(direction, _)) in way.iter().enumerate().filter(|(index, _)| count[*index] > 0) {
                let from = state - strides[index];
                let class = self.class[from] + direction;
                if !q.dead[class] {
                    let prices = &q.price[class * q.steps + made - 1..][..waits];
                    let from = &before[from * waits..][..waits];
                    for ((here, from), price) in here.iter_mut().zip(from).zip(prices) {
                        *here = (*here).min(from + price);
                    }
                }
            }
            for wait in 1..waits {
                here[wait] = here[wait].min(here[wait - 1]);
            }
            for (count, hops) in count.iter_mut().zip(way) {
                *count += 1;
                if *count <= hops.1 {
                    break;
                }
                *count = 0;
            }
        }
        let price = self.best[states * waits - 1];
        if price < NONE {
            self.trace(q, way, &strides, waits, rng, path);
        }
        price
    }

    /// Back from the end.
    fn trace(&self, q: &Quotient, way: &Way, strides: &[usize], waits: usize, rng: &mut Rng, path: &mut [u8]) {
        path.fill(WAIT);
        let (mut state, mut wait) = (self.hops.len() - 1, waits - 1);
        while state > 0 {
            let here = self.best[state * waits + wait];
            let can_wait = wait > 0 && self.best[state * waits + wait - 1] == here;
            if can_wait && rng.bool() {
                wait -= 1;
                continue;
            }
            let step = self.hops[state] - 1 + wait;
            let turn = rng.usize(..way.len());
            let came = (0..way.len()).map(|index| (index + turn) % way.len()).find(|&index| {
                let (direction, hops) = way[index];
                let is_made = !(state / strides[index]).is_multiple_of(hops + 1);
                is_made && {
                    let from = state - strides[index];
                    let class = self.class[from] + direction;
                    !q.dead[class] && self.best[from * waits + wait] + q.price[class * q.steps + step] == here
                }
            });
            match came {
                Some(index) => {
                    path[step] = way[index].0 as u8;
                    state -= strides[index];
                }
                None => wait -= 1,
            }
        }
    }
}

fn class_at(q: &Quotient, origin: &[usize], way: &Way, count: &[usize]) -> usize {
    let mut at = [0; MOST];
    at[..origin.len()].copy_from_slice(origin);
    for (&(direction, _), &count) in way.iter().zip(count) {
        let (dim, part) = (direction / 2, q.period[direction / 2]);
        at[dim] += if direction.is_multiple_of(2) { count } else { part - count % part };
    }
    q.class(&at[..origin.len()])
}
