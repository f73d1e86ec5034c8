//! Where chunks stand in a rank's input and output: one slot a chunk, `P` parts a message, `N` ranks.
//!
//! | kind | input slot | output slot | in place |
//! |---|---|---|---|
//! | `all_to_all` | `dest*P + p` | `origin*P + p` | the output is the input |
//! | `all_to_allv` | its chunks in order of (dest, part) | the same by (origin, part) | no |
//! | `all_gather`, `all_reduce_gathered` | `p` | `origin*P + p` | the input is the output from `rank*P` on |
//! | `reduce_scatter` | `dest*P + p` | `p` | the output is the input from `rank*P` on |
//! | `all_reduce`, `broadcast`, `reduce`, `barrier` | `p` | `p` | the output is the input |
//! | `scatter` | at the root `dest*P + p` | `p` | at the root, the output is the input from `root*P` on |
//! | `gather` | `p` | at the root `origin*P + p` | at the root, the input is the output from `root*P` on |
//!
//! The rules in place are those of NCCL. A rank without use for a buffer (`reduce` away from the root) has it all the
//! same where it is in place, and may use it.

use super::{Buffer, Slot};
use crate::collective::{ChunkId, Demand, Kind};
use crate::problem::Problem;
use crate::topology::RankId;

/// The buffers of one rank.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    problem: &'a Problem,
    rank: RankId,
    alias: Alias,
    input: u32,
    output: u32,
    scratch: u32,
    /// For `all_to_allv`: where the chunks from each rank begin in the output.
    output_start: Vec<u32>,
}

/// How input and output share their room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// Not at all.
    Apart,
    /// Input slot `k` is output slot `k` plus this.
    InputInOutput(u32),
    /// Output slot `k` is input slot `k` plus this.
    OutputInInput(u32),
}

impl<'a> Layout<'a> {
    /// The buffers of a rank with so many slots of scratch.
    pub fn new(problem: &'a Problem, in_place: bool, rank: RankId, scratch: u32) -> Self {
        // Of kinds that have no such buffers, the product may be beyond any number.
        let (parts, own) = (problem.parts(), rank.0.saturating_mul(problem.parts()));
        let every = (problem.topology().rank_count() as u32).saturating_mul(parts);
        let mut output_start = Vec::new();
        let (input, output, alias) = match &problem.collective().kind {
            Kind::AllToAll => (every, every, Alias::InputInOutput(0)),
            Kind::AllToAllV(demand) => {
                output_start = starts(demand, rank);
                (row(demand, rank).len() as u32, output_start[output_start.len() - 1], Alias::Apart)
            }
            Kind::AllGather | Kind::AllReduceGathered => (parts, every, Alias::InputInOutput(own)),
            Kind::ReduceScatter => (every, parts, Alias::OutputInInput(own)),
            Kind::AllReduce | Kind::Broadcast(_) | Kind::Reduce(_) => (parts, parts, Alias::InputInOutput(0)),
            Kind::Barrier => (1, 1, Alias::InputInOutput(0)),
            Kind::Scatter(root) if *root == rank => (every, parts, Alias::OutputInInput(own)),
            Kind::Scatter(_) => (0, parts, Alias::Apart),
            Kind::Gather(root) if *root == rank => (parts, every, Alias::InputInOutput(own)),
            Kind::Gather(_) => (parts, 0, Alias::Apart),
        };
        let alias = if in_place { alias } else { Alias::Apart };
        Self { problem, rank, alias, input, output, scratch, output_start }
    }

    /// True if the kind can be carried out in place at all.
    pub fn has_in_place(kind: &Kind) -> bool {
        !matches!(kind, Kind::AllToAllV(_))
    }

    /// The slots of a buffer.
    pub fn len(&self, buffer: Buffer) -> u32 {
        match buffer {
            Buffer::Input => self.input,
            Buffer::Output => self.output,
            Buffer::Scratch => self.scratch,
        }
    }

    /// How input and output share their room.
    pub fn alias(&self) -> Alias {
        self.alias
    }

    /// The number of places: slots that are one and the same count once. O(1), as the rest.
    pub fn place_count(&self) -> usize {
        let buffers = match self.alias {
            Alias::Apart => u64::from(self.input) + u64::from(self.output),
            Alias::InputInOutput(_) => u64::from(self.output),
            Alias::OutputInInput(_) => u64::from(self.input),
        };
        (buffers + u64::from(self.scratch)) as usize
    }

    /// The place of a slot, the same for slots that are one and the same; slots that follow one another in a buffer do
    /// so as places. Only meaningful for a slot within its buffer.
    pub fn place(&self, slot: Slot) -> usize {
        let offset = slot.offset as usize;
        let (input, output) = (self.input as usize, self.output as usize);
        match (slot.buffer, self.alias) {
            (Buffer::Input, Alias::InputInOutput(from)) | (Buffer::Output, Alias::OutputInInput(from)) => {
                from as usize + offset
            }
            (Buffer::Input, _) | (Buffer::Output, Alias::InputInOutput(_)) => offset,
            (Buffer::Output, Alias::Apart) => input + offset,
            (Buffer::Scratch, Alias::Apart) => input + output + offset,
            (Buffer::Scratch, Alias::InputInOutput(_)) => output + offset,
            (Buffer::Scratch, Alias::OutputInInput(_)) => input + offset,
        }
    }

    /// The slot of the input in which the rank has a chunk before; `None` if it does not hold it then.
    pub fn before(&self, chunk: ChunkId) -> Option<Slot> {
        if !self.problem.is_holder(self.problem.rule(chunk).before, self.rank) {
            return None;
        }
        let parts = self.problem.parts();
        let part = chunk.0 % parts;
        Some(Slot::input(match &self.problem.collective().kind {
            Kind::AllToAll => chunk.0 / parts % self.problem.topology().rank_count() as u32 * parts + part,
            Kind::AllToAllV(demand) => chunk.0 - row(demand, self.rank).start,
            Kind::ReduceScatter | Kind::Scatter(_) => chunk.0,
            Kind::AllGather | Kind::AllReduceGathered | Kind::Gather(_) => part,
            Kind::AllReduce | Kind::Broadcast(_) | Kind::Reduce(_) | Kind::Barrier => chunk.0,
        }))
    }

    /// The slot of the output in which the rank must have a chunk in the end; `None` if it need not hold it then.
    pub fn after(&self, chunk: ChunkId) -> Option<Slot> {
        if !self.problem.is_holder(self.problem.rule(chunk).after, self.rank) {
            return None;
        }
        let parts = self.problem.parts();
        let part = chunk.0 % parts;
        Some(Slot::output(match &self.problem.collective().kind {
            Kind::AllToAll => chunk.0 / parts / self.problem.topology().rank_count() as u32 * parts + part,
            Kind::AllToAllV(demand) => {
                let column = |origin: usize| demand.chunks(RankId(origin as u32), self.rank);
                let origin = (0..demand.ranks() as usize).find(|&origin| column(origin).contains(&chunk.0))?;
                self.output_start[origin] + (chunk.0 - column(origin).start)
            }
            Kind::ReduceScatter | Kind::Scatter(_) => part,
            Kind::AllGather | Kind::AllReduceGathered | Kind::Gather(_) => chunk.0,
            Kind::AllReduce | Kind::Broadcast(_) | Kind::Reduce(_) | Kind::Barrier => chunk.0,
        }))
    }
}

/// The chunks that a rank has for others.
fn row(demand: &Demand, rank: RankId) -> std::ops::Range<u32> {
    demand.chunks(rank, RankId(0)).start..demand.chunks(rank, RankId(demand.ranks() - 1)).end
}

/// Where what comes from each rank begins in the output; at the end, how much there is.
fn starts(demand: &Demand, rank: RankId) -> Vec<u32> {
    let mut starts = vec![0];
    for origin in 0..demand.ranks() {
        starts.push(starts[origin as usize] + demand.chunks(RankId(origin), rank).len() as u32);
    }
    starts
}
