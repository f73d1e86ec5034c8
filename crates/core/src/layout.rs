//! Where chunks lie in a rank's buffers.
//!
//! A buffer is a row of *blocks* of equal length: messages, shards or the vector. A block is a row of *slots*, one per
//! part: where a message has `P` parts, slot `b*P + p` is part `p` of block `b`.
//!
//! * The input has a block per rank if each rank must end with one of its own, otherwise one block.
//! * The output has a block per rank if each rank brings one of its own, otherwise one block.
//! * What only the root brings, or ends with, has no blocks at the other ranks.
//! * With a demand, each chunk is a block: ascending by (destination, part) in the input, by (origin, part) in the
//!   output.
//! * In groups, a rank has blocks for the members of its own, in their order; ranks in no group have no blocks.
//! * Failed ranks have blocks too; they are neither read nor written.
//!
//! Input and output may share memory by NCCL's rules: the smaller one is the rank's own block of the larger one.
//! `docs/formats/rank-program.md` has the table of all kinds.

use crate::exact::narrow;
use std::fmt;

use crate::collective::{ChunkId, Demand, Holders, Kind, Who};
use crate::problem::Problem;
use crate::topology::RankId;

/// The buffers of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    /// What the rank brings; in place, it is part of the output or the output is part of it.
    Input,
    /// What the rank must have at the end.
    Output,
    /// Room for chunks that pass through.
    Scratch,
}

/// A place for one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The buffer.
    pub buffer: Buffer,
    /// Its number in the buffer, from 0.
    pub offset: u32,
}

/// A block by its number in the input or the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Of the input.
    Input(u32),
    /// Of the output.
    Output(u32),
}

/// How input and output share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// Not at all.
    Apart,
    /// Input slot `k` is output slot `k + offset`.
    InputInOutput(u32),
    /// Output slot `k` is input slot `k + offset`.
    OutputInInput(u32),
}

/// The buffers of one rank.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    problem: &'a Problem,
    rank: RankId,
    alias: Alias,
    /// Blocks of the input and of the output.
    input: u32,
    output: u32,
    /// Slots of a block.
    parts: u32,
    scratch: u32,
    /// With a demand: where the blocks from each rank begin in the output, then their number.
    output_start: Vec<u32>,
}

impl<'a> Layout<'a> {
    /// The buffers of a rank program with `scratch` slots of scratch. For vectors, every rank has both buffers and may
    /// use them, even if it brings or must end with nothing.
    pub fn of_program(problem: &'a Problem, in_place: bool, rank: RankId, scratch: u32) -> Self {
        let kind = &problem.collective().kind;
        let ranks = narrow(match problem.groups() {
            None => problem.topology().rank_count(),
            Some(groups) => groups.place(rank).map_or(0, |(group, _)| groups.members()[group as usize].len()),
        });
        let parts = problem.chunks_per_block();
        let (mine, theirs) = (kind.before() == Who::Owner, kind.after() == Who::Owner);
        let blocks = |who: Who, one_each: bool| match kind.includes(who, rank) || kind.owners() == 0 && ranks > 0 {
            true if one_each => ranks,
            held => u32::from(held),
        };
        let (mut input, mut output) = (blocks(kind.before(), theirs), blocks(kind.after(), mine));
        let mut output_start = Vec::new();
        if let Some(demand) = kind.demand() {
            (input, output) = (narrow(row(demand, rank).len()), 0);
            for origin in (0..ranks).map(RankId) {
                output_start.push(output);
                output += narrow(demand.chunks(origin, rank).len());
            }
        }
        let alias = match (mine, theirs) {
            _ if !in_place || !Self::has_in_place(kind) || input == 0 || output == 0 => Alias::Apart,
            (true, false) => Alias::InputInOutput(place(problem, rank) * parts),
            (false, true) => Alias::OutputInInput(place(problem, rank) * parts),
            _ => Alias::InputInOutput(0),
        };
        Self { problem, rank, alias, input, output, parts, scratch, output_start }
    }

    /// The buffers of a call: in place if every rank ends with the vector; other ranks have no blocks for what only the
    /// root ends with.
    pub fn of_call(problem: &'a Problem, rank: RankId) -> Self {
        let kind = &problem.collective().kind;
        let in_place = kind.owners() == 0 && kind.after() == Who::Every;
        let layout = Self::of_program(problem, in_place, rank, 0);
        let output = if kind.includes(kind.after(), rank) { layout.output } else { 0 };
        Self { output, ..layout }
    }

    /// True if the kind can be carried out in place.
    pub fn has_in_place(kind: &Kind) -> bool {
        kind.demand().is_none()
    }

    /// The numbers of blocks of the input and the output; an input within the output has none of its own.
    pub fn blocks(&self) -> (usize, usize) {
        let input = if matches!(self.alias, Alias::InputInOutput(_)) { 0 } else { self.input };
        (input as usize, self.output as usize)
    }

    /// Slots per block.
    pub fn parts(&self) -> usize {
        self.parts as usize
    }

    /// Which part of its block a chunk is.
    pub fn part(&self, chunk: ChunkId) -> u32 {
        chunk.0 % self.parts
    }

    /// The block in which the rank has a chunk before the collective; `None` if it does not hold the chunk then.
    pub fn block_before(&self, chunk: ChunkId) -> Option<Block> {
        let number = self.input_block(chunk)?;
        Some(match self.alias {
            Alias::InputInOutput(from) => Block::Output(number + from / self.parts),
            Alias::Apart | Alias::OutputInInput(_) => Block::Input(number),
        })
    }

    /// The output block in which the rank must have a chunk at the end; `None` if it need not hold the chunk then.
    pub fn block_after(&self, chunk: ChunkId) -> Option<u32> {
        let rule = self.problem.rule(chunk);
        if !self.problem.is_holder(rule.after, self.rank) {
            return None;
        }
        Some(match (self.problem.collective().kind.demand(), rule.before) {
            (Some(demand), Holders::One(origin)) => {
                self.output_start[origin.index()] + (chunk.0 - demand.chunks(origin, self.rank).start)
            }
            (None, Holders::One(origin)) if self.problem.collective().kind.before() == Who::Owner => {
                place(self.problem, origin)
            }
            _ => 0,
        })
    }

    /// The slot of [`Layout::block_before`], always counted in the input.
    pub fn before(&self, chunk: ChunkId) -> Option<Slot> {
        self.input_block(chunk).map(|block| Slot::input(block * self.parts + self.part(chunk)))
    }

    /// The slot of [`Layout::block_after`].
    pub fn after(&self, chunk: ChunkId) -> Option<Slot> {
        self.block_after(chunk).map(|block| Slot::output(block * self.parts + self.part(chunk)))
    }

    /// What the output is made of, in block order: whose inputs, the first block of them, and the number of blocks.
    /// What comes from every rank is combined.
    pub fn sources(&self) -> Vec<(Holders, u32, u32)> {
        let kind = &self.problem.collective().kind;
        let first = if kind.after() == Who::Owner { place(self.problem, self.rank) } else { 0 };
        let all = (0..narrow(self.problem.topology().rank_count())).map(RankId);
        let group = self.problem.groups().and_then(|groups| Some((groups, groups.place(self.rank)?.0)));
        let ranks: Vec<RankId> = match group {
            None => all.collect(),
            Some((groups, group)) => groups.members()[group as usize].clone(),
        };
        let ranks = ranks.into_iter();
        match (kind.demand(), kind.before()) {
            _ if self.output == 0 => Vec::new(),
            (Some(demand), _) => {
                let source = |origin| {
                    let chunks = demand.chunks(origin, self.rank);
                    (Holders::One(origin), chunks.start - row(demand, origin).start, narrow(chunks.len()))
                };
                ranks.map(source).collect()
            }
            (None, Who::Owner) => ranks.map(|origin| (Holders::One(origin), first, 1)).collect(),
            (None, Who::Root(root)) => {
                let root = group.map_or(root, |(groups, group)| groups.members()[group as usize][root.index()]);
                vec![(Holders::One(root), first, 1)]
            }
            (None, Who::Every) => {
                vec![(group.map_or(Holders::Every, |(_, group)| Holders::Group(group)), first, 1)]
            }
        }
    }

    /// What a rank owes itself: input blocks that belong in the output unchanged, and where the first of them goes.
    /// Sums qualify only at a rank that is alone; in place, nothing has to move.
    pub fn own_blocks(&self) -> Option<(std::ops::Range<u32>, u32)> {
        let mut place = 0;
        for (holders, first, count) in self.sources() {
            let alone = || self.problem.holder_count(holders) == 1;
            if holders == Holders::One(self.rank) || !matches!(holders, Holders::One(_)) && alone() {
                return (self.alias == Alias::Apart).then_some((first..first + count, place));
            }
            place += count;
        }
        None
    }

    /// The number of slots of a buffer.
    pub fn len(&self, buffer: Buffer) -> u32 {
        match buffer {
            Buffer::Input => self.input * self.parts,
            Buffer::Output => self.output * self.parts,
            Buffer::Scratch => self.scratch,
        }
    }

    /// How input and output share memory.
    pub fn alias(&self) -> Alias {
        self.alias
    }

    /// The number of places: slots that alias each other count once. O(1), like the methods below.
    pub fn place_count(&self) -> usize {
        self.place(Slot::scratch(self.scratch))
    }

    /// The place of a slot; slots that alias each other share one. Consecutive slots of a buffer have consecutive
    /// places; scratch comes last. Only meaningful for a slot within its buffer.
    pub fn place(&self, slot: Slot) -> usize {
        self.first_places()[slot.buffer as usize] + slot.offset as usize
    }

    /// The places of the first slots of input, output and scratch.
    pub fn first_places(&self) -> [usize; 3] {
        let [input, output] = [Buffer::Input, Buffer::Output].map(|buffer| self.len(buffer) as usize);
        match self.alias {
            Alias::Apart => [0, input, input + output],
            Alias::InputInOutput(from) => [from as usize, 0, output],
            Alias::OutputInInput(from) => [0, from as usize, input],
        }
    }

    fn input_block(&self, chunk: ChunkId) -> Option<u32> {
        let rule = self.problem.rule(chunk);
        if !self.problem.is_holder(rule.before, self.rank) {
            return None;
        }
        Some(match (self.problem.collective().kind.demand(), rule.after) {
            (Some(demand), _) => chunk.0 - row(demand, self.rank).start,
            (None, Holders::One(dest)) if self.problem.collective().kind.after() == Who::Owner => {
                place(self.problem, dest)
            }
            _ => 0,
        })
    }
}

impl Slot {
    /// A slot of the input.
    pub fn input(offset: u32) -> Self {
        Self { buffer: Buffer::Input, offset }
    }

    /// A slot of the output.
    pub fn output(offset: u32) -> Self {
        Self { buffer: Buffer::Output, offset }
    }

    /// A slot of the scratch.
    pub fn scratch(offset: u32) -> Self {
        Self { buffer: Buffer::Scratch, offset }
    }

    /// The slot `offset` further on, if that number exists.
    pub fn plus(self, offset: u32) -> Option<Self> {
        Some(Self { offset: self.offset.checked_add(offset)?, ..self })
    }
}

impl Buffer {
    /// All buffers, as they are numbered.
    pub const ALL: [Self; 3] = [Self::Input, Self::Output, Self::Scratch];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Scratch => "scratch",
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.buffer.name(), self.offset)
    }
}

/// The place of a rank among those that take part with it.
fn place(problem: &Problem, rank: RankId) -> u32 {
    problem.groups().and_then(|groups| groups.place(rank)).map_or(rank.0, |(_, place)| place)
}

/// The chunks that a rank has for others.
fn row(demand: &Demand, rank: RankId) -> std::ops::Range<u32> {
    demand.chunks(rank, RankId(0)).start..demand.chunks(rank, RankId(demand.ranks() - 1)).end
}
