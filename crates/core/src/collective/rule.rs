//! A kind of collective in so many parts: its chunks, and what must be true of each.

use super::{ChunkId, Combining, Kind, Who};
use crate::topology::RankId;

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

impl Collective {
    /// A whole-message collective: one part.
    pub fn new(kind: Kind) -> Self {
        Self { kind, parts: 1 }
    }

    /// How many chunk ids there are among `ranks` ranks, failed ones included; `None` if more than `u32::MAX`.
    pub fn chunk_count(&self, ranks: u32) -> Option<u32> {
        match self.kind.demand() {
            Some(demand) => Some(demand.total()),
            None if self.kind.has_volume() => ranks.checked_pow(self.kind.owners())?.checked_mul(self.parts),
            None => Some(1),
        }
    }

    /// What must be true of a chunk before and after, among `ranks` ranks. A holder named here may be a failed rank:
    /// then nobody holds, or nobody needs, the chunk. O(1), O(log N) for `all_to_allv`.
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
