//! Where chunks stand in the buffers of a rank, from the table in docs/rank-program.md.

use super::task::Task;

/// A slot as a program names it: a buffer (`i`, `o` or `s`) and a number.
pub type Slot = (char, usize);

/// The buffers of all ranks.
pub struct Layout<'a> {
    /// What is carried out.
    pub task: &'a Task,
    /// The number of ranks.
    pub ranks: usize,
    /// Input and output share their room.
    pub in_place: bool,
}

impl Layout<'_> {
    /// Slots of a block.
    fn block(&self) -> usize {
        if self.task.kind == "barrier" { 1 } else { self.task.parts as usize }
    }

    /// The slots of the input of a rank.
    pub fn input(&self, rank: usize) -> usize {
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks.iter().filter(|chunk| chunk.origin == Some(rank)).count(),
            "scatter" if self.task.root != Some(rank) => 0,
            "all_to_all" | "reduce_scatter" | "scatter" => self.ranks * self.block(),
            _ => self.block(),
        }
    }

    /// The slots of the output of a rank.
    pub fn output(&self, rank: usize) -> usize {
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks.iter().filter(|chunk| chunk.dest == Some(rank)).count(),
            "gather" if self.task.root != Some(rank) => 0,
            "all_to_all" | "all_gather" | "all_reduce_gathered" | "gather" => self.ranks * self.block(),
            _ => self.block(),
        }
    }

    /// Where a chunk stands in the input of a rank that has it before.
    pub fn before(&self, rank: usize, number: usize) -> usize {
        let chunk = &self.task.chunks[number];
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks[..number].iter().filter(|chunk| chunk.origin == Some(rank)).count(),
            "all_to_all" | "reduce_scatter" | "scatter" => chunk.dest.unwrap_or(0) * self.block() + chunk.part,
            _ => chunk.part,
        }
    }

    /// Where a chunk stands in the output of a rank that must have it after.
    pub fn after(&self, rank: usize, number: usize) -> usize {
        let chunk = &self.task.chunks[number];
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks[..number].iter().filter(|chunk| chunk.dest == Some(rank)).count(),
            "all_to_all" | "all_gather" | "all_reduce_gathered" | "gather" => {
                chunk.origin.unwrap_or(0) * self.block() + chunk.part
            }
            _ => chunk.part,
        }
    }

    /// The one name of a slot that may have two, if input and output share their room.
    pub fn memory(&self, rank: usize, slot: Slot) -> Slot {
        let own = rank * self.block();
        match (&self.task.kind[..], slot) {
            _ if !self.in_place => slot,
            ("all_to_all" | "all_reduce" | "broadcast" | "reduce" | "barrier", ('o', at)) => ('i', at),
            ("all_gather" | "all_reduce_gathered", ('i', at)) => ('o', own + at),
            ("reduce_scatter", ('o', at)) => ('i', own + at),
            ("scatter", ('o', at)) if self.task.root == Some(rank) => ('i', own + at),
            ("gather", ('i', at)) if self.task.root == Some(rank) => ('o', own + at),
            _ => slot,
        }
    }
}
