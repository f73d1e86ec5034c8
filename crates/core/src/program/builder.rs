//! Building a program rank by rank and worker by worker.

use super::{Barriers, Channel, Operation, Program};
use crate::exact::narrow;
use crate::problem::Problem;

/// Builds a [`Program`]: begin each rank in order, then each of its workers, and add the worker's operations.
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    program: Program,
}

impl ProgramBuilder {
    /// A program without ranks, channels and barriers. Any rank may relay in it: a program says what ranks do, and
    /// whether that is allowed to a schedule has been judged.
    pub fn new(problem: Problem, has_links: bool, in_place: bool) -> Self {
        Self {
            program: Program {
                problem: problem.with_relays(),
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

    /// Adds a channel and returns its number.
    pub fn channel(&mut self, channel: Channel) -> u32 {
        self.program.channels.push(channel);
        self.program.transfers.push(Vec::new());
        narrow(self.program.channels.len()) - 1
    }

    /// Begins the next rank, with `scratch` slots of scratch.
    pub fn rank(&mut self, scratch: u32) -> &mut Self {
        self.program.scratch.push(scratch);
        self.program.first_worker.push(narrow(self.program.worker_count()));
        self
    }

    /// Begins the next worker of the current rank.
    pub fn worker(&mut self) -> &mut Self {
        self.program.first_operation.push(narrow(self.program.operations.len()));
        if let Some(end) = self.program.first_worker.last_mut() {
            *end += 1;
        }
        self
    }

    /// Adds an operation to the current worker.
    pub fn operation(&mut self, operation: Operation) -> &mut Self {
        self.program.operations.push(operation);
        if let Some(end) = self.program.first_operation.last_mut() {
            *end += 1;
        }
        self
    }

    /// Claims that no two transfers are on a link at the same time; see [`Program::transfers`].
    pub fn contention_free(&mut self, transfers: Vec<Vec<u32>>) -> &mut Self {
        self.program.contention_free = true;
        self.program.transfers = transfers;
        self
    }

    /// The program, labeled with its barriers. Ranks that were not begun have no workers and no scratch.
    pub fn finish(mut self, barriers: Barriers) -> Program {
        let ranks = self.program.problem.topology().rank_count();
        while self.program.rank_count() < ranks {
            self.rank(0);
        }
        self.program.barriers = barriers;
        self.program
    }
}
