//! The orders between operations: worker orders, waits and packets.

use super::execute::Interleaving;
use super::structure::NOBODY;
use collsynth_core::exact::narrow;
use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// What comes before `from` comes before `to`: the larger of their counts, `width` per operation.
pub(in crate::audit) fn join(counts: &mut [u32], width: usize, to: usize, from: usize) {
    for entry in 0..width {
        counts[to * width + entry] = counts[to * width + entry].max(counts[from * width + entry]);
    }
}

/// The positions of operations, and what comes directly before them.
pub(in crate::audit) struct Order {
    /// For each operation its worker, its rank, and its position in the run.
    pub(in crate::audit) worker: Vec<u32>,
    pub(in crate::audit) rank: Vec<RankId>,
    pub(in crate::audit) position: Vec<usize>,
    /// The operations of each rank in the order of the run.
    pub(in crate::audit) by_rank: Vec<Vec<u32>>,
}

impl Order {
    pub(in crate::audit) fn new(program: &Program, run: &Interleaving<'_>) -> Self {
        let count = program.operations().len();
        let (mut worker, mut rank, mut position) = (vec![0; count], vec![RankId(0); count], vec![0; count]);
        for own in (0..narrow(program.rank_count())).map(RankId) {
            for number in program.workers(own) {
                worker[program.range(number)].fill(narrow(number));
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

    /// The direct predecessors of an operation: in its worker, the one it waits for, the sender of its packet.
    pub(in crate::audit) fn before(
        &self,
        program: &Program,
        run: &Interleaving<'_>,
        number: usize,
    ) -> [Option<usize>; 3] {
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
