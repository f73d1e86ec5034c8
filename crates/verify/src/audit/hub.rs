//! Many orders between operations at once: those that lead through one worker.
//!
//! Each operation has a first operation of the worker that comes after it, and a last one that comes before it. Where
//! the first after `a` is not behind the last before `b`, a chain of orders leads from `a` to `b`. Two passes over all
//! operations find that for any number of pairs; a barrier of all ranks leads through the root of its tree, so that its
//! worker is all that is needed. Which worker to try is seen from one chain that is searched for.

use std::collections::{HashMap, VecDeque};

use super::run::Interleaving;
use super::structure::NOBODY;
use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// Where operations stand.
pub(super) struct Places {
    /// For each operation its worker and its rank, and its place in the order in which they ran.
    pub(super) worker: Vec<u32>,
    pub(super) rank: Vec<RankId>,
    pub(super) position: Vec<usize>,
    /// The operations of each rank in the order in which they ran.
    pub(super) by_rank: Vec<Vec<u32>>,
}

impl Places {
    pub(super) fn new(program: &Program, run: &Interleaving<'_>) -> Self {
        let count = program.operations().len();
        let (mut worker, mut rank, mut position) = (vec![0; count], vec![RankId(0); count], vec![0; count]);
        for own in (0..program.rank_count() as u32).map(RankId) {
            for number in program.workers(own) {
                worker[program.range(number)].fill(number as u32);
                rank[program.range(number)].fill(own);
            }
        }
        let mut by_rank = vec![Vec::new(); program.rank_count()];
        for (at, &number) in run.order.iter().enumerate() {
            by_rank[rank[number as usize].index()].push(number);
            position[number as usize] = at;
        }
        Self { worker, rank, position, by_rank }
    }

    /// The operations that come directly before one: in its worker, what it waits for, what sent its packet.
    pub(super) fn before(&self, program: &Program, run: &Interleaving<'_>, number: usize) -> [Option<usize>; 3] {
        let in_worker = (number > program.range(self.worker[number] as usize).start).then(|| number - 1);
        let awaited = match program.operations()[number] {
            Operation::Wait { worker, operation } => {
                let target = program.workers(self.rank[number]).start + worker as usize;
                Some(program.range(target).start + operation as usize)
            }
            _ => None,
        };
        let sender = run.sent_by[number];
        [in_worker, awaited, (sender != NOBODY).then_some(sender as usize)]
    }
}

/// The orders that lead through one worker.
pub(super) struct Hub {
    /// For each operation the first operation of the worker that is it or comes after it; [`u32::MAX`]: none.
    after: Vec<u32>,
    /// How many operations of the worker are it or come before it.
    before: Vec<u32>,
}

impl Hub {
    /// O(operations).
    pub(super) fn new(program: &Program, run: &Interleaving<'_>, places: &Places, worker: usize) -> Self {
        let count = program.operations().len();
        let (mut after, mut before) = (vec![u32::MAX; count], vec![0; count]);
        for (index, number) in (0..).zip(program.range(worker)) {
            (after[number], before[number]) = (index, index + 1);
        }
        for &number in &run.order {
            for earlier in places.before(program, run, number as usize).into_iter().flatten() {
                before[number as usize] = before[number as usize].max(before[earlier]);
            }
        }
        for &number in run.order.iter().rev() {
            for earlier in places.before(program, run, number as usize).into_iter().flatten() {
                after[earlier] = after[earlier].min(after[number as usize]);
            }
        }
        Self { after, before }
    }

    /// True if a chain of orders leads from one operation through the worker to another.
    pub(super) fn joins(&self, from: usize, to: usize) -> bool {
        self.after[from] < self.before[to]
    }
}

/// The workers on a chain of orders from one operation to another, those in its middle first. `None` if there is no
/// chain. O(operations that ran between the two).
pub(super) fn chain(
    program: &Program,
    run: &Interleaving<'_>,
    places: &Places,
    from: usize,
    to: usize,
) -> Option<Vec<usize>> {
    // Where the search came from: the operation after.
    let mut next: HashMap<usize, usize> = HashMap::new();
    let mut queue = VecDeque::from([to]);
    while let Some(number) = queue.pop_front() {
        for earlier in places.before(program, run, number).into_iter().flatten() {
            if places.position[earlier] >= places.position[from] && !next.contains_key(&earlier) {
                next.insert(earlier, number);
                queue.push_back(earlier);
            }
        }
        if next.contains_key(&from) {
            break;
        }
    }
    let (mut workers, mut at) = (vec![places.worker[from] as usize], from);
    while at != to {
        at = *next.get(&at)?;
        let worker = places.worker[at] as usize;
        if workers.last() != Some(&worker) {
            workers.push(worker);
        }
    }
    let middle = workers.len() / 2;
    let mut order: Vec<usize> = (0..workers.len()).collect();
    order.sort_by_key(|&place| place.abs_diff(middle));
    Some(order.into_iter().map(|place| workers[place]).collect())
}
