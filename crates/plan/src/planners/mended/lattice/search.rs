//! The cheapest path of a message in moves made and time.
//!
//! A state is how many hops of a way were made in each direction, and the step; waiting is free. The states of a way
//! are a box of counts. Of each, the best costs after its hops and 0, 1, 2, ... waits are kept side by side: the inner
//! loop runs over waits, which are neighbors in memory, and so are the prices of a class by step. States that cannot
//! come below the best price so far are not continued.

use fastrand::Rng;

use super::quotient::{FREE, Quotient, WAIT};
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
    /// By state: is it below the limit?
    is_open: Vec<bool>,
}

impl Search {
    /// The cheapest path along one of these ways, among equals at random; its price, or [`NONE`] if none is below a
    /// limit.
    pub fn cheapest(
        &mut self,
        q: &Quotient,
        origin: &[usize],
        ways: &[Way],
        limit: u32,
        rng: &mut Rng,
        path: &mut [u8],
    ) -> u32 {
        let mut least = limit;
        let turn = rng.usize(..ways.len().max(1));
        for at in 0..ways.len() {
            let way = &ways[(at + turn) % ways.len()];
            if let Some(price) = self.along(q, origin, way, least, rng, path) {
                least = price;
            }
        }
        if least < limit { least } else { NONE }
    }

    /// The cheapest order and times of the hops of a way, and their price if that is below a limit.
    fn along(
        &mut self,
        q: &Quotient,
        origin: &[usize],
        way: &Way,
        limit: u32,
        rng: &mut Rng,
        path: &mut [u8],
    ) -> Option<u32> {
        let length: usize = way.iter().map(|hops| hops.1).sum();
        if length > q.steps || way.len() > MOST {
            return None;
        }
        let waits = q.steps - length + 1;
        let mut counts = Counts::new(q, origin, way);
        let states = counts.states;
        // What is left of another search is overwritten before it is read.
        self.best.resize(self.best.len().max(states * waits), NONE);
        self.hops.clear();
        self.class.clear();
        self.is_open.clear();
        for state in 0..states {
            self.hops.push(counts.made);
            self.class.push(q.class_within(counts.at.into_iter()));
            let (before, here) = self.best.split_at_mut(state * waits);
            let here = &mut here[..waits];
            if state == 0 {
                here.fill(0);
            } else {
                let mut arriving = [(&before[..0], &before[..0]); MOST];
                let mut hops = 0;
                for (index, &(direction, _)) in way.iter().enumerate().filter(|(index, _)| counts.count[*index] > 0) {
                    let from = state - counts.strides[index];
                    let class = self.class[from] + direction;
                    if !q.dead[class] && self.is_open[from] {
                        let prices = &q.price[class * q.steps + counts.made - 1..][..waits];
                        arriving[hops] = (&before[from * waits..][..waits], prices);
                        hops += 1;
                    }
                }
                arrive(here, &arriving[..hops]);
            }
            // The last is the least. Each hop that is left costs something too.
            self.is_open.push(here[waits - 1].saturating_add((length - counts.made) as u32 * FREE) < limit);
            counts.advance(q, way);
        }
        let price = self.best[states * waits - 1];
        let is_below = price < limit;
        if is_below {
            self.trace(q, way, &counts.strides, waits, rng, path);
        }
        is_below.then_some(price)
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
                    !q.dead[class]
                        && self.is_open[from]
                        && self.best[from * waits + wait] + q.price[class * q.steps + step] == here
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

/// The least prices here after any wait: of the best hop that ends then or earlier. A hop has the prices before it and
/// its own.
fn arrive(here: &mut [u32], hops: &[(&[u32], &[u32])]) {
    let waits = here.len();
    // One pass for each number of hops: most states have three or fewer.
    match *hops {
        [] => here.fill(NONE),
        [(from, price)] => earliest(here, |wait| from[..waits][wait] + price[..waits][wait]),
        [a, b] => {
            let [(a, of_a), (b, of_b)] = [a, b].map(|(from, price)| (&from[..waits], &price[..waits]));
            earliest(here, |wait| (a[wait] + of_a[wait]).min(b[wait] + of_b[wait]));
        }
        [a, b, c, ref others @ ..] => {
            let [(a, of_a), (b, of_b), (c, of_c)] = [a, b, c].map(|(from, price)| (&from[..waits], &price[..waits]));
            earliest(here, |wait| (a[wait] + of_a[wait]).min(b[wait] + of_b[wait]).min(c[wait] + of_c[wait]));
            for (from, price) in others {
                let mut least = NONE;
                for wait in 0..waits {
                    least = least.min(from[wait] + price[wait]);
                    here[wait] = here[wait].min(least);
                }
            }
        }
    }
}

/// The least of these prices up to each wait.
#[inline(always)]
fn earliest(here: &mut [u32], price: impl Fn(usize) -> u32) {
    let mut least = NONE;
    for (wait, here) in here.iter_mut().enumerate() {
        least = least.min(price(wait));
        *here = least;
    }
}

/// The states of a way, one after another: hops made in each of its directions, and the place these lead to.
struct Counts {
    count: [usize; MOST],
    strides: [usize; MOST],
    /// In all directions.
    made: usize,
    /// By dimension, within the cell.
    at: [usize; MOST],
    states: usize,
}

impl Counts {
    fn new(q: &Quotient, origin: &[usize], way: &Way) -> Self {
        let mut strides = [0; MOST];
        let mut states = 1;
        for (stride, hops) in strides.iter_mut().zip(way) {
            *stride = states;
            states *= hops.1 + 1;
        }
        let mut at = [0; MOST];
        for ((at, &origin), part) in at.iter_mut().zip(origin).zip(&q.period) {
            *at = origin % part;
        }
        Self { count: [0; MOST], strides, made: 0, at, states }
    }

    /// To the next state, or back to the first.
    fn advance(&mut self, q: &Quotient, way: &Way) {
        for (count, &(direction, hops)) in self.count.iter_mut().zip(way) {
            let (at, part) = (&mut self.at[direction / 2], q.period[direction / 2]);
            let is_up = direction.is_multiple_of(2);
            if *count < hops {
                *count += 1;
                self.made += 1;
                *at = if is_up { *at + 1 } else { *at + part - 1 };
                *at -= if *at >= part { part } else { 0 };
                return;
            }
            *count = 0;
            self.made -= hops;
            *at = (if is_up { *at + part - hops % part } else { *at + hops }) % part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::topology::Topology;

    const STEPS: usize = 6;

    /// Every path along a way, by trying all.
    fn paths(way: &Way) -> Vec<Vec<u8>> {
        let mut paths = vec![Vec::new()];
        for _ in 0..STEPS {
            let hops = way.iter().map(|&(direction, _)| direction as u8).chain([WAIT]);
            paths = hops.flat_map(|hop| paths.iter().map(move |path| [&path[..], &[hop]].concat())).collect();
        }
        let is_whole = |path: &Vec<u8>| {
            let made = |direction: usize| path.iter().filter(|&&hop| usize::from(hop) == direction).count();
            way.iter().all(|&(direction, hops)| made(direction) == hops)
        };
        paths.into_iter().filter(is_whole).collect()
    }

    #[test]
    fn no_path_is_cheaper() {
        let machine = Topology::torus(&[6, 6, 6]).expect("a torus");
        let ways: [Way; 4] = [
            vec![(0, 2), (3, 1)],
            vec![(1, 1), (2, 1), (5, 2)],
            vec![(0, 1), (2, 2), (1, 1)],
            vec![(0, 1), (3, 1), (4, 1), (5, 1)],
        ];
        let mut rng = Rng::with_seed(7);
        let (mut search, mut path) = (Search::default(), [WAIT; STEPS]);
        let mut found = 0;
        for round in 0..200 {
            let mut q = Quotient::new(&machine, &[2, 3, 2], vec![1; STEPS]);
            q.price.iter_mut().for_each(|price| *price = FREE + rng.u32(..100));
            q.dead.iter_mut().for_each(|dead| *dead = rng.u32(..4) == 0);
            let (origin, ways) = (q.position(rng.usize(..q.cell())), &ways[..1 + round % ways.len()]);
            let price = |q: &Quotient, path: &[u8]| {
                let (mut price, mut is_dead) = (0, false);
                q.walk(&origin, path, |slot| {
                    price += q.price[slot];
                    is_dead |= q.dead[slot / STEPS];
                });
                if is_dead { NONE } else { price }
            };
            let least = ways.iter().flat_map(paths).map(|path| price(&q, &path)).min().expect("there are paths");
            let mut cheapest = |limit| search.cheapest(&q, &origin, ways, limit, &mut rng, &mut path);
            assert_eq!(cheapest(NONE), least);
            assert_eq!(cheapest(least), NONE);
            if least < NONE {
                assert_eq!(cheapest(least + 1), least);
                assert_eq!(price(&q, &path), least);
                found += 1;
            }
        }
        assert!((100..200).contains(&found), "{found} of 200");
    }
}
