//! Writing a program down, rank by rank and worker by worker.

use super::{Barriers, Channel, Operation, Program};
use crate::problem::Problem;

/// Builds a [`Program`]: for each rank in order begin it, for each of its workers begin it and add its operations.
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    program: Program,
}

impl ProgramBuilder {
    /// A program without ranks, channels and barriers.
    pub fn new(problem: Problem, has_links: bool, in_place: bool) -> Self {
        Self {
            program: Program {
                problem,
                has_links,
                in_place,
                barriers: Barriers::None,
                contention_free: false,
                transfers: Vec::new(),
                scratch: Vec::new(),
                channels: Vec::new(),
                origin: None,
                first_worker: vec![0],
                first_operation: vec![0],
                operations: Vec::new(),
            },
        }
    }

    /// Adds a channel and gives its number.
    pub fn channel(&mut self, channel: Channel) -> u32 {
        self.program.channels.push(channel);
        self.program.transfers.push(Vec::new());
        self.program.channels.len() as u32 - 1
    }

    /// Begins the next rank, with so many slots of scratch.
    pub fn rank(&mut self, scratch: u32) -> &mut Self {
        self.program.scratch.push(scratch);
        self.program.first_worker.push(self.program.worker_count() as u32);
        self
    }

    /// Begins the next worker of the rank begun last.
    pub fn worker(&mut self) -> &mut Self {
        self.program.first_operation.push(self.program.operations.len() as u32);
        if let Some(end) = self.program.first_worker.last_mut() {
            *end += 1;
        }
        self
    }

    /// Adds an operation to the worker begun last.
    pub fn operation(&mut self, operation: Operation) -> &mut Self {
        self.program.operations.push(operation);
        if let Some(end) = self.program.first_operation.last_mut() {
            *end += 1;
        }
        self
    }

    /// Claims that no two transfers are on one link at the same time. For each channel, how many of its packets with
    /// slots are one transfer, in order; empty where each is one alone.
    pub fn contention_free(&mut self, transfers: Vec<Vec<u32>>) -> &mut Self {
        self.program.contention_free = true;
        self.program.transfers = transfers;
        self
    }

    /// The program, with the barriers it is said to have. Ranks that were not begun have no workers and no scratch.
    pub fn finish(mut self, barriers: Barriers) -> Program {
        let ranks = self.program.problem.topology().rank_count();
        while self.program.rank_count() < ranks {
            self.rank(0);
        }
        self.program.barriers = barriers;
        self.program
    }
}
