//! A collective: its chunks, and what must be true of each.

use super::{ChunkId, Combining, Kind, Who};
use crate::topology::RankId;

/// A kind of collective and the number of parts per message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What to do.
    pub kind: Kind,
    /// Parts per message (shard, vector); at least 1. For [`Kind::AllToAllV`], the number of chunks that count as one
    /// message in the volume.
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

/// What holds for a chunk before the first step, and what must hold after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRule {
    /// Who holds it before: each of these ranks its own contribution.
    pub before: Holders,
    /// Who must hold it after: the contributions of all ranks in `before`, each once.
    pub after: Holders,
    /// What `reduce` does.
    pub combining: Combining,
}

impl Collective {
    /// A collective of whole messages: one part.
    pub fn new(kind: Kind) -> Self {
        Self { kind, parts: 1 }
    }

    /// The number of chunk ids among `ranks` ranks, failed ones included; `None` if more than `u32::MAX`.
    pub fn chunk_count(&self, ranks: u32) -> Option<u32> {
        match self.kind.demand() {
            Some(demand) => Some(demand.total()),
            None if self.kind.has_volume() => ranks.checked_pow(self.kind.owners())?.checked_mul(self.parts),
            None => Some(1),
        }
    }

    /// The rule of a chunk among `ranks` ranks. If a holder it names has failed, no rank holds, or needs, the chunk.
    /// O(1); O(log N) for `all_to_allv`.
    pub fn rule(&self, ranks: u32, chunk: ChunkId) -> ChunkRule {
        let number = chunk.0 / self.parts;
        let (origin, dest) = match (self.kind.demand(), self.kind.owners()) {
            (Some(demand), _) => demand.pair(chunk),
            (None, 2) => (RankId(number / ranks), RankId(number % ranks)),
            (None, _) => (RankId(number), RankId(number)),
        };
        let holders = |who, owner| match who {
            Who::Owner => Holders::One(owner),
            Who::Root(root) => Holders::One(root),
            Who::Every => Holders::Every,
        };
        ChunkRule {
            before: holders(self.kind.before(), origin),
            after: holders(self.kind.after(), dest),
            combining: self.kind.combining(),
        }
    }
}
