//! Programs taken apart, changed and put together again.

use collsynth::program::{Channel, Operation, Program, ProgramBuilder};
use collsynth::topology::RankId;

/// A program that can be changed at will.
#[derive(Clone)]
pub struct Draft {
    program: Program,
    pub channels: Vec<Channel>,
    /// By rank and worker.
    pub workers: Vec<Vec<Vec<Operation>>>,
    /// The claim to be free of contention, with the packets of transfers.
    pub claim: Option<Vec<Vec<u32>>>,
}

impl Draft {
    pub fn of(program: &Program) -> Self {
        let workers = |rank| {
            let operations = |worker| program.operations()[program.range(worker)].to_vec();
            program.workers(RankId(rank)).map(operations).collect()
        };
        Self {
            program: program.clone(),
            channels: program.channels.clone(),
            workers: (0..program.rank_count() as u32).map(workers).collect(),
            claim: program.contention_free.then(|| program.transfers.clone()),
        }
    }

    pub fn build(&self) -> Program {
        let Program { problem, has_links, in_place, barriers, scratch, .. } = &self.program;
        let mut builder = ProgramBuilder::new(problem.clone(), *has_links, *in_place);
        for &channel in &self.channels {
            builder.channel(channel);
        }
        for (workers, &scratch) in self.workers.iter().zip(scratch) {
            builder.rank(scratch);
            for worker in workers {
                builder.worker();
                for &operation in worker {
                    builder.operation(operation);
                }
            }
        }
        if let Some(transfers) = &self.claim {
            builder.contention_free(transfers.clone());
        }
        builder.finish(*barriers)
    }

    /// Every operation, by rank, worker and number.
    pub fn all(&self) -> Vec<(usize, usize, usize, Operation)> {
        let mut all = Vec::new();
        for (rank, workers) in self.workers.iter().enumerate() {
            for (worker, operations) in workers.iter().enumerate() {
                all.extend(operations.iter().enumerate().map(|(number, &one)| (rank, worker, number, one)));
            }
        }
        all
    }

    /// Takes an operation out; waits for later ones of its worker follow them to their new numbers.
    pub fn remove(&mut self, rank: usize, worker: usize, number: usize) {
        self.workers[rank][worker].remove(number);
        for one in self.workers[rank].iter_mut().flatten() {
            if let Operation::Wait { worker: other, operation } = one
                && (*other as usize, *operation as usize >= number) == (worker, true)
                && *operation > 0
            {
                *operation -= 1;
            }
        }
    }
}
