//! Where chunks stand in the buffers of a rank, from the table in docs/formats/rank-program.md.

use crate::naive::problem::task::Task;

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

    /// Blocks of a rank that has one for each of its group; none if it is in none.
    fn blocks(&self, rank: usize) -> usize {
        self.task.place(rank).map_or(0, |(group, _)| self.task.groups[group].len())
    }

    fn is_root(&self, rank: usize) -> bool {
        self.task.roots().contains(&rank)
    }

    /// The place of a rank in its group.
    fn place(&self, rank: Option<usize>) -> usize {
        rank.and_then(|rank| self.task.place(rank)).map_or(0, |(_, place)| place)
    }

    /// The slots of the input of a rank.
    pub fn input(&self, rank: usize) -> usize {
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks.iter().filter(|chunk| chunk.origin == Some(rank)).count(),
            _ if self.blocks(rank) == 0 => 0,
            "scatter" if !self.is_root(rank) => 0,
            "all_to_all" | "reduce_scatter" | "scatter" => self.blocks(rank) * self.block(),
            _ => self.block(),
        }
    }

    /// The slots of the output of a rank.
    pub fn output(&self, rank: usize) -> usize {
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks.iter().filter(|chunk| chunk.dest == Some(rank)).count(),
            _ if self.blocks(rank) == 0 => 0,
            "gather" if !self.is_root(rank) => 0,
            "all_to_all" | "all_gather" | "all_reduce_gathered" | "gather" => self.blocks(rank) * self.block(),
            _ => self.block(),
        }
    }

    /// Where a chunk stands in the input of a rank that has it before.
    pub fn before(&self, rank: usize, number: usize) -> usize {
        let chunk = &self.task.chunks[number];
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks[..number].iter().filter(|chunk| chunk.origin == Some(rank)).count(),
            "all_to_all" | "reduce_scatter" | "scatter" => self.place(chunk.dest) * self.block() + chunk.part,
            _ => chunk.part,
        }
    }

    /// Where a chunk stands in the output of a rank that must have it after.
    pub fn after(&self, rank: usize, number: usize) -> usize {
        let chunk = &self.task.chunks[number];
        match &self.task.kind[..] {
            "all_to_allv" => self.task.chunks[..number].iter().filter(|chunk| chunk.dest == Some(rank)).count(),
            "all_to_all" | "all_gather" | "all_reduce_gathered" | "gather" => {
                self.place(chunk.origin) * self.block() + chunk.part
            }
            _ => chunk.part,
        }
    }

    /// The one name of a slot that may have two, if input and output share their room.
    pub fn memory(&self, rank: usize, slot: Slot) -> Slot {
        let own = self.place(Some(rank)) * self.block();
        match (&self.task.kind[..], slot) {
            _ if !self.in_place => slot,
            ("all_to_all" | "all_reduce" | "broadcast" | "reduce" | "barrier", ('o', at)) => ('i', at),
            ("all_gather" | "all_reduce_gathered", ('i', at)) => ('o', own + at),
            ("reduce_scatter", ('o', at)) => ('i', own + at),
            ("scatter", ('o', at)) if self.is_root(rank) => ('i', own + at),
            ("gather", ('i', at)) if self.is_root(rank) => ('o', own + at),
            _ => slot,
        }
    }
}
