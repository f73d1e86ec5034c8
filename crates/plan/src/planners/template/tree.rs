//! The template of an all_gather: trees from rank 0 to all offsets, one for each part.
//!
//! An offset is reached once, in one direction, from an offset reached in an earlier step; in a step, each direction
//! takes as many offsets as its width and capacity allow. So this is a shop again: offsets are unit jobs that any of
//! several machines can do, and each waits for one of its neighbors. Steps are filled one after another:
//!
//! ```text
//!   reached o o o . . . .       every other offset has a nearest reached one; the one with the longest chain behind it
//!                 ^ 4 left       goes first, for it must advance in this step or be late
//! ```
//!
//! * **Order**: the job with the longest chain behind it goes first, as in Hu (Operations Research 9, 1961). Here the
//!   chains are shortest paths from the reached offsets, recomputed in every step.
//! * **Directions** are assigned by augmenting paths (Koenig), to the offsets in that order: of all sets of offsets
//!   that fit in the step, this finds the first.
//! * **Widths** are as even as the first steps allow, when few offsets are near: a step is narrower if it would leave
//!   more of its room empty than the total width can spare.
//!
//! Ties are broken at random. If a try fails, further tries of the same total width follow, then larger widths.

use std::ops::RangeInclusive;

use fastrand::Rng;
use itertools::Itertools;

use super::offsets::{block_parts, directions, link_towards};
use crate::model::moves::Moves;
use crate::model::task::Task;
use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{Direction, RankId, Topology, Torus};

/// Tries of a total width.
const TRIES: u32 = 16;
/// Tries within stated widths for each load, and the loads: percent above an even share.
const TRIES_WITHIN: u32 = 4;
const LOADS: [u64; 5] = [0, 1, 3, 8, 20];
/// Steps beyond the diameter to try if the diameter misses the least volume: with doubled cables, two of which lead to
/// the same rank, the first steps have too little to do.
const MORE_STEPS: u32 = 2;

/// The most steps to try for a task, if this many are enough.
pub(crate) fn most_steps(task: &Task<'_>, steps: u32) -> u32 {
    task.steps.or(task.max_steps).unwrap_or(u32::MAX).min(steps + MORE_STEPS)
}

/// Trees of rank 0, hop by hop.
pub(crate) struct TemplateTrees {
    widths: Vec<u32>,
    blocks: Vec<Block>,
}

/// The trees of some parts: `copies` times the parts `0..parts`.
struct Block {
    parts: u32,
    copies: u32,
    hops: Vec<Hop>,
}

struct Hop {
    part: u32,
    from: RankId,
    direction: Direction,
    step: u32,
}

impl TemplateTrees {
    /// The trees of least total width, or of least time if it has a price, in one of these numbers of steps; `None` if
    /// all are less than the diameter.
    pub fn narrowest(task: &Task<'_>, torus: &Torus, steps: RangeInclusive<u32>) -> Option<Self> {
        let parts = task.problem.parts();
        let cost = |trees: &Self| -> (f64, u32) {
            let (steps, width) = (trees.widths.len(), trees.widths.iter().sum::<u32>());
            let volume = f64::from(width) / f64::from(parts);
            (task.price.map_or(volume, |price| price.seconds_for(steps, volume)), width)
        };
        let mut best: Option<Self> = None;
        for steps in steps {
            let trees = Self::new(task, torus, steps)?;
            if best.as_ref().is_none_or(|best| cost(&trees) < cost(best)) {
                best = Some(trees);
            }
            if best.as_ref().is_some_and(|best| cost(best).1 <= task.bounds.least_width(parts)) {
                break;
            }
        }
        best
    }

    /// Grows the trees in this number of steps; `None` if it is less than the diameter.
    fn new(task: &Task<'_>, torus: &Torus, steps: u32) -> Option<Self> {
        let parts = task.problem.parts();
        let offsets = Offsets::new(torus);
        let room: u32 = offsets.capacity.iter().sum();
        // Multiples of this number of parts fill the room of whole steps.
        let whole = room / num_integer::gcd(room, offsets.ranks - 1).max(1);
        let (block, copies) = block_parts(Some(whole.max(1)), parts, offsets.ranks);
        let mut this = Self { widths: vec![0; steps as usize], blocks: Vec::new() };
        for (parts, copies) in [(block, copies), (parts - block * copies, 1)] {
            if parts > 0 {
                let (widths, hops) = offsets.grow(parts, steps, task)?;
                for (total, width) in this.widths.iter_mut().zip(widths) {
                    *total = width.checked_mul(copies)?.checked_add(*total)?;
                }
                this.blocks.push(Block { parts, copies, hops });
            }
        }
        Some(this)
    }

    /// Trees that load all directions evenly, and in each step take about their share of these widths: what is wider
    /// than they need stays free all along. `None` if none are found.
    pub fn within(torus: &Torus, parts: u32, widths: &[u32], seed: u64) -> Option<Self> {
        let offsets = Offsets::new(torus);
        let shares = LOADS.iter().enumerate();
        let hops = shares.cartesian_product(0..TRIES_WITHIN).find_map(|((load, &more), number)| {
            let number = load as u64 * u64::from(TRIES_WITHIN) + u64::from(number);
            let rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number));
            offsets.attempt_within(parts, widths, more, rng)
        })?;
        Some(Self { widths: widths.to_vec(), blocks: vec![Block { parts, copies: 1, hops }] })
    }

    /// Translates the trees to every rank; backward in time, with sums in place of copies, if they collect.
    pub fn translate(&self, topology: &Topology, parts: u32, collected: bool) -> Schedule {
        self.of_ranks(topology, parts, collected, topology.rank_count() as u32)
    }

    /// The trees of rank 0 alone.
    pub fn pattern(&self, topology: &Topology, parts: u32, collected: bool) -> Schedule {
        self.of_ranks(topology, parts, collected, 1)
    }

    fn of_ranks(&self, topology: &Topology, parts: u32, collected: bool, ranks: u32) -> Schedule {
        let torus = topology.as_torus().expect("templates are of tori");
        let op = if collected { Op::Reduce } else { Op::Copy };
        let mut moves = Moves::new(self.widths.len());
        let mut first = 0;
        for block in &self.blocks {
            let origins = (0..ranks).map(RankId);
            for (hop, origin) in block.hops.iter().cartesian_product(origins) {
                let link = link_towards(topology, torus.translated(origin, hop.from), hop.direction);
                let back = || topology.opposite(link).expect("a cable has two links");
                let chunk = |copy: u32| ChunkId(origin.0 * parts + first + copy * block.parts + hop.part);
                let link = if collected { back() } else { link };
                moves.add(hop.step as usize, link, op, (0..block.copies).map(chunk));
            }
            first += block.parts * block.copies;
        }
        let mut widths = self.widths.clone();
        if collected {
            moves.reverse();
            widths.reverse();
        }
        moves.write(topology, |step, _| Some(widths[step]))
    }
}

struct Offsets {
    ranks: u32,
    directions: Vec<Direction>,
    capacity: Vec<u32>,
    /// The neighbors that direction `d` comes from and leads to, `[offset * directions + d]`.
    from: Vec<u32>,
    to: Vec<u32>,
}

/// An offset that a part can reach in a step.
struct Candidate {
    part: u32,
    offset: u32,
    /// The longest chain that waits for it, itself included.
    chain: u32,
    /// The directions it can be reached in, as bits.
    directions: u64,
}

/// Widths of the steps, and the hops of all trees.
type Grown = (Vec<u32>, Vec<Hop>);

impl Offsets {
    fn new(torus: &Torus) -> Self {
        let directions = directions(torus);
        let ranks: u32 = torus.extents.iter().product();
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for offset in (0..ranks).map(RankId) {
            for direction in &directions {
                let dim = usize::from(direction.dim);
                // The single cable of an extent of 2 leads to the other position in either direction.
                let there = |up: bool| torus.neighbor(offset, dim, up).or_else(|| torus.neighbor(offset, dim, !up));
                to.extend(there(direction.positive).map(|rank| rank.0));
                from.extend(there(!direction.positive).map(|rank| rank.0));
            }
        }
        let capacity = directions.iter().map(|direction| torus.capacity[usize::from(direction.dim)]).collect();
        Self { ranks, directions, capacity, from, to }
    }

    fn of<'a>(&self, neighbors: &'a [u32], offset: u32) -> &'a [u32] {
        let count = self.directions.len();
        &neighbors[offset as usize * count..][..count]
    }

    /// Trees of this number of parts, in the least total width found.
    fn grow(&self, parts: u32, steps: u32, task: &Task<'_>) -> Option<Grown> {
        let bound =
            task.bounds.volume.as_ref().map_or(0, |bound| (bound.at_least * i128::from(parts)).ceil().to_integer());
        let hops = u64::from(parts) * u64::from(self.ranks - 1);
        let room = self.capacity.iter().map(|&capacity| u64::from(capacity)).sum::<u64>().max(1);
        let least = u32::try_from(bound).ok()?.max(u32::try_from(hops.div_ceil(room)).ok()?).max(steps);
        let mut more = 0;
        while more <= least.saturating_mul(self.ranks) {
            for number in 0..TRIES {
                let seed = task.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(number));
                if let Some(grown) = self.attempt(parts, steps, least + more, Rng::with_seed(seed)) {
                    return Some(grown);
                }
            }
            more = (2 * more).max(1);
        }
        None
    }

    fn attempt(&self, parts: u32, steps: u32, width: u32, mut rng: Rng) -> Option<Grown> {
        let total = |width: u32| self.capacity.iter().map(|&c| u64::from(c) * u64::from(width)).sum::<u64>();
        let (mut left, mut width_left) = (u64::from(parts) * u64::from(self.ranks - 1), width);
        let (mut widths, mut grown) = (Vec::new(), Vec::new());
        let mut reached = vec![false; (parts * self.ranks) as usize];
        (0..parts).for_each(|part| reached[(part * self.ranks) as usize] = true);
        for step in 0..steps {
            let after = steps - 1 - step;
            let candidates = self.sorted_candidates(&reached, parts, &mut rng);
            if candidates.first().is_some_and(|first| first.chain > after + 1) {
                return None;
            }
            let most = width_left.checked_sub(after)?;
            let mut width = width_left.div_ceil(after + 1).min(most);
            let chosen = loop {
                let room: Vec<usize> = self.capacity.iter().map(|&c| c as usize * width as usize).collect();
                let chosen = fill(&candidates, &room);
                let spare = (total(width_left) + chosen.len() as u64).checked_sub(left + total(width));
                // The rest must fit in the steps after this one.
                if spare.is_some() {
                    break chosen;
                }
                width = Some(width - 1).filter(|&width| width > 0)?;
            };
            for &(candidate, direction) in &chosen {
                grown.push(self.hop(&candidates[candidate], direction, step, &mut reached));
            }
            (left, width_left) = (left - chosen.len() as u64, width_left - width);
            widths.push(width);
        }
        (left == 0).then_some((widths, grown))
    }

    /// Hops within these widths, with a load on each direction that is a share and so many percent of it.
    fn attempt_within(&self, parts: u32, widths: &[u32], more: u64, mut rng: Rng) -> Option<Vec<Hop>> {
        let mut left = u64::from(parts) * u64::from(self.ranks - 1);
        let (room, total) = (self.capacity.iter().sum::<u32>(), widths.iter().map(|&w| u64::from(w)).sum::<u64>());
        let load = |capacity: u32| (left * u64::from(capacity)).div_ceil(u64::from(room)) * (100 + more) / 100;
        let loads: Vec<u64> = self.capacity.iter().map(|&capacity| load(capacity)).collect();
        let mut used = vec![0; self.directions.len()];
        let mut reached = vec![false; (parts * self.ranks) as usize];
        (0..parts).for_each(|part| reached[(part * self.ranks) as usize] = true);
        let (mut hops, mut elapsed) = (Vec::new(), 0);
        for (step, &width) in (0..).zip(widths) {
            elapsed += u64::from(width);
            let room = |direction: usize| {
                let due = (loads[direction] * elapsed).div_ceil(total) - used[direction];
                due.min(u64::from(width) * u64::from(self.capacity[direction])) as usize
            };
            let room: Vec<usize> = (0..self.directions.len()).map(room).collect();
            let candidates = self.sorted_candidates(&reached, parts, &mut rng);
            if candidates.first().is_some_and(|first| first.chain > widths.len() as u32 - step) {
                return None;
            }
            for (candidate, direction) in fill(&candidates, &room) {
                used[direction] += 1;
                left -= 1;
                hops.push(self.hop(&candidates[candidate], direction, step, &mut reached));
            }
        }
        (left == 0).then_some(hops)
    }

    /// The offsets next to those reached, in the order in which they are to be reached.
    fn sorted_candidates(&self, reached: &[bool], parts: u32, rng: &mut Rng) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (part, reached) in (0..parts).zip(reached.chunks(self.ranks as usize)) {
            self.candidates(part, reached, rng, &mut candidates);
        }
        rng.shuffle(&mut candidates);
        // The longest chains first; among equals, those with the fewest directions.
        candidates.sort_by_key(|c| (std::cmp::Reverse(c.chain), c.directions.count_ones()));
        candidates
    }

    /// Reaches an offset.
    fn hop(&self, candidate: &Candidate, direction: usize, step: u32, reached: &mut [bool]) -> Hop {
        let &Candidate { part, offset, .. } = candidate;
        reached[(part * self.ranks + offset) as usize] = true;
        let from = RankId(self.of(&self.from, offset)[direction]);
        Hop { part, from, direction: self.directions[direction], step }
    }

    /// The offsets next to those reached. O(N D).
    fn candidates(&self, part: u32, reached: &[bool], rng: &mut Rng, candidates: &mut Vec<Candidate>) {
        const FAR: u32 = u32::MAX;
        let mut distance: Vec<u32> = reached.iter().map(|&reached| if reached { 0 } else { FAR }).collect();
        let mut order: Vec<u32> = (0..self.ranks).filter(|&offset| reached[offset as usize]).collect();
        let first = order.len();
        let mut next = 0;
        while let Some(&offset) = order.get(next) {
            for &there in self.of(&self.to, offset) {
                if distance[there as usize] == FAR {
                    distance[there as usize] = distance[offset as usize] + 1;
                    order.push(there);
                }
            }
            next += 1;
        }
        // From the farthest inward, every offset joins the neighbor with the longest chain so far.
        let mut chain: Vec<u32> = vec![1; self.ranks as usize];
        for &offset in order[first..].iter().rev() {
            let nearer = |&&from: &&u32| distance[from as usize] + 1 == distance[offset as usize];
            if distance[offset as usize] > 1 {
                let choices = self.of(&self.from, offset).iter().filter(nearer);
                let best = choices.max_by_key(|&&from| (chain[from as usize], rng.u32(..)));
                if let Some(&best) = best {
                    chain[best as usize] = chain[best as usize].max(chain[offset as usize] + 1);
                }
            }
        }
        for &offset in order[first..].iter().take_while(|&&offset| distance[offset as usize] == 1) {
            let usable = self.of(&self.from, offset).iter().enumerate().filter(|&(_, &from)| reached[from as usize]);
            let directions = usable.fold(0, |bits, (direction, _)| bits | 1 << direction);
            candidates.push(Candidate { part, offset, chain: chain[offset as usize], directions });
        }
    }
}

/// The candidates that fit in a step, the first of them before others, each with its direction.
fn fill(candidates: &[Candidate], room: &[usize]) -> Vec<(usize, usize)> {
    let all: usize = room.iter().sum();
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); room.len()];
    let mut count = 0;
    for index in 0..candidates.len() {
        if count == all {
            break;
        }
        count += usize::from(augment(candidates, room, &mut held, index));
    }
    let held = held.iter().enumerate();
    held.flat_map(|(direction, held)| held.iter().map(move |&index| (index, direction))).collect()
}

/// Gives a candidate a direction, moving others if necessary; false if it cannot have any.
fn augment(candidates: &[Candidate], room: &[usize], held: &mut [Vec<usize>], index: usize) -> bool {
    // By direction: the candidate that would take it, and the direction that candidate leaves.
    let mut comes: Vec<Option<(usize, Option<usize>)>> = vec![None; room.len()];
    let mut order = Vec::with_capacity(room.len());
    let mut visit = |candidate: usize, from: Option<usize>, order: &mut Vec<usize>| {
        for (direction, comes) in comes.iter_mut().enumerate() {
            if candidates[candidate].directions & 1 << direction != 0 && comes.is_none() {
                *comes = Some((candidate, from));
                order.push(direction);
            }
        }
    };
    visit(index, None, &mut order);
    let mut next = 0;
    let mut direction = loop {
        let Some(&direction) = order.get(next) else { return false };
        if held[direction].len() < room[direction] {
            break direction;
        }
        held[direction].iter().for_each(|&other| visit(other, Some(direction), &mut order));
        next += 1;
    };
    while let Some((candidate, from)) = comes[direction] {
        held[direction].push(candidate);
        let Some(before) = from else { break };
        held[before].retain(|&other| other != candidate);
        direction = before;
    }
    true
}
