//! Routes of several collectives, or of groups, leveled: chunks leave links that too many share.
//!
//! # Idea
//!
//! Planned alone, each collective loads links as evenly as it can, but what two of them leave idle need not fit: the
//! root of one has its busiest links where another has its own. The route of a chunk is a tree. Take out a link that is
//! too busy, and what hangs below it can join the rest of the tree elsewhere, over links that have room.
//!
//! ```text
//!      0                    0
//!     / \                    \
//!    1   2      - 0-1 ->      2       the link from 0 to 1 carries one chunk less,
//!    |   |                   / \      that from 2 to 1 one more
//!    3   4                  1   4
//!                           |
//!                           3
//! ```
//!
//! A rank that only relays goes with the link that led to it. The new way is the cheapest path, at prices that grow
//! steeply with loads and are never nothing, so that chunks do not wander over idle links. Of places in the tree where
//! it may begin, those near the root are preferred: deep trees take long. It is taken only if it is cheaper than what
//! it replaces, so the sum of all prices falls with each exchange, until no chunk of a busy link can gain.
//!
//! # Applies
//!
//! To chunks that are copied down a tree, or added up it, or first one and then the other. Others keep their routes.
//!
//! # Complexity
//!
//! O(ranks + paths looked at) for each exchange that is tried, which look at all ranks only for a link that is far too
//! busy; memory O(moves).
//!
//! # Reference
//!
//! Voß, "Steiner's problem in graphs: heuristic methods", Discrete Applied Mathematics 40, 1992, for exchanges of paths
//! between ranks where trees branch; Aspnes et al., "On-line routing of virtual circuits", Journal of the ACM 44, 1997,
//! for prices of loads.

mod exchange;
mod loads;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;

use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use fastrand::Rng;

use crate::engine::together::hops::Hop;
use crate::model::control::Control;
use exchange::Exchange;
use loads::Loads;
use tree::{Tree, hops_of, lower_root, trees_of};

/// The most sweeps over all busy links; one that lowers the total price by less than this share is the last.
const SWEEPS: u32 = 40;
const GAIN: f64 = 0.02;
/// The links looked at in all sweeps for each collective, some 40 million a second: what gains much comes first.
const MOST_WORK: u64 = 80_000_000;
/// A sweep leaves a link after this many failed exchanges in a row.
const PATIENCE: u32 = 64;

/// Exchanges parts of routes until no link takes much longer than `least`, or no exchange gains.
pub fn level(problems: &[Problem], routes: &mut [Vec<Hop>], least: u64, seed: u64, control: &Control) {
    let loads = Loads::new(problems[0].machine(), routes, least);
    if !loads.is_over() {
        return;
    }
    let mut trees: Vec<Tree> = Vec::new();
    for (number, (problem, hops)) in problems.iter().zip(&*routes).enumerate() {
        let of_chunk = hops.chunk_by(|one, other| one.chunk == other.chunk);
        trees.extend(of_chunk.filter_map(|hops| trees_of(problem, number, hops)).flatten());
    }
    sweep(problems, loads, &mut trees, seed, control);
    let mut moved: BTreeMap<(usize, ChunkId), Vec<&Tree>> = BTreeMap::new();
    // Both trees of a chunk, if one has moved.
    for of_chunk in trees.chunk_by_mut(|one, other| (one.problem, one.chunk) == (other.problem, other.chunk)) {
        if of_chunk.iter().any(|tree| tree.has_moved) {
            lower_root(&problems[of_chunk[0].problem], of_chunk);
            moved.insert((of_chunk[0].problem, of_chunk[0].chunk), of_chunk.iter().collect());
        }
    }
    for (number, (problem, hops)) in problems.iter().zip(routes).enumerate() {
        let mut found = Vec::with_capacity(hops.len());
        for of_chunk in hops.chunk_by(|one, other| one.chunk == other.chunk) {
            match moved.get(&(number, of_chunk[0].chunk)) {
                Some(trees) => found.extend(hops_of(problem.machine(), of_chunk, trees)),
                None => found.extend_from_slice(of_chunk),
            }
        }
        *hops = found;
    }
}

/// Do all chunks move along trees, so that they can give way to others?
pub fn is_trees(problem: &Problem, hops: &[Hop]) -> bool {
    hops.chunk_by(|one, other| one.chunk == other.chunk).all(|hops| trees_of(problem, 0, hops).is_some())
}

/// Goes over the busy links, the busiest first, and exchanges what their chunks can, until that gains little.
fn sweep(problems: &[Problem], loads: Loads<'_>, trees: &mut [Tree], seed: u64, control: &Control) {
    let mut exchange = Exchange::new(problems, loads);
    let most_work = MOST_WORK * problems.len() as u64;
    let mut rng = Rng::with_seed(seed);
    let mut over: Vec<Vec<u32>> = vec![Vec::new(); exchange.loads.load.len()];
    for (number, tree) in (0..).zip(&*trees) {
        tree.links.iter().for_each(|link| over[link.index()].push(number));
    }
    for _ in 0..SWEEPS {
        let before = exchange.loads.total();
        for link in exchange.loads.busy() {
            if control.stop().is_some() || exchange.work > most_work {
                return;
            }
            let mut numbers = std::mem::take(&mut over[link.index()]);
            rng.shuffle(&mut numbers);
            let mut failed = 0;
            numbers.retain(|&number| {
                let tree = &mut trees[number as usize];
                if failed >= PATIENCE || !exchange.loads.is_busy(link) {
                    return true;
                }
                if !tree.links.contains(&link) {
                    return false;
                }
                let new = exchange.exchange(tree, link);
                failed = if new.is_empty() { failed + 1 } else { 0 };
                new.iter().for_each(|one| over[one.index()].push(number));
                new.is_empty()
            });
            over[link.index()].extend(numbers);
        }
        if !exchange.loads.is_over() || exchange.loads.total() > (1.0 - GAIN) * before {
            return;
        }
    }
}
