//! When every hop of every tree takes its link: list scheduling, forward and backward in turn.
//!
//! A hop up its tree waits for those below it, a hop down for the one above it, and those at the root for all hops up.
//! Backward in time the two change places. Each pass takes the hops of a link in the order in which the pass before it,
//! in the other direction of time, would have had them: what was late forward must be early backward. So idle time
//! gathers at the ends, and what was idle there is filled by the next pass (Li and Willis 1992; Valls, Ballestin and
//! Quintanilla 2005). The first pass takes the trees one after another, which keeps all links busy from the start.

use fastrand::Rng;

use super::hops::Hops;
use super::passes::{Passes, UNIT};
use super::timetable::{Times, Timetable};
use collsynth_bound::divided_trees::{DOWN, UP};

/// Passes of each round, and those of them that are noisier, by up to two units: passes settle, and noise moves them
/// again.
const ROUND: u32 = 8;
const NOISY: u32 = 2;
const NOISIER: u32 = 2 * UNIT;
/// Trees that begin in the time that eight hops take, in the first pass of a round, in turn: passes settle near where
/// they begin.
const TREES_PER_EIGHT_UNITS: [usize; 6] = [32, 4, 16, 64, 8, 24];

/// What a search for a timetable is to do.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    /// The greatest width of a step.
    pub step_width: u32,
    /// The passes to make.
    pub passes: u32,
    /// The total width that ends it early.
    pub enough: u32,
    pub seed: u64,
    pub stop: &'a dyn Fn() -> bool,
    /// Is the first pass made however long it takes?
    pub always: bool,
}

impl Search<'_> {
    /// The best timetable of all passes; `None` if time was up before there was one.
    ///
    /// Of every `turns` trees, the first begin first; `capacity` is that of each link, by its id.
    pub fn run(self, capacity: &[u32], turns: usize, hops: &Hops) -> Option<Timetable> {
        let mut rng = Rng::with_seed(self.seed);
        let mut passes = Passes::new(capacity, hops);
        let mut urgency = [Vec::new(), Vec::new()];
        // Trees with hops up only are those of hops down in mirrored time.
        let mirrored = !hops.ways.contains(&DOWN);
        let mut best: Option<Timetable> = None;
        for number in 0..self.passes.max(1) {
            let noise = if number % ROUND < ROUND - NOISY { UNIT } else { NOISIER };
            if number % ROUND == 0 {
                let round = (number / ROUND) as usize;
                urgency = first_urgency(turns, TREES_PER_EIGHT_UNITS[round % TREES_PER_EIGHT_UNITS.len()], hops);
            }
            let backward = (number % 2 == 1) != mirrored;
            passes.order(&urgency, noise, backward, &mut rng);
            let abandon = || (best.is_some() || !self.always) && (self.stop)();
            let Some(found) = passes.run(self.step_width, backward, &abandon) else { break };
            // What comes last in this direction is most urgent in the other.
            urgency.clone_from(&found.times);
            let found = if backward { found.reversed() } else { found };
            if best.as_ref().is_none_or(|best| found.figures() < best.figures()) {
                best = Some(found);
            }
            if (self.stop)() || best.as_ref().is_some_and(|best| best.width() <= self.enough) {
                break;
            }
        }
        best
    }
}

/// The first trees first; of a tree, the hops with most still to come.
fn first_urgency(turns: usize, rate: usize, hops: &Hops) -> Times {
    let mut urgency: Times = [vec![0; hops.len()], vec![0; hops.len()]];
    let (up, down) = (hops.forest(UP), hops.forest(DOWN));
    for (number, &root) in hops.roots.iter().enumerate() {
        let turn = ((turns - number % turns) * 8 / rate) as u32;
        let tall = u32::from(down.height[root as usize]);
        let places = number * hops.ranks..(number + 1) * hops.ranks;
        let spread = if hops.ways.contains(&DOWN) { DOWN } else { UP };
        for (urgency, depth) in urgency[UP][places.clone()].iter_mut().zip(&up.depth[places.clone()]) {
            *urgency = turn + tall + u32::from(*depth);
        }
        for (urgency, height) in urgency[spread][places.clone()].iter_mut().zip(&down.height[places]) {
            *urgency = turn + u32::from(*height) + 1;
        }
    }
    urgency
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use collsynth_bound::divided_trees::{BOTH, Cables};
    use collsynth_core::topology::Topology;

    use super::super::packing::Packing;
    use super::*;

    /// Every hop goes after those it waits for, and no link carries more than it can, or both ways at once.
    fn check(timetable: &Timetable, hops: &Hops, capacity: &[u32]) {
        let mut load = vec![[0; 2]; capacity.len() * timetable.widths.len()];
        for (hop, way) in hops.iter() {
            let step = timetable.times[way][hop];
            load[hops.link[way][hop] as usize * timetable.widths.len() + step as usize][way] += 1;
            let above = hops.forest(way).above[hop] as usize;
            let is_root = hops.roots.contains(&(above as u32));
            let [first, second] = if way == UP { [hop, above] } else { [above, hop] };
            if !is_root {
                assert!(timetable.times[way][first] < timetable.times[way][second]);
            } else if way == DOWN {
                let up = |&other: &usize| hops.is_hop(other, UP) && hops.forest(UP).above[other] as usize == above;
                let last = (0..hops.len()).filter(up).map(|other| timetable.times[UP][other]).max();
                assert!(last.is_none_or(|last| last < step));
            }
        }
        for (slot, [up, down]) in load.into_iter().enumerate() {
            let (link, step) = (slot / timetable.widths.len(), slot % timetable.widths.len());
            assert!(up + down <= timetable.widths[step] * capacity[link] && (up == 0 || down == 0));
        }
    }

    #[test]
    fn timetables_keep_the_order_of_hops_until_time_is_up() {
        let topology = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let cables = Cables::new(&topology);
        let live: Vec<u32> = topology.live_ranks().map(|rank| rank.0).collect();
        let packing = Packing::grow(&cables, &live, 40, 20, &mut Rng::with_seed(1), &|| false).unwrap();
        let hops = Hops::of_trees(&cables, &packing.trees, BOTH);
        let capacity: Vec<u32> = topology.links().iter().map(|link| link.capacity).collect();
        // `stop` is polled this many times before it turns true.
        let run = |polls: u32, always| {
            let left = Cell::new(polls);
            let stop = || left.replace(left.get().saturating_sub(1)) == 0;
            let search = Search { step_width: 1, passes: 6, enough: 0, seed: 3, stop: &stop, always };
            search.run(&capacity, 40, &hops)
        };
        assert!(run(0, false).is_none());
        let [first, whole] = [run(0, true), run(u32::MAX, false)].map(Option::unwrap);
        let some: Vec<Timetable> = (0..300).step_by(7).filter_map(|polls| run(polls, false)).collect();
        assert!(some.len() > 10);
        for found in [&first, &whole].into_iter().chain(&some) {
            check(found, &hops, &capacity);
            assert!((whole.figures()..=first.figures()).contains(&found.figures()));
        }
    }
}
