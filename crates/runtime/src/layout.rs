//! Where chunks stand in a rank's buffers.
//!
//! A buffer is a row of *blocks* of equal length; a block is a message (a shard, the vector), cut in parts: part `i` of
//! a block of `n` elements in `p` parts is the elements `i*n/p .. (i+1)*n/p`. Which blocks there are depends on the
//! kind:
//!
//! | kind | input | output |
//! |---|---|---|
//! | `all_to_all` | one for each rank it goes to | one for each rank it comes from |
//! | `all_to_allv` | one for each chunk, ascending by (rank it goes to, part) | the same by (rank it comes from, part) |
//! | `all_gather`, `all_reduce_gathered` | its own | one for each rank |
//! | `reduce_scatter` | one for each rank | its own |
//! | `all_reduce`, `broadcast`, `barrier` | the output | the vector |
//! | `reduce` | the vector | the vector at the root, else none |
//! | `scatter` | at the root one for each rank, else none | its own |
//! | `gather` | its own | at the root one for each rank, else none |
//!
//! Failed ranks have their blocks, too; nothing is read from them or written to them.

use std::ops::Range;

use super::error::RunError;
use collsynth_core::collective::{ChunkId, Demand, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// The buffers of one rank for one problem.
#[derive(Clone, Debug)]
pub(super) struct Layout<'a> {
    problem: &'a Problem,
    rank: RankId,
    ranks: usize,
    /// For `all_to_allv`: where the blocks from each rank begin in the output; else empty.
    output_start: Vec<usize>,
}

/// A block of the input or of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Input(u32),
    Output(u32),
}

impl<'a> Layout<'a> {
    pub(super) fn new(problem: &'a Problem, rank: RankId) -> Self {
        let ranks = problem.topology().rank_count();
        let output_start = match &problem.collective().kind {
            Kind::AllToAllV(demand) => starts(demand, ranks, rank),
            _ => Vec::new(),
        };
        Self { problem, rank, ranks, output_start }
    }

    /// Blocks of the input and of the output. An input of a collective that works in place has none.
    pub(super) fn blocks(&self) -> (usize, usize) {
        let at = |root: RankId, blocks| if root == self.rank { blocks } else { 0 };
        match &self.problem.collective().kind {
            Kind::AllToAll => (self.ranks, self.ranks),
            Kind::AllToAllV(demand) => {
                (row(demand, self.ranks, self.rank).len(), self.output_start.last().copied().unwrap_or_default())
            }
            Kind::AllGather | Kind::AllReduceGathered => (1, self.ranks),
            Kind::ReduceScatter => (self.ranks, 1),
            Kind::AllReduce | Kind::Broadcast(_) | Kind::Barrier => (0, 1),
            Kind::Reduce(root) => (1, at(*root, 1)),
            Kind::Scatter(root) => (at(*root, self.ranks), 1),
            Kind::Gather(root) => (1, at(*root, self.ranks)),
        }
    }

    /// The elements of a block, as the lengths of buffers tell. A rank that has no blocks at all knows none: 0.
    pub(super) fn block_length(&self, input: usize, output: usize) -> Result<usize, RunError> {
        let (inputs, outputs) = self.blocks();
        let (buffer, found, blocks) = if outputs == 0 { ("input", input, inputs) } else { ("output", output, outputs) };
        match found.checked_rem(blocks) {
            None => Ok(0),
            Some(0) => Ok(found / blocks),
            Some(_) => {
                let rule = format!("it must be a multiple of {blocks}, a block for each rank");
                Err(RunError::Length { buffer, found, rule })
            }
        }
    }

    /// Have buffers of these lengths their blocks, of so many elements each?
    pub(super) fn check(&self, block: usize, input: usize, output: usize) -> Result<(), RunError> {
        let (inputs, outputs) = self.blocks();
        for (buffer, found, blocks) in [("input", input, inputs), ("output", output, outputs)] {
            if blocks.checked_mul(block) != Some(found) {
                let rule = format!("it must have {} ({blocks} blocks of {block})", blocks.saturating_mul(block));
                return Err(RunError::Length { buffer, found, rule });
            }
        }
        Ok(())
    }

    /// The parts a block is cut in.
    pub(super) fn parts(&self) -> usize {
        match &self.problem.collective().kind {
            Kind::AllToAllV(_) | Kind::Barrier => 1,
            _ => self.problem.parts() as usize,
        }
    }

    /// The part of its block that a chunk is.
    pub(super) fn part(&self, chunk: ChunkId) -> u32 {
        chunk.0 % self.parts() as u32
    }

    /// Where a rank that holds a chunk before has it.
    pub(super) fn before(&self, chunk: ChunkId) -> Option<Block> {
        if !self.problem.is_holder(self.problem.rule(chunk).before, self.rank) {
            return None;
        }
        let owner = chunk.0 / self.problem.parts();
        Some(match &self.problem.collective().kind {
            Kind::AllToAll => Block::Input(owner % self.ranks as u32),
            Kind::AllToAllV(demand) => Block::Input(chunk.0 - row(demand, self.ranks, self.rank).start),
            Kind::AllGather | Kind::AllReduceGathered | Kind::Reduce(_) | Kind::Gather(_) => Block::Input(0),
            Kind::ReduceScatter | Kind::Scatter(_) => Block::Input(owner),
            Kind::AllReduce | Kind::Broadcast(_) | Kind::Barrier => Block::Output(0),
        })
    }

    /// The block of the output that a rank needs a chunk in.
    pub(super) fn after(&self, chunk: ChunkId) -> Option<u32> {
        if !self.problem.is_holder(self.problem.rule(chunk).after, self.rank) {
            return None;
        }
        let owner = chunk.0 / self.problem.parts();
        Some(match &self.problem.collective().kind {
            Kind::AllToAll => owner / self.ranks as u32,
            Kind::AllToAllV(demand) => self.received_block(demand, chunk),
            Kind::AllGather | Kind::AllReduceGathered | Kind::Gather(_) => owner,
            Kind::ReduceScatter
            | Kind::Scatter(_)
            | Kind::AllReduce
            | Kind::Broadcast(_)
            | Kind::Barrier
            | Kind::Reduce(_) => 0,
        })
    }

    /// What a rank owes itself: blocks of the input that belong in the output as they are, and where the first of them
    /// goes. For sums, that is so only for a rank that is alone.
    pub(super) fn own_blocks(&self) -> Option<(Range<usize>, usize)> {
        let rank = self.rank.index();
        let alone = self.problem.topology().live_rank_count() == 1;
        match &self.problem.collective().kind {
            Kind::AllToAll => Some((rank..rank + 1, rank)),
            Kind::AllToAllV(demand) => {
                let start = row(demand, self.ranks, self.rank).start;
                let own = demand.chunks(self.rank, self.rank);
                Some(((own.start - start) as usize..(own.end - start) as usize, self.output_start[rank]))
            }
            Kind::AllGather | Kind::AllReduceGathered => Some((0..1, rank)),
            Kind::Gather(root) => (*root == self.rank).then_some((0..1, rank)),
            Kind::Scatter(root) => (*root == self.rank).then_some((rank..rank + 1, 0)),
            Kind::ReduceScatter => alone.then_some((rank..rank + 1, 0)),
            Kind::Reduce(_) => alone.then_some((0..1, 0)),
            Kind::AllReduce | Kind::Broadcast(_) | Kind::Barrier => None,
        }
    }

    fn received_block(&self, demand: &Demand, chunk: ChunkId) -> u32 {
        let column = |origin: usize| demand.chunks(RankId(origin as u32), self.rank);
        let origin = (0..self.ranks).find(|&origin| column(origin).contains(&chunk.0)).unwrap_or_default();
        self.output_start[origin] as u32 + (chunk.0 - column(origin).start)
    }
}

/// The chunks that a rank has for others.
fn row(demand: &Demand, ranks: usize, rank: RankId) -> Range<u32> {
    demand.chunks(rank, RankId(0)).start..demand.chunks(rank, RankId(ranks as u32 - 1)).end
}

/// Where what comes from each rank begins in the output, in blocks; at the end, how many there are.
fn starts(demand: &Demand, ranks: usize, rank: RankId) -> Vec<usize> {
    let mut starts = Vec::with_capacity(ranks + 1);
    let mut next = 0;
    for origin in 0..ranks as u32 {
        starts.push(next);
        next += demand.chunks(RankId(origin), rank).len();
    }
    starts.push(next);
    starts
}
