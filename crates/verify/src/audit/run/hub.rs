//! Many orders between operations at once: those that lead through one worker, the hub.
//!
//! For each operation, some operation of the hub is the first after it and some is the last before it. If the first
//! after `a` is not later than the last before `b`, a chain of orders leads from `a` to `b`. Two passes over all
//! operations decide this for any number of pairs. A barrier of all ranks leads through the root of its tree, so that
//! worker alone suffices. To find a hub worth trying, search one chain.

use std::collections::{HashMap, VecDeque};

use super::execute::Interleaving;
use super::order::Order;
use collsynth_core::program::Program;

/// The orders that lead through one worker.
pub(in crate::audit) struct Hub {
    /// For each operation, the first operation of the worker that comes no earlier; [`u32::MAX`]: none.
    after: Vec<u32>,
    /// For each operation, how many operations of the worker come no later.
    before: Vec<u32>,
}

impl Hub {
    /// O(operations).
    pub(in crate::audit) fn new(program: &Program, run: &Interleaving<'_>, order: &Order, worker: usize) -> Self {
        let count = program.operations().len();
        let (mut after, mut before) = (vec![u32::MAX; count], vec![0; count]);
        for (index, number) in (0..).zip(program.range(worker)) {
            (after[number], before[number]) = (index, index + 1);
        }
        for &number in &run.order {
            for earlier in order.before(program, run, number as usize).into_iter().flatten() {
                before[number as usize] = before[number as usize].max(before[earlier]);
            }
        }
        for &number in run.order.iter().rev() {
            for earlier in order.before(program, run, number as usize).into_iter().flatten() {
                after[earlier] = after[earlier].min(after[number as usize]);
            }
        }
        Self { after, before }
    }

    /// True if a chain of orders leads from one operation through the worker to another.
    pub(in crate::audit) fn joins(&self, from: usize, to: usize) -> bool {
        self.after[from] < self.before[to]
    }
}

/// The workers on a chain of orders from one operation to another, the middle ones first; `None` if there is no chain.
/// O(operations that ran between the two).
pub(in crate::audit) fn chain(
    program: &Program,
    run: &Interleaving<'_>,
    order: &Order,
    from: usize,
    to: usize,
) -> Option<Vec<usize>> {
    // For each operation found, its successor on the chain.
    let mut next: HashMap<usize, usize> = HashMap::new();
    let mut queue = VecDeque::from([to]);
    while let Some(number) = queue.pop_front() {
        for earlier in order.before(program, run, number).into_iter().flatten() {
            if order.position[earlier] >= order.position[from] && !next.contains_key(&earlier) {
                next.insert(earlier, number);
                queue.push_back(earlier);
            }
        }
        if next.contains_key(&from) {
            break;
        }
    }
    let (mut workers, mut at) = (vec![order.worker[from] as usize], from);
    while at != to {
        at = *next.get(&at)?;
        let worker = order.worker[at] as usize;
        if workers.last() != Some(&worker) {
            workers.push(worker);
        }
    }
    let middle = workers.len() / 2;
    let mut nearest: Vec<usize> = (0..workers.len()).collect();
    nearest.sort_by_key(|&place| place.abs_diff(middle));
    Some(nearest.into_iter().map(|place| workers[place]).collect())
}
