//! What must become true: which chunks there are, who holds them before, who must hold them after.
//!
//! A message (or shard, or vector) is cut in `parts` equal parts; a part in flight is a *chunk*, named by an integer.
//! A collective is described as data: [`Collective::rule`] gives, for any chunk, who holds it [`before`], who must hold
//! it [`after`], and how two values of it [combine]. The verifier, the bounds and the planners read
//! only that, so no kind of collective has code of its own anywhere else.
//!
//! [`before`]: ChunkRule::before
//! [`after`]: ChunkRule::after
//! [combine]: Combining

mod label;

use std::fmt;

use crate::topology::RankId;

pub use label::ChunkLabelError;

/// The number of a chunk, `0..chunk_count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId(pub u32);

impl ChunkId {
    /// The chunk as an index into an array with one entry per chunk.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A kind of collective, with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Every rank has a message for every rank.
    AllToAll,
    /// As all-to-all, with a number of chunks of its own for each pair: `demand[origin][dest]`.
    AllToAllV(Demand),
    /// Every rank's shard reaches every rank.
    AllGather,
    /// The sum over all ranks of shard `d` reaches rank `d`.
    ReduceScatter,
    /// The sum over all ranks of the vector reaches every rank.
    AllReduce,
    /// The root's message reaches every rank.
    Broadcast(RankId),
    /// The sum over all ranks of the vector reaches the root.
    Reduce(RankId),
    /// The root's message for each rank reaches it.
    Scatter(RankId),
    /// Every rank's message reaches the root.
    Gather(RankId),
    /// Every rank learns that every rank has arrived.
    Barrier,
    /// As all-gather, of values that cannot be added in flight; each rank reduces them afterwards.
    AllReduceGathered,
}

impl Kind {
    /// A collective of each kind, in the order of their definition: rooted ones at `root`, all-to-allv with `demand`.
    pub fn every(root: RankId, demand: Demand) -> [Self; 11] {
        [
            Self::AllToAll,
            Self::AllToAllV(demand),
            Self::AllGather,
            Self::ReduceScatter,
            Self::AllReduce,
            Self::Broadcast(root),
            Self::Reduce(root),
            Self::Scatter(root),
            Self::Gather(root),
            Self::Barrier,
            Self::AllReduceGathered,
        ]
    }
}

/// Chunk counts per pair of ranks, with the id at which each pair's chunks begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    ranks: u32,
    /// `ranks * ranks + 1` entries; the chunks of (origin, dest) are `start[origin * ranks + dest]..` the next entry.
    start: Vec<u32>,
}

/// A kind of collective and the number of parts a message is cut in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What is to be done.
    pub kind: Kind,
    /// Parts per message (shard, vector); at least 1. For [`Kind::AllToAllV`], the unit of the volume: this many chunks
    /// count as one message.
    pub parts: u32,
}

/// A set of ranks at which a chunk is, or must be. Failed ranks are never among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holders {
    /// One rank.
    One(RankId),
    /// Every rank that did not fail.
    Every,
}

/// What may be done with two values of the same chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// Nothing: the chunk is moved as it is, `reduce` is an error.
    Never,
    /// `reduce` adds them; a contribution that is in both is counted twice, which is an error.
    Sum,
    /// `reduce` joins them; a contribution that is in both is no harm (a barrier's arrivals).
    Union,
}

/// What is known of a chunk before the first step and must be true after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRule {
    /// Who holds it before: each of these ranks its own contribution.
    pub before: Holders,
    /// Who must hold it after: the contributions of all ranks in `before`, each once.
    pub after: Holders,
    /// What `reduce` does.
    pub combining: Combining,
}

impl Demand {
    /// Chunk counts in row-major order, `counts[origin * ranks + dest]`.
    ///
    /// # Errors
    ///
    /// `None` if there are not `ranks * ranks` counts or their sum exceeds `u32::MAX`.
    pub fn new(ranks: u32, counts: &[u32]) -> Option<Self> {
        if counts.len() as u64 != u64::from(ranks) * u64::from(ranks) {
            return None;
        }
        let mut start = Vec::with_capacity(counts.len() + 1);
        start.push(0_u32);
        for &count in counts {
            start.push(start.last()?.checked_add(count)?);
        }
        Some(Self { ranks, start })
    }

    /// The number of ranks on each side of the matrix.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The chunks that go from one rank to another.
    ///
    /// # Panics
    ///
    /// If a rank is out of range.
    pub fn chunks(&self, origin: RankId, dest: RankId) -> std::ops::Range<u32> {
        assert!(dest.0 < self.ranks, "rank {dest} is out of range");
        let pair = origin.index() * self.ranks as usize + dest.index();
        self.start[pair]..self.start[pair + 1]
    }

    /// The pair of ranks a chunk belongs to. O(log N).
    fn pair(&self, chunk: ChunkId) -> (RankId, RankId) {
        let pair = (self.start.partition_point(|&start| start <= chunk.0) - 1) as u32;
        (RankId(pair / self.ranks), RankId(pair % self.ranks))
    }

    /// All counts in row-major order.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.start.windows(2).map(|pair| pair[1] - pair[0])
    }

    fn total(&self) -> u32 {
        *self.start.last().expect("a demand has at least one entry in `start`")
    }
}

impl Kind {
    /// The name in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AllToAll => "all_to_all",
            Self::AllToAllV(_) => "all_to_allv",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllReduce => "all_reduce",
            Self::Broadcast(_) => "broadcast",
            Self::Reduce(_) => "reduce",
            Self::Scatter(_) => "scatter",
            Self::Gather(_) => "gather",
            Self::Barrier => "barrier",
            Self::AllReduceGathered => "all_reduce_gathered",
        }
    }

    /// The root, for the kinds that have one.
    pub fn root(&self) -> Option<RankId> {
        match self {
            Self::Broadcast(root) | Self::Reduce(root) | Self::Scatter(root) | Self::Gather(root) => Some(*root),
            _ => None,
        }
    }
}

impl Collective {
    /// A whole-message collective: one part.
    pub fn new(kind: Kind) -> Self {
        Self { kind, parts: 1 }
    }

    /// How many chunk ids there are among `ranks` ranks, failed ones included; `None` if more than `u32::MAX`.
    pub fn chunk_count(&self, ranks: u32) -> Option<u32> {
        match &self.kind {
            Kind::AllToAll => ranks.checked_mul(ranks)?.checked_mul(self.parts),
            Kind::AllToAllV(demand) => Some(demand.total()),
            Kind::AllGather | Kind::ReduceScatter | Kind::Scatter(_) | Kind::Gather(_) | Kind::AllReduceGathered => {
                ranks.checked_mul(self.parts)
            }
            Kind::AllReduce | Kind::Broadcast(_) | Kind::Reduce(_) => Some(self.parts),
            Kind::Barrier => Some(1),
        }
    }

    /// What must be true of a chunk before and after, among `ranks` ranks. A holder named here may be a failed rank:
    /// then nobody holds, or nobody needs, the chunk. O(1), O(log N) for `all_to_allv`.
    pub fn rule(&self, ranks: u32, chunk: ChunkId) -> ChunkRule {
        use Combining::{Never, Sum, Union};
        use Holders::{Every, One};
        let owner = RankId(chunk.0 / self.parts);
        let (before, after, combining) = match &self.kind {
            Kind::AllToAll => (One(RankId(owner.0 / ranks)), One(RankId(owner.0 % ranks)), Never),
            Kind::AllToAllV(demand) => {
                let (origin, dest) = demand.pair(chunk);
                (One(origin), One(dest), Never)
            }
            Kind::AllGather | Kind::AllReduceGathered => (One(owner), Every, Never),
            Kind::ReduceScatter => (Every, One(owner), Sum),
            Kind::AllReduce => (Every, Every, Sum),
            Kind::Broadcast(root) => (One(*root), Every, Never),
            Kind::Reduce(root) => (Every, One(*root), Sum),
            Kind::Scatter(root) => (One(*root), One(owner), Never),
            Kind::Gather(root) => (One(owner), One(*root), Never),
            Kind::Barrier => (Every, Every, Union),
        };
        ChunkRule { before, after, combining }
    }
}

#[cfg(test)]
mod tests;
